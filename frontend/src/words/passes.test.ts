import { expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import type { PassState, TraceState } from "../model/trace";
import { worthKnowing } from "./findings";
import { markedUp } from "./say";
import { tellSentence } from "./tell";

function withPass(change: (pass: PassState) => PassState): TraceState {
  const trace = sampleTrace("x-times-x");
  return { ...trace, passes: trace.passes.map(change) };
}

it("says how many examples vmap runs at once, and which results are zeros of nothing", () => {
  const trace = withPass((pass) => ({
    ...pass,
    started: { ...pass.started, examples: [3, 2], inputs: [{ node: null, output_nr: 0, name: "idle" }] },
    finished: pass.finished === null ? null : { ...pass.finished, materialized: [0] },
  }));
  expect(worthKnowing(trace).map(({ said }) => markedUp(said))).toEqual([
    "`vmap` runs 3 × 2 examples at once: each has its own `v`, its own local Jacobians and its own result.",
    "Nothing arrived at `idle`: `materialize_grads=True` made zeros of that.",
  ]);
  expect(worthKnowing(sampleTrace("x-times-x"))).toEqual([]);
});

it("notes what was seen of a pass at its first step", () => {
  const fact = { kind: "note-input", operands: { name: "a" } } as const;
  const trace = withPass((pass) => ({ ...pass, started: { ...pass.started, notes: [fact] } }));
  expect(worthKnowing(trace)).toMatchObject([{ said: tellSentence(fact), step: 1 }]);
});
