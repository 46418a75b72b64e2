import { expect, it } from "vitest";
import { SAMPLES, sampleTrace } from "../model/samples";
import { boxesOverlap } from "./geometry";
import { place } from "./place";
import { drawingOf } from "./sizes";
import { layOutSimply } from "./spare";

it.each(SAMPLES)("places every card without overlap and leads every edge rightwards: %s", (name) => {
  for (const { started } of sampleTrace(name).passes) {
    const { graph } = started;
    const open = new Set(graph.groups.map((group) => group.id));
    const layout = place(drawingOf(graph, open), layOutSimply, new Map());
    expect(layout.nodes.size).toBe(graph.nodes.length);
    const boxes = [...layout.nodes.values()];
    boxes.forEach((box, index) => {
      for (const other of boxes.slice(index + 1)) expect(boxesOverlap(box, other)).toBe(false);
    });
    for (const edge of graph.edges) expect(layout.edges.get(edge.id)?.length).toBeGreaterThan(3);
  }
});

it("lays out a chain of ten thousand", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
  const nodes = names.map((name) => `${name} [width=1 height=1]`);
  const edges = names.slice(1).map((name, index) => `${names[index]} -> ${name} [id=e${index}]`);
  const result = JSON.parse(layOutSimply(`digraph {\n${[...nodes, ...edges].join("\n")}\n}`));
  expect(result.objects).toHaveLength(10_000);
  expect(result.edges).toHaveLength(9_999);
});
