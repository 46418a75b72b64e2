import { expect, it } from "vitest";
import { layOut } from "../layout/graphviz";
import "../layout/worker";
import { drawingOf } from "../layout/sizes";
import { sampleTrace } from "../model/samples";
import { readSampleText, SAMPLES } from "../protocol/samples";
import { bake } from "./bake";
import { type Baked, openingsOf, packLayout, unpackLayout } from "./baked";

it.each(SAMPLES)("brings back from plain JSON the places that Graphviz gave: %s", (name) => {
  for (const { index, started } of sampleTrace(name).passes) {
    for (const open of openingsOf(started.graph)) {
      const layout = layOut(drawingOf(started.graph, new Set(open)));
      const back = unpackLayout(JSON.parse(JSON.stringify(packLayout(index, open, layout))));
      expect([...back.nodes.keys()]).toEqual([...layout.nodes.keys()]);
      for (const [id, curve] of layout.edges) {
        const other = back.edges.get(id) ?? [];
        expect(other).toHaveLength(curve.length);
        curve.forEach((point, at) => {
          expect(Math.abs(point.x - (other[at]?.x ?? Number.NaN))).toBeLessThan(0.01);
        });
      }
      for (const [id, box] of layout.groups) expect(back.groups.get(id)?.open).toBe(box.open);
    }
  }
});

it("bakes the same bytes every time, with every formula that parses", async () => {
  const text = readSampleText("mlp-step");
  const first = await bake(text);
  expect(await bake(text)).toBe(first);
  const { math, layouts } = JSON.parse(first) as Baked;
  expect(Object.values(math)).not.toContain(null);
  expect(layouts[0]?.open).toEqual(["g0", "g1", "g2", "g3"]);
});
