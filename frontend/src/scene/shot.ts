/**
 * Where the camera stands at a stop: it follows from the layout, the steps walked and the node at work, never from the
 * phase, so that between two stops of a step no card moves.
 */
import type { Box } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { producerOf, usesOf } from "../model/graph";
import type { Graph, Node } from "../protocol/trace.gen";
import { type Camera, keepInView, type Region, SEED_ROOM_PX } from "./camera";
import { boxOf, type Still } from "./still";

/** The node at work first, with its seed; then all that it takes from and gives to: each where it is, or its group. */
function boxesAtWork({ graph, node, step }: Still, layout: Layout): readonly Box[] {
  if (graph === null || node === null) return [];
  const takesSeed = step?.contributions.some(({ edge }) => edge === "seed");
  return [node.id, ...neighbours(graph, node)].flatMap((id) => {
    const box = boxOf(graph, layout, id);
    if (box === null) return [];
    return takesSeed && id === node.id ? { ...box, width: box.width + SEED_ROOM_PX } : box;
  });
}

/** @param walked the camera of somebody who has come here step by step (`follower`) */
export function shotAt(
  still: Still,
  layout: Layout,
  region: Region,
  walked: Camera,
  readable?: number,
): Camera {
  return keepInView(layout, boxesAtWork(still, layout), region, walked, readable);
}

function neighbours(graph: Graph, node: Node): readonly string[] {
  const sources = node.inputs.flatMap((operand) => producerOf(graph, operand)?.node ?? []);
  return [...sources, ...usesOf(graph, node.id).map(({ to }) => to.node)];
}
