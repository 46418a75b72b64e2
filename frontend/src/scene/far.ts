/**
 * The graph from far away, where no card can be read: boxes and edges of one kind are one path each, in bands, so that
 * thousands of nodes are a few dozen elements and those out of sight cost nothing.
 */
import type { Box } from "../layout/geometry";
import { around, boxPath, curveBounds, pathOf } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { edgesById, nodesById } from "../model/graph";
import type { Heat } from "./heat";
import { heatLevel } from "./heat";
import type { Still } from "./still";

export interface Band {
  readonly id: string;
  /** What is drawn: `box` or `edge`, and its kind as a class. */
  readonly shape: "box" | "edge";
  readonly kind: string;
  readonly path: string;
  readonly bounds: Box;
}

const BAND_PX = 6000;

/**
 * @param heat colours boxes by their gradient's norm instead of by what the step does
 * @param part of the layout; all of it where nothing else is given
 */
export function drawFar(
  still: Still,
  layout: Layout,
  heat: Heat | null,
  part: Pick<Layout, "nodes" | "edges"> = layout,
): readonly Band[] {
  const { graph } = still;
  if (graph === null) return [];
  const bands = new Map<string, { shape: Band["shape"]; kind: string; paths: string[]; boxes: Box[] }>();
  const add = (shape: Band["shape"], kind: string, path: string, bounds: Box): void => {
    const id = `${shape} ${kind} ${Math.floor(bounds.x / BAND_PX)} ${Math.floor(bounds.y / BAND_PX)}`;
    const band = bands.get(id);
    if (band === undefined) bands.set(id, { shape, kind, paths: [path], boxes: [bounds] });
    else {
      band.paths.push(path);
      band.boxes.push(bounds);
    }
  };
  const edges = edgesById(graph);
  const active = still.node?.id;
  for (const [id, curve] of part.edges) {
    const edge = edges.get(id);
    if (edge === undefined) continue;
    if (layout.loose.has(id) && edge.to.node !== active && edge.from.node !== active) continue;
    add("edge", still.edgeOf(edge).progress, pathOf(curve), curveBounds(curve));
  }
  const nodes = nodesById(graph);
  for (const [id, box] of part.nodes) {
    const node = nodes.get(id);
    if (node === undefined) continue;
    const level = heat === null ? null : heatLevel(heat.spots.get(id), heat);
    const kind = heat === null ? still.cardOf(node).progress : level === null ? "cold" : `heat-${level}`;
    add("box", kind, boxPath(box), box);
  }
  return [...bands].map(([id, { shape, kind, paths, boxes }]) => ({
    id,
    shape,
    kind,
    path: paths.join(""),
    bounds: around(boxes),
  }));
}
