import { describe, expect, it } from "vitest";
import type { Size } from "../layout/geometry";
import { layOut } from "../layout/graphviz";
import { drawingOf } from "../layout/sizes";
import { formatPosition, START, stepCount, stopsOfStep } from "../model/position";
import { sampleTrace, walkFrom } from "../model/samples";
import { walkAt } from "../model/selectors";
import { TRACES } from "../protocol/samples";
import {
  type Camera,
  detailAt,
  follower,
  groundOf,
  isInView,
  lettersAt,
  project,
  sizeToRead,
  whole,
  widestToTell,
} from "./camera";
import { dockOf, tieOf } from "./dock";
import { groupsOpenAtFirst, groupsOpenWithin } from "./opening";
import { shotAt } from "./shot";
import { boxOf, drawStill } from "./still";
import { drawTokens } from "./tokens";

/** The stage beside a code column of 420 px, in windows of 1280, 1920 and 1600 px; on a phone the camera follows. */
const STAGES = [
  { width: 857, height: 704 },
  { width: 1417, height: 984 },
  { width: 390, height: 640 },
  { width: 1180, height: 804 },
];

function mapOf(stage: Size, needed?: Size) {
  const { side, share } = dockOf(stage, 1, needed);
  return side === "below"
    ? { width: stage.width, height: stage.height * (1 - share) }
    : { width: stage.width * (1 - share), height: stage.height };
}

function regionOf(stage: Size, needed?: Size) {
  const { width, height } = mapOf(stage, needed);
  return { width, height: height - 22, top: 40 };
}

it.each([
  ["below", [1020, 804], [0, 0]],
  ["beside", [1180, 804], [0, 0]],
  ["below", [390, 640], [0, 0]],
  ["below", [1417, 984], [800, 100]],
  ["beside", [1417, 984], [500, 100]],
  ["beside", [1417, 984], [2000, 100]],
  ["below", [1020, 804], [350, 300]],
  ["beside", [1020, 804], [350, 400]],
  ["below", [1020, 804], [450, 400]],
] as const)(
  "the dock stands %s, on a stage of %j, of a graph that can be read in %j",
  (side, stage, needed) => {
    const [of, at] = [stage, needed].map(([width, height]) => ({ width, height }));
    expect(of && dockOf(of, 1, at).side).toBe(side);
  },
);

describe.each(TRACES)("the first picture of %s", (name) => {
  it.each(STAGES.filter(({ width }) => width > 800))("can be read whole, at $width", (stage) => {
    const { graph } = drawStill(sampleTrace(name), START);
    if (graph === null) return;
    const layout = layOut(drawingOf(graph, new Set(groupsOpenAtFirst(graph))));
    const region = regionOf(stage, sizeToRead(layout));
    expect(["full", "brief"]).toContain(detailAt(whole(layout, region).k));
  });
});

it("closes groups at first where their cards could tell nothing", () => {
  const { graph } = drawStill(sampleTrace("mlp-step"), START);
  if (graph === null) throw new Error("no graph");
  const picture = (open: readonly string[]) => layOut(drawingOf(graph, new Set(open)));
  const phone = { width: 390, height: 266, top: 40 };
  const told = (open: readonly string[]) => detailAt(whole(picture(open), phone).k);
  expect(["titles", "far"]).toContain(told(groupsOpenAtFirst(graph)));
  expect(["full", "brief"]).toContain(told(groupsOpenWithin(graph, widestToTell(phone.width))));
  expect(groupsOpenWithin(graph, widestToTell(1417))).toEqual(groupsOpenAtFirst(graph));
});

it("keeps in view what has arrived, where there is room beside an edge for it", () => {
  const trace = sampleTrace("attention");
  const region = { width: 860, height: 250, top: 40 };
  for (const position of walkFrom(trace, START)) {
    const still = drawStill(trace, position);
    if (still.graph === null) continue;
    const layout = layOut(drawingOf(still.graph, new Set(groupsOpenAtFirst(still.graph))));
    const walked = whole(layout, region);
    const camera = shotAt(still, layout, region, walked);
    const scale = lettersAt(camera.k) / 13;
    for (const { at, size, kind } of drawTokens(still, layout, 1, scale, groundOf(region, camera))) {
      const [width, height] = [size.width * scale, size.height * scale];
      const box = { x: at.x - width / 2, y: at.y - height / 2, width, height };
      expect(isInView(box, camera, region, 0), `${kind} at ${formatPosition(position)}`).toBe(true);
    }
  }
});

describe.each(TRACES)("the pictures of %s", (name) => {
  const trace = sampleTrace(name);
  const places = Array.from({ length: stepCount(trace, "backward") }, (_, at) => at + 1);

  it.each(STAGES)("stand still at all stops of a step, with its node in view, at $width", (stage) => {
    const region = regionOf(stage);
    const layouts = new Map<number, ReturnType<typeof layOut>>();
    const seen = new Map<number, Camera>();
    for (const step of places) {
      for (const phase of stopsOfStep(trace, "backward", step)) {
        const position = { direction: "backward", step, phase } as const;
        const still = drawStill(trace, position);
        const { graph, node, pass } = still;
        if (graph === null || node === null || pass === null) continue;
        const layout = layouts.get(pass.index) ?? layOut(drawingOf(graph, new Set(groupsOpenAtFirst(graph))));
        layouts.set(pass.index, layout);
        const walk = walkAt(trace, position);
        const boxAt = (index: number) => boxOf(graph, layout, walk.nodes[index] ?? "");
        const camera = shotAt(still, layout, region, follower(layout, boxAt, region)(walk.walked));
        const box = boxOf(graph, layout, node.id);
        expect(box && isInView(box, camera, region, 6), formatPosition(position)).toBe(true);
        const seed = drawTokens(still, layout, 1).find(({ kind }) => kind === "seed")?.at.x ?? 0;
        expect(seed * camera.k + camera.x, formatPosition(position)).toBeLessThan(region.width);
        expect(camera, formatPosition(position)).toEqual(seen.get(step) ?? camera);
        seen.set(step, camera);
        if (box === null) continue;
        const [{ side }, map] = [dockOf(stage), mapOf(stage)];
        const tie = tieOf(side, box, layout, camera, region, map);
        const [card, [start], end] = [project(box, camera), tie, tie.at(-1) ?? tie[0]];
        expect(start.y).toBeCloseTo(card.y + card.height);
        expect(start.x > card.x && start.x < card.x + card.width).toBe(true);
        const [reached, edge] =
          side === "below" ? [end.y + end.height, map.height] : [end.x + end.width, map.width];
        expect(reached, formatPosition(position)).toBeCloseTo(edge);
      }
    }
  });
});
