import { describe, expect, it } from "vitest";
import { type Box, boxesOverlap, type Curve, type Point } from "../layout/geometry";
import { layOut } from "../layout/graphviz";
import { drawingOf } from "../layout/sizes";
import { nextPhase, type Position, previousPhase, START, startOf } from "../model/position";
import { sampleTrace, walkFrom } from "../model/samples";
import { nodeAt, nodeTitle, passAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import { SAMPLES } from "../protocol/samples";
import { isInView, sizeToRead } from "../scene/camera";
import { dockOf } from "../scene/dock";
import { TYPE_SCALE } from "../scene/dockpicture";
import { widthOf } from "../scene/letters";
import { drawEdge } from "../scene/map";
import { groupsOpenAtFirst } from "../scene/opening";
import { drawPicture } from "../scene/picture";
import { withRepeats } from "../scene/repeats";
import type { Shape } from "../scene/shapes";
import { textOf } from "../words/say";
import { saidAt } from "../words/sentences";
import { paletteOf, THEMES } from "./palette";
import { toSvg } from "./svg";

const SIZES = [
  { width: 1280, height: 720 },
  { width: 960, height: 720 },
] as const;
const AS_IT_IS = { x: 0, y: 0, k: 1 };

type Written = { readonly text: string; readonly box: Box };

/** Every text with its box in the picture, and whether it is inside what clips it. */
function texts(shapes: readonly Shape[], at = AS_IT_IS, clip: Box | null = null): readonly Written[] {
  return shapes.flatMap((shape): readonly Written[] => {
    if (shape.kind === "group") {
      const own = shape.at ?? AS_IT_IS;
      const inner = { x: at.x + own.x * at.k, y: at.y + own.y * at.k, k: at.k * own.k };
      const seen = shape.clip === undefined ? clip : { ...shape.clip, x: inner.x, y: inner.y };
      return texts(shape.children, inner, seen);
    }
    if (shape.kind !== "text") return [];
    const runs = [shape, ...(shape.then ?? [])];
    const width = runs.reduce((sum, run) => sum + (run.gap ?? 0) + widthOf(run.text, run), 0);
    const start = shape.anchor === "middle" ? width / 2 : 0;
    const box = {
      x: at.x + (shape.at.x - start) * at.k,
      y: at.y + (shape.at.y - shape.size * 0.7) * at.k,
      width: width * at.k,
      height: shape.size * 0.7 * at.k,
    };
    if (clip !== null && !boxesOverlap(box, clip)) return [];
    return [{ text: runs.map((run) => run.text).join(" "), box }];
  });
}

function picturesOf(trace: TraceState) {
  const layouts = trace.passes.map(({ started }) => {
    const graph = withRepeats(started.graph);
    return layOut(drawingOf(graph, new Set(groupsOpenAtFirst(graph))));
  });
  const positions = [START, startOf("forward")].flatMap((start) => walkFrom(trace, start));
  return positions.flatMap((position) => {
    const layout = layouts[passAt(trace, position)?.index ?? 0];
    if (layout === undefined) return [];
    return SIZES.map((size) => {
      const draw = (progress: number): readonly Shape[] =>
        drawPicture({ trace, position, progress, layout, size, isTransparent: false });
      const shapes = draw(1);
      return { position, size, layout, draw, shapes, dock: texts(shapes.slice(2)), all: texts(shapes) };
    });
  });
}

it.each([...SAMPLES, "structures"])("writes all of the dock of %s, no word over another", (name) => {
  for (const { position, size, dock } of picturesOf(sampleTrace(name))) {
    for (const [at, { text, box }] of dock.entries()) {
      expect(isInView(box, AS_IT_IS, { ...size, top: 0 }, 1), `${position.step}: ${text}`).toBe(true);
      const inner = { x: box.x + 2, y: box.y + 2, width: box.width - 4, height: box.height - 4 };
      const over = dock.slice(at + 1).find((other) => boxesOverlap(inner, other.box));
      expect(over?.text, `${position.step}: ${text}`).toBeUndefined();
    }
  }
});

describe.each(SAMPLES)("%s", (name) => {
  const trace = sampleTrace(name);
  const pictures = picturesOf(trace);

  it("says the sentence and names the node at work, in the graph too", () => {
    for (const { position, dock, all } of pictures) {
      const words = dock.map(({ text }) => text).join(" ");
      const lists = all.filter(({ text }) => /^(v )?\[/.test(text));
      expect(Math.min(...lists.map(({ box }) => box.height / 0.7))).toBeGreaterThan(9.9);
      expect(words.replaceAll(" ", "")).toContain(textOf(saidAt(trace, position)).replaceAll(" ", ""));
      const node = nodeAt(trace, position === START ? nextPhase(trace, START) : position);
      if (node === null) continue;
      expect(words).toContain((position === START ? nodeTitle(node) : node.name).slice(0, 12));
      const drawn = all.slice(0, all.length - dock.length).map(({ text }) => text);
      expect(drawn.some((text) => text.includes(nodeTitle(node).slice(0, 3)))).toBe(true);
    }
  });

  it("says what a motion leads to when it is over, and moves nothing below for it", () => {
    for (const { position, draw, dock } of pictures) {
      const before = texts(draw(0).slice(2));
      const sentence = (at: Position): string => textOf(saidAt(trace, at));
      const isNew = sentence(previousPhase(trace, position)) !== sentence(position);
      const [first, said] = [before[0]?.text ?? "", sentence(position)];
      if (isNew && position.phase === "multiply") expect(said.startsWith(first), said).toBe(false);
      const node = nodeAt(trace, position);
      const title = (all: readonly Written[]) =>
        node && all.find(({ text }) => text.startsWith(node.name))?.box.y;
      expect(title(before)).toBe(title(dock));
    }
  });

  it("moves nothing that the dock shows at several stops of a step", () => {
    const once = (dock: readonly Written[]) =>
      dock.filter(({ text }) => dock.filter((other) => other.text === text).length === 1);
    const seen = new Map<string, Box>();
    for (const { position, size, dock } of pictures) {
      const { direction, step, phase } = position;
      for (const { text, box } of once(dock)) {
        const key = [direction, step, size.width, text].join();
        expect(seen.get(key) ?? box, `${phase}: ${text}`).toEqual(box);
        seen.set(key, box);
      }
    }
  });

  it("gives the graph the room that it has on the page of a lecture hall", () => {
    for (const { shapes, size, layout } of pictures) {
      const { side, share } = dockOf(size, TYPE_SCALE, sizeToRead(layout));
      const clip = shapes.find((shape) => shape.kind === "group")?.clip;
      expect(clip?.width).toBe(side === "below" ? size.width : Math.round(size.width * (1 - share)));
      expect(clip?.height).toBe(side === "below" ? Math.round(size.height * (1 - share)) : size.height);
    }
  });

  it("is the same list every time, and an SVG in each theme", () => {
    const { draw, size } = pictures.at(-1) as (typeof pictures)[number];
    expect(draw(0.4)).toEqual(draw(0.4));
    for (const theme of THEMES) {
      const svg = toSvg(draw(1), { size, palette: paletteOf(theme), isTransparent: false, title: "<&>" });
      expect(svg).not.toMatch(/undefined|NaN|var\(/);
      expect(svg).toContain("&lt;&amp;&gt;");
    }
  });
});

const curve: Curve = [0, 10, 20, 30].map((x): Point => ({ x, y: 0 }));
const drawn = (progress: "forward" | "carrying") => drawEdge({ progress, involved: true }, curve);

it("an edge is solid with its arrowhead at the consumer where the forward value goes, dashed with one at the producer for a gradient", () => {
  const [value, atConsumer] = drawn("forward");
  const [gradient, atProducer] = drawn("carrying");
  expect(value?.kind === "path" && value.stroke?.dash).toBeUndefined();
  expect(gradient?.kind === "path" && gradient.stroke?.dash).toBeTruthy();
  expect(atConsumer?.kind === "path" && atConsumer.d).toMatch(/^M30 0L/);
  expect(atProducer?.kind === "path" && atProducer.d).toMatch(/^M0 0L/);
});
