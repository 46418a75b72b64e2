import { expect, it } from "vitest";
import { layOut } from "../layout/graphviz";
import "../layout/worker";
import { drawingOf } from "../layout/sizes";
import { sampleTrace } from "../model/samples";
import { readSampleText, SAMPLES } from "../protocol/samples";
import { bake } from "./bake";
import { type Baked, isBareMath, openingsOf, packLayout, unpackLayout } from "./baked";

it.each(SAMPLES)("brings back from plain JSON the places that Graphviz gave: %s", (name) => {
  for (const { index, started } of sampleTrace(name).passes) {
    for (const open of openingsOf(started.graph)) {
      const layout = layOut(drawingOf(started.graph, new Set(open)));
      const back = unpackLayout(JSON.parse(JSON.stringify(packLayout(index, open, layout))));
      expect([...back.nodes.keys()]).toEqual([...layout.nodes.keys()]);
      for (const [id, curve] of layout.edges) {
        const other = back.edges.get(id) ?? [];
        expect(other).toHaveLength(curve.length);
        for (const [at, { x }] of curve.entries())
          expect(Math.abs(x - (other[at]?.x ?? 1e9))).toBeLessThan(0.01);
      }
      for (const [id, box] of layout.groups) expect(back.groups.get(id)?.open).toBe(box.open);
    }
  }
});

it.each(SAMPLES)("takes every formula that it baked for bare MathML: %s", async (name) => {
  const { math } = JSON.parse(await bake(readSampleText(name))) as Baked;
  expect(Object.values(math).filter((made) => !isBareMath(made))).toEqual([]);
});

it.each([
  "<img src=x onerror=alert(1)>",
  "<math><mi onclick=alert(1)>x</mi></math>",
  '<math><mi href="javascript:alert(1)">x</mi></math>',
  "<math><mtext><style>*{display:none}</style></mtext></math>",
  "<math><mtext></p><svg><script>alert(1)</script></svg></mtext></math>",
  '<math><annotation-xml encoding="text/html"><img src=x></annotation-xml></math>',
  '<math><mi style="position:fixed;inset:0;">x</mi></math>',
  '<math><mi style="padding-left:0em;background:url(//a.test)">x</mi></math>',
  '<math><mi class="tml-left" width="1">x</mi></math><!-- <math> --><i>',
  "<<mi>img src=x onerror=alert(1)>",
  '<math width="1"onclick="alert(1)">',
  "<math\nonclick=alert(1)>",
  ["<math>"],
  { replace: 1 },
  7,
])("does not take %s for bare MathML", (markup) => {
  expect(isBareMath(markup)).toBe(false);
});
