import { describe, expect, it } from "vitest";
import { layOut } from "../layout/graphviz";
import { drawingOf } from "../layout/sizes";
import { sampleTrace } from "../model/samples";
import { TRACES } from "../protocol/samples";
import { project } from "./camera";
import { afterToggle } from "./toggled";

const MOST_PX = 25;
const camera = { x: 0, y: 0, k: 1 };
const region = { width: 4000, height: 3000, top: 0 };
const graphs = TRACES.flatMap((name) => {
  const graph = sampleTrace(name).passes[0]?.started.graph;
  return graph === undefined || graph.groups.length === 0 ? [] : [[name, graph] as const];
});

describe.each(graphs)("%s", (_, graph) => {
  it.each(graph.groups.map((group) => group.id))("nothing before or after %s jumps when it opens", (id) => {
    const inside = new Set([id]);
    for (const group of graph.groups) if (inside.has(group.parent ?? "")) inside.add(group.id);
    const open = graph.groups.map((group) => group.id).filter((each) => !inside.has(each));
    const before = layOut(drawingOf(graph, new Set(open)));
    const after = layOut(drawingOf(graph, new Set([...open, id])));
    const to = afterToggle(camera, before, after, id, region);
    const [closed, opened] = [before.groups.get(id), after.groups.get(id)];
    if (!to || !closed || !opened) throw new Error("the group is in both");
    expect(project(opened, to).x).toBeCloseTo(closed.x);
    const low = afterToggle({ ...camera, y: -2000 }, before, after, id, { ...region, top: 40 });
    expect(low && project(opened, low).y, "its header").toBeGreaterThan(39);
    for (const [node, was] of before.nodes) {
      const is = after.nodes.get(node);
      if (is === undefined || (is.x + is.width > opened.x && is.x < opened.x + opened.width)) continue;
      expect(Math.abs(project(is, to).y - was.y), node).toBeLessThanOrEqual(MOST_PX);
    }
  });
});
