/** Real traces and random graphs, drawn at every stop. Each stop is worth a key, and every old link opens one. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boxesOverlap, pointAt } from "../layout/geometry";
import { layOut } from "../layout/graphviz";
import type { Layout } from "../layout/place";
import { drawingOf } from "../layout/sizes";
import { closedGroups, resultOf } from "../model/calls";
import { isTensor } from "../model/gradients";
import { knownInMotion } from "../model/mask";
import { PHASES, PLACES } from "../model/phases";
import {
  clampPosition,
  formatPosition,
  type Position,
  parsePosition,
  START,
  startOf,
  stepCount,
  stopsOfStep,
} from "../model/position";
import { comingIn, queueAt } from "../model/queue";
import { randomTraces } from "../model/random";
import { sampleTrace, walkFrom } from "../model/samples";
import { passAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import { SAMPLES, TRACES } from "../protocol/samples";
import { sentenceAt } from "../words/sentences";
import { drawCallout } from "./equation";
import { drawGroups, drawStill } from "./still";
import { drawTokens } from "./tokens";

const WALKS = [START, startOf("forward")];

const everyPosition = (trace: TraceState): readonly Position[] =>
  WALKS.flatMap((start) => walkFrom(trace, start));

/** All that is drawn at a position, in the motion that leads into it. */
function drawScene(trace: TraceState, layout: Layout, position: Position, progress: number) {
  const still = drawStill(trace, position);
  const { cardOf, edgeOf, ...rest } = still;
  return {
    ...rest,
    cards: still.graph?.nodes.map(cardOf) ?? [],
    edges: still.graph?.edges.map(edgeOf) ?? [],
    groups: drawGroups(still, layout),
    tokens: drawTokens(still, layout, progress),
    callout: drawCallout(trace, still.position),
  };
}

function layouts(trace: TraceState): (position: Position) => Layout {
  const made = trace.passes.map(({ started: { graph } }) =>
    layOut(drawingOf(graph, new Set(graph.groups.map((group) => group.id)))),
  );
  return (position) => {
    const layout = made[passAt(trace, position)?.index ?? 0];
    if (layout === undefined) throw new Error("no layout");
    return layout;
  };
}

/** What one sees on the stage at a stop, as text; of an equation, which of its parts are revealed. */
function seenIn({ cards, edges, groups, tokens, callout }: ReturnType<typeof drawScene>): string {
  const seen = tokens.flatMap(({ opacity, at, label, value }) => (opacity > 0 ? [{ at, label, value }] : []));
  const { rule, product, landed } = callout?.shown ?? {};
  const revealed = { vjp: { rule, product }, accumulate: { rule, landed }, forward: { product, landed } };
  const equation = callout === null ? null : [callout.title, revealed[callout.kind]];
  return JSON.stringify({ cards, edges, groups, seen, equation });
}

/** The stops at which nothing is new on the stage, or nothing is said. */
function idle(trace: TraceState): readonly string[] {
  const layoutOf = layouts(trace);
  return WALKS.flatMap((start) => {
    const places = walkFrom(trace, start);
    const seen = places.map((position) => seenIn(drawScene(trace, layoutOf(position), position, 1)));
    return places
      .filter((place, at) => seen[at] === seen[at - 1] || sentenceAt(trace, place) === "")
      .map(formatPosition);
  });
}

const WITH_GROUPS = TRACES.filter((name) =>
  sampleTrace(name).passes.some(({ started: { graph } }) => graph.groups.length > 0),
);

