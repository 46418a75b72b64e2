import { describe, expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import { emptyTrace, foldEvents } from "../model/trace";
import { atHand, readSample, SAMPLES, TRACES } from "../protocol/samples";
import type { Graph } from "../protocol/trace.gen";
import { type Box, boxesOverlap, lengthOf, pointAt } from "./geometry";
import { layOut } from "./graphviz";
import { TOP } from "./levels";
import { type Drawing, place } from "./place";
import { cardSize, drawingOf, pictureKey } from "./sizes";
import { layOutSimply } from "./spare";

/** In the last one a call raised. */
const graphs = [...SAMPLES, ...atHand("wrong-shape")].flatMap((name) =>
  sampleTrace(name).passes.map((pass) => [`${name}, pass ${pass.index}`, pass.started.graph] as const),
);
const engines = { Graphviz: layOut, "the spare engine": (drawing: Drawing) => place(drawing, layOutSimply) };
const allOpen = (graph: Graph) => new Set(graph.groups.map((group) => group.id));

const distance = (box: Box, at: { x: number; y: number }): number =>
  Math.hypot(
    Math.max(box.x - at.x, 0, at.x - box.x - box.width),
    Math.max(box.y - at.y, 0, at.y - box.y - box.height),
  );

describe.each(graphs)("%s", (_, graph) => {
  const layout = layOut(drawingOf(graph, allOpen(graph)));

  it.each(Object.entries(engines))(
    "places every card at its size and lets none overlap: %s",
    (_, layOutBy) => {
      const layout = layOutBy(drawingOf(graph, allOpen(graph)));
      for (const edge of graph.edges) expect(layout.edges.get(edge.id)?.length).toBeGreaterThan(3);
      expect([...layout.nodes.keys()].sort()).toEqual(graph.nodes.map((node) => node.id).sort());
      const boxes = [...layout.nodes];
      for (const [index, [id, box]] of boxes.entries()) {
        const node = graph.nodes.find((each) => each.id === id);
        expect(box).toMatchObject((node && cardSize(node, graph)) ?? {});
        expect(boxes.slice(index + 1).filter(([, other]) => boxesOverlap(box, other))).toEqual([]);
      }
    },
  );

  it("leads every edge from its producer to its consumer", () => {
    for (const edge of graph.edges) {
      const curve = layout.edges.get(edge.id);
      const from = layout.nodes.get(edge.from.node);
      const to = layout.nodes.get(edge.to.node);
      if (curve === undefined || from === undefined || to === undefined) throw new Error(edge.id);
      const [start, end] = [pointAt(curve, 0), pointAt(curve, 1)];
      expect(start && distance(from, start)).toBeLessThan(4);
      expect(end && distance(to, end)).toBeLessThan(4);
      expect(lengthOf(curve)).toBeGreaterThan(0);
    }
  });

  it("hides what a closed group holds and keeps the edges that cross its border", () => {
    const closed = layOut(drawingOf(graph, new Set()));
    const top = graph.nodes.filter((node) => node.group === null).map((node) => node.id);
    expect([...closed.nodes.keys()].sort()).toEqual(top.sort());
    for (const curve of closed.edges.values()) expect(curve.length % 3).toBe(1);
  });

  it("keeps cards inside the frames of their groups", () => {
    for (const node of graph.nodes) {
      const frame = node.group === null ? undefined : layout.groups.get(node.group);
      const box = layout.nodes.get(node.id);
      if (frame === undefined || box === undefined) continue;
      expect(box.x).toBeGreaterThanOrEqual(frame.x);
      expect(box.y).toBeGreaterThanOrEqual(frame.y);
      expect(box.x + box.width).toBeLessThanOrEqual(frame.x + frame.width);
      expect(box.y + box.height).toBeLessThanOrEqual(frame.y + frame.height);
    }
  });
});

it("lays out a chain of ten thousand without Graphviz", () => {
  const items = Array.from({ length: 10_000 }, (_, k) => ({ id: `n${k}`, home: TOP, width: 72, height: 72 }));
  const lines = items.slice(1).map(({ id }, k) => ({ id: `e${k}`, tail: `n${k}`, head: id }));
  expect(layOutSimply({ items, lines, arriving: [], leaving: [] }).curves).toHaveLength(9_999);
});

it.each(TRACES)("%s looks the same before its values have come", (name) => {
  const { events } = readSample(name);
  const keys = [events, events.filter(({ type }) => type !== "forward" && type !== "explained")].map((some) =>
    foldEvents(emptyTrace(), some).passes.map(({ started }) => pictureKey(started.graph)),
  );
  expect(keys[1]).toEqual(keys[0]);
});
