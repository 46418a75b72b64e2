import { expect, it } from "vitest";
import type { BackwardPhase } from "../model/phases";
import { sampleTrace } from "../model/samples";
import { edgeOf, parseRange, stopsOf } from "./moves";

const trace = sampleTrace("mlp-step");
const at = (step: number, phase: BackwardPhase = "collect") =>
  ({ direction: "backward", step, phase }) as const;

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