it.each(WITH_GROUPS.flatMap((name) => [[name, "calls"] as const, [name, "groups"] as const]))(
  "names in the queue and in the order of %s what is drawn with closed %s, each once",
  (name, kind) => {
    const trace = sampleTrace(name);
    for (const position of walkFrom(trace, START)) {
      const pass = passAt(trace, position);
      if (pass === null) continue;
      const { graph } = pass.started;
      const open = new Set(
        graph.groups
          .filter((group) => kind === "calls" && resultOf(group, graph) === null)
          .map(({ id }) => id),
      );
      const layout = layOut(drawingOf(graph, open));
      const still = drawStill(trace, position);
      const closed = closedGroups(graph, (group) => open.has(group));
      const standing = new Set(pass.steps.map(({ node }) => closed.get(node)?.id ?? node));
      const cards = graph.nodes.filter(({ id }) => layout.nodes.has(id)).map(still.cardOf);
      const boxes = drawGroups(still, layout).filter((group) => !group.open);
      const drawn = [
        ...cards.map(({ node: { id }, title }) => ({ id, title })),
        ...boxes.map(({ id, label: title }) => ({ id, title })),
      ];
      const titles = drawn.flatMap(({ id, title }) => (standing.has(id) ? title : [])).sort();
      const { now, ready, waiting } = queueAt(trace, pass, position, closed);
      const left = [...titles];
      for (const { title } of [now ?? [], ready, waiting].flat()) {
        expect(left, formatPosition(position)).toContain(title);
        left.splice(left.indexOf(title), 1);
      }
      if (position.step > 0) continue;
      const coming = comingIn(trace, pass, closed);
      expect(coming.map(({ title }) => title).sort()).toEqual(titles);
      expect(coming.reduce((sum, { nodeCount }) => sum + nodeCount, 0)).toBe(
        pass.steps.filter(({ node }) => graph.nodes.some(({ id }) => id === node)).length,
      );
    }
  },
);

describe.each(SAMPLES)("%s", (name) => {
  const trace = sampleTrace(name);
  const layoutOf = layouts(trace);
  const positions = everyPosition(trace);

  it("is the same picture whichever way one came", () => {
    const draw = (at: Position) => drawScene(trace, layoutOf(at), at, 1);
    const [there, back] = [positions.map(draw), [...positions].reverse().map(draw)];
    expect(back.reverse()).toEqual(there);
  });

  it("moves nothing in a still", () => {
    for (const position of positions)
      expect(drawScene(trace, layoutOf(position), position, 1).tokens.filter(({ moving }) => moving)).toEqual(
        [],
      );
  });

  it("brings what a step returns in a motion", () => {
    const callouts = positions.map((at) => drawCallout(trace, at));
    for (const [at, now] of callouts.entries())
      if (now?.kind === "vjp" && now.shown.product && !callouts[at - 1]?.shown.product)
        expect(now.shown.entering, formatPosition(positions[at] ?? START)).toBe(true);
  });

  it("sends from the node that returned a gradient, goes on where it was, and lands at the one that receives it", () => {
    for (const position of positions.filter(({ phase }) => phase === "send")) {
      const layout = layoutOf(position);
      const landing = { direction: "backward", step: position.step, phase: "land" } as const;
      const sceneAt = (at: Position, progress: number) => drawScene(trace, layout, at, progress);
      const [start, end] = [sceneAt(position, 0), sceneAt(landing, 1)];
      const placesOf = ({ tokens }: typeof start) => tokens.map(({ id, at }) => ({ id, at }));
      expect(placesOf(sceneAt(landing, 0))).toEqual(placesOf(sceneAt(position, 1)));
      for (const operand of start.node?.inputs ?? []) {
        const curve = operand.edge === undefined ? undefined : layout.edges.get(operand.edge);
        if (curve === undefined || !isTensor(start.step?.grad_inputs[operand.argnum])) continue;
        const tokenAt = ({ tokens }: typeof start) =>
          tokens.find(({ id }) => id === `out-${operand.argnum}`)?.at;
        expect(tokenAt(start)).toEqual(pointAt(curve, 1));
        const [landed, is] = [pointAt(curve, 0), tokenAt(end)];
        expect(Math.hypot((is?.x ?? 0) - (landed?.x ?? 9), (is?.y ?? 0) - (landed?.y ?? 9))).toBeLessThan(
          0.07,
        );
      }
    }
  });

  it("names every card", () => {
    for (const position of positions) {
      const scene = drawScene(trace, layoutOf(position), position, 1);
      expect(new Set(scene.cards.map((card) => card.node.id)).size).toBe(scene.cards.length);
      for (const card of scene.cards)
        expect(card.name).toMatch(/^[\w:]+, (step \d+ of \d+|not executed|no step yet)$/);
    }
  });
});

