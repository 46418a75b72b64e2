import { describe, expect, it } from "vitest";
import { layOut } from "../layout/graphviz";
import { drawingOf } from "../layout/sizes";
import { graphOf } from "../model/drawn";
import { groupsRound } from "../model/graph";
import type { Graph } from "../protocol/trace.gen";
import { groupsOpenAtFirst } from "./opening";
import { repeatsOf, withRepeats } from "./repeats";
import { boxOf } from "./still";

const BLOCKS = 12;

/**
 * x -> sin -> 12 blocks (mul by a weight of its own, then tanh) -> sum. The weights stand beside the blocks. The
 * block numbered `odd` uses exp in place of tanh.
 */
function chain(odd: number | null = null): Graph {
  const blocks = Array.from({ length: BLOCKS }, (_, i) => [
    `m${i}=Mul@g${i}: ${i === 0 ? "s" : `t${i - 1}`} w${i}`,
    `t${i}=${i === odd ? "Exp" : "Tanh"}@g${i}: m${i}`,
  ]);
  return graphOf(["s=Sin: x", ...blocks.flat(), `z=Sum: t${BLOCKS - 1}`].join("\n"));
}

describe("a block that is repeated", () => {
  const graph = chain();
  const folded = withRepeats(graph);
  const fold = folded.groups.find((group) => repeatsOf(group) !== null);

  it("becomes one group with its count, and takes the leaves along that are only its own", () => {
    const counts = folded.groups.flatMap((group) => repeatsOf(group) ?? []);
    expect([fold?.label, ...counts]).toEqual(["g0", BLOCKS]);
    expect(new Set(fold?.nodes)).toEqual(new Set(Array.from({ length: BLOCKS }, (_, i) => `w${i}`)));
    expect(groupsRound(folded, "m7")).toEqual(["g7", fold?.id]);
    expect(groupsRound(folded, "x")).toEqual([]);
  });

  it("is a single box at first, with every node of it standing behind that box", () => {
    const layout = layOut(drawingOf(folded, new Set()));
    expect([...layout.nodes.keys()].sort()).toEqual(["s", "x", "z"]);
    expect([...layout.groups.keys()]).toEqual([fold?.id]);
    expect(boxOf(folded, layout, "m7")).toBe(layout.groups.get(fold?.id ?? ""));
    expect([...layout.edges.keys()].sort()).toEqual(["m00", "s0", "z0"]);
    expect(groupsOpenAtFirst(folded)).not.toContain(fold?.id);
  });
});

it("folds no run across a block of another structure", () => {
  const counts = withRepeats(chain(6)).groups.flatMap((group) => repeatsOf(group) ?? []);
  expect(counts).toEqual([6, 5]);
});

it("leaves a small graph as it is", () => {
  const graph = chain();
  const small = { ...graph, nodes: graph.nodes.slice(0, 15) };
  expect(withRepeats(small)).toBe(small);
});
