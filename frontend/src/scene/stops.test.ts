/** Each stop is worth a key: the picture changes and something is said. Every old link opens one. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layOut } from "../layout/graphviz";
import type { Layout } from "../layout/place";
import { drawingOf } from "../layout/sizes";
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
import { randomTraces } from "../model/random";
import { sampleTrace, walkFrom } from "../model/samples";
import { passAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import { TRACES } from "../protocol/samples";
import { sentenceAt } from "../words/sentences";
import { drawCallout } from "./equation";
import { drawGroups, drawStill } from "./still";
import { drawTokens } from "./tokens";

const WALKS = [START, startOf("forward")];

/** What one sees on the stage at a stop, as text; of an equation, which of its parts are revealed. */
function pictures(trace: TraceState): (position: Position) => string {
  const layouts = new Map<number, Layout>();
  return (position) => {
    const pass = passAt(trace, position);
    if (pass === null) return "";
    const { graph, pass: index } = pass.started;
    const layout = layouts.get(index) ?? layOut(drawingOf(graph, new Set(graph.groups.map(({ id }) => id))));
    layouts.set(index, layout);
    const still = drawStill(trace, position);
    const cards = graph.nodes.map(still.cardOf);
    const edges = graph.edges.map(still.edgeOf);
    const groups = drawGroups(still, layout);
    const callout = drawCallout(trace, still);
    const seen = drawTokens(still, layout, 1)
      .filter(({ opacity }) => opacity > 0)
      .map(({ at, label, value }) => ({ at, label, value }));
    const { rule, product, landed } = callout?.shown ?? {};
    const revealed = { vjp: { rule, product }, accumulate: { rule, landed }, forward: { product, landed } };
    const equation = callout === null ? null : [callout.title, revealed[callout.kind]];
    return JSON.stringify({ cards, edges, groups, seen, equation });
  };
}

/** The stops at which nothing is new on the stage, or nothing is said. */
function idle(trace: TraceState): readonly string[] {
  const pictureAt = pictures(trace);
  return WALKS.flatMap((start) => {
    const places = walkFrom(trace, start);
    const seen = places.map(pictureAt);
    return places
      .filter((place, at) => seen[at] === seen[at - 1] || sentenceAt(trace, place) === "")
      .map(formatPosition);
  });
}

describe.each(TRACES)("the stops of %s", (name) => {
  const trace = sampleTrace(name);

  it("each change the picture and say a sentence", () => {
    expect(idle(trace)).toEqual([]);
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
          const between = stops.filter(
            (stop) => PLACES[stop] > PLACES[opened.phase] && PLACES[stop] <= PLACES[phase],
          );
          expect(between, link).toEqual([]);
        }
      }
    }
  });
});

it("each change the picture and say a sentence, in random graphs", () => {
  fc.assert(
    fc.property(randomTraces, (trace) => idle(trace).length === 0),
    { numRuns: 60 },
  );
});