describe.each(TRACES)("the stops of %s", (name) => {
  const trace = sampleTrace(name);

  it("each change the picture and say a sentence", () => {
    expect(idle(trace)).toEqual([]);
  });

  it("rest every token where it covers no card and no other token", () => {
    const layoutOf = layouts(trace);
    for (const position of everyPosition(trace)) {
      const layout = layoutOf(position);
      const cards = [...layout.nodes.values()];
      const boxes = drawScene(trace, layout, position, 1).tokens.flatMap(({ at, size, opacity }) =>
        opacity === 0 ? [] : [{ x: at.x - size.width / 2, y: at.y - size.height / 2, ...size }],
      );
      const covered = boxes.filter((box, index) =>
        [...cards, ...boxes.slice(index + 1)].some((other) => boxesOverlap(box, other)),
      );
      expect(covered, formatPosition(position)).toEqual([]);
    }
  });

  it("are where old links of five phases, or of three, open: at the nearest before", () => {
    for (const { direction } of WALKS) {
      for (let step = 1; step <= stepCount(trace, direction); step += 1) {
        const stops = stopsOfStep(trace, direction, step);
        for (const phase of PHASES[direction]) {
          const link = `${direction === "forward" ? "f" : ""}${step}.${PLACES[phase]}`;
          const opened = clampPosition(trace, parsePosition(link) ?? START);
          expect(opened).toMatchObject({ direction, step });
          expect(stops, link).toContain(opened.phase);
          const [from, to] = [PLACES[opened.phase], PLACES[phase]];
          expect(
            stops.filter((stop) => PLACES[stop] > from && PLACES[stop] <= to),
            link,
          ).toEqual([]);
        }
      }
    }
  });
});

it("the stops of random graphs each change the picture and say a sentence", () => {
  fc.assert(
    fc.property(randomTraces, (trace) => idle(trace).length === 0),
    { numRuns: 60 },
  );
});

it.each(TRACES)(
  "what waits in %s says how many gradients steps have sent, and shows the last of them",
  (name) => {
    const trace = sampleTrace(name);
    for (const position of walkFrom(trace, START)) {
      const { pass, graph, cardOf } = drawStill(trace, position);
      if (pass === null || graph === null) continue;
      const steps = trace.steps.map((step) => (step.pass === pass.index ? step : null));
      const walked = steps.slice(0, position.step);
      const landed = position.phase === "land" ? walked : walked.slice(0, -1);
      for (const node of graph.nodes) {
        const uses = graph.edges.filter(({ from }) => from.node === node.id);
        const seeds = pass.started.outputs.flatMap((output) => (output.node === node.id ? output.seed : []));
        const sent = landed.flatMap((step) =>
          uses.flatMap(({ to }) => (to.node === step?.node ? (step.grad_inputs[to.argnum] ?? []) : [])),
        );
        const arrived = [...(position.step > 0 ? seeds : []), ...sent.filter(isTensor)];
        const expected = uses.length + seeds.length;
        const isDone = walked.some((step) => step?.node === node.id);
        const card = cardOf(node);
        const waits = !isDone && arrived.length > 0 && expected > 1;
        expect(card.waiting, `${node.id} at ${formatPosition(position)}`).toEqual(
          waits ? { arrived: arrived.length, expected } : null,
        );
        if (!isDone && arrived.length > 0) expect(arrived).toContain(card.gradient);
        if (!isDone && arrived.length === 0) expect(card.gradient).toEqual({ missing: "not_computed" });
      }
    }
  },
);

it("shows both contributions of x times x until they have met in their sum", () => {
  const trace = sampleTrace("x-times-x");
  const collect = { direction: "backward", step: 2, phase: "collect" } as const;
  const layout = layouts(trace)(collect);
  const known = knownInMotion(trace, collect);
  const tokensAt = (progress: number) =>
    drawScene(progress < 1 ? known : trace, layout, collect, progress).tokens;
  const [sum] = tokensAt(1);
  expect(tokensAt(1).map((token) => token.label)).toEqual(["6"]);
  const { x, y } = sum?.at ?? { x: 0, y: 0 };
  const farthest = (progress: number): number =>
    Math.max(...tokensAt(progress).map(({ at }) => Math.hypot(at.x - x, at.y - y)));
  for (const progress of [0, 0.1, 0.5, 0.99])
    expect(tokensAt(progress).map((token) => token.label)).toEqual(["3", "3"]);
  expect(farthest(0.1)).toBeGreaterThan(farthest(0.5));
  expect(farthest(0.99)).toBeLessThan(4);
  const leaf = drawScene(known, layout, collect, 0.1).cards.find(({ role }) => role === "leaf");
  expect(leaf?.gradient).not.toMatchObject({ data: [6] });
  expect([known, trace].map((each) => sentenceAt(each, collect).includes("6"))).toEqual([false, true]);
});
