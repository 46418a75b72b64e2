import { expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import { SAMPLES } from "../protocol/samples";
import { boxesOverlap } from "./geometry";
import { TOP } from "./levels";
import { place } from "./place";
import { drawingOf } from "./sizes";
import { layOutSimply } from "./spare";

it.each(SAMPLES)("places every card without overlap and leads every edge rightwards: %s", (name) => {
  for (const { started } of sampleTrace(name).passes) {
    const { graph } = started;
    const open = new Set(graph.groups.map((group) => group.id));
    const layout = place(drawingOf(graph, open), layOutSimply);
    expect(layout.nodes.size).toBe(graph.nodes.length);
    const boxes = [...layout.nodes.values()];
    boxes.forEach((box, index) => {
      for (const other of boxes.slice(index + 1)) expect(boxesOverlap(box, other)).toBe(false);
    });
    for (const edge of graph.edges) expect(layout.edges.get(edge.id)?.length).toBeGreaterThan(3);
  }
});

it("lays out a chain of ten thousand", () => {
  const items = Array.from({ length: 10_000 }, (_, k) => ({ id: `n${k}`, home: TOP, width: 72, height: 72 }));
  const lines = items.slice(1).map(({ id }, k) => ({ id: `e${k}`, tail: `n${k}`, head: id }));
  const places = layOutSimply({ items, lines, arriving: [], leaving: [] });
  expect(places.middles.size).toBe(10_000);
  expect(places.curves).toHaveLength(9_999);
});
