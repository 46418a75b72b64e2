import { expect, it } from "vitest";
import type { BackwardPhase } from "../model/phases";
import { formatPosition } from "../model/position";
import { sampleTrace } from "../model/samples";
import { edgeOf, moved, parseRange, stopsOf, within } from "./moves";

const trace = sampleTrace("mlp-step");
const at = (step: number, phase: BackwardPhase = "collect") =>
  ({ direction: "backward", step, phase }) as const;

it("walks a range from end to end and no further", () => {
  const range = parseRange("2-3.2");
  const stops = stopsOf(trace, range);
  expect(stops.map(formatPosition)).toEqual(["2.2", "2.3", "2.4", "2.5", "3.5"]);
  expect(moved(trace, at(3, "land"), "nextStep", range)).toEqual(at(3, "land"));
  expect(within(at(9), range)).toEqual(at(3, "rule"));
});

it("has an edge only where a move finds nothing more", () => {
  const last = stopsOf(trace, null).at(-1) ?? at(0);
  expect(edgeOf(trace, last, "nextPhase", null)).toBe("end");
  expect(edgeOf(trace, last, "previousPhase", null)).toBeNull();
  expect(edgeOf(trace, at(0), "previousPhase", null)).toBe("start");
  expect(edgeOf(trace, at(0), "first", null)).toBeNull();
  expect(edgeOf({ ...trace, finished: null }, last, "nextPhase", null)).toBeNull();
  expect(edgeOf(trace, at(2, "land"), "nextPhase", parseRange("1-2"))).toBe("end");
});

it.each(["", "3", "9-3", "a-b", "1-2-3", "f1-f2", "1.9-2"])("reads no range from %j", (text) => {
  expect(parseRange(text)).toBeNull();
});
