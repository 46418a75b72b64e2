import { expect, it } from "vitest";
import { isTensor } from "../model/gradients";
import { toNumber } from "../model/numbers";
import { sampleTrace } from "../model/samples";
import { executions } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import { TRACES } from "../protocol/samples";
import type { TensorValue } from "../protocol/trace.gen";
import { drawNudge, indexText, judge, pushForward, slot } from "./nudge";

const entries = (value: TensorValue): number[] => (value.data ?? []).map(toNumber);

/** v times what ran forward from a change of 1 in every entry of every leaf, and what the engine's gradients say. */
function bothWays(trace: TraceState, pass: PassState): { leaf: string; forward: number; backward: number }[] {
  const steps = executions(trace, pass);
  return pass.started.graph.nodes.flatMap((node) => {
    const value = node.kind === "accumulate_grad" ? node.outputs[0]?.value : null;
    const gradient = steps.get(node.id)?.step.grad_outputs[0];
    if (value?.data === undefined || !isTensor(gradient) || gradient.data?.length !== value.data.length)
      return [];
    return entries(gradient).flatMap((backward, at) => {
      const moved = new Map([[node.id, value.data?.map((_, other) => (other === at ? 1 : 0)) ?? []]]);
      const tangents = pushForward(trace, pass, moved);
      let forward = 0;
      for (const output of pass.started.outputs) {
        const tangent = tangents.get(slot(output.node, output.output_nr));
        if (tangent == null || !isTensor(output.seed) || output.seed.data?.length !== tangent.length)
          return [];
        const seed = entries(output.seed);
        forward += tangent.reduce((sum, entry, place) => sum + entry * (seed[place] ?? 0), 0);
      }
      return [{ leaf: `${node.leaf}[${at}]`, forward, backward }];
    });
  });
}

/** Their backward does something else than their forward's derivative on purpose. */
const WRONG_ON_PURPOSE = ["gradcheck", "returned-jacobian", "wrong-shape"];

it("J times a change, run forward over the examples, meets the engine's gradient", () => {
  const compared = TRACES.filter((name) => !WRONG_ON_PURPOSE.includes(name)).flatMap((name) => {
    const trace = sampleTrace(name);
    const passes = trace.passes.filter(({ started }) => started.batch === undefined);
    return passes.flatMap((pass) => bothWays(trace, pass)).map((each) => ({ ...each, name }));
  });
  for (const { name, leaf, forward, backward } of compared)
    expect(Math.abs(forward - backward), `${name} ${leaf}`).toBeLessThan(1e-5 + 1e-4 * Math.abs(backward));
  expect(new Set(compared.map(({ name }) => name)).size).toBeGreaterThan(5);
  expect(compared.length).toBeGreaterThan(40);
});

it("a nudge of nothing changes nothing, and that is its prediction", () => {
  for (const name of TRACES) {
    const trace = sampleTrace(name);
    const nudge = drawNudge(trace, trace, 0);
    if (trace.passes.length === 0) continue;
    expect(nudge?.edges).toEqual([]);
    expect(nudge?.tensors.flatMap(({ change }) => change ?? []).every((entry) => entry === 0)).toBe(true);
  }
});

const nothing = { name: "y", isBare: true, real: 0, predicted: 0, terms: [], rounding: 1e-12 };

it.each([
  ["a straight line", (x: number) => 3 * x, 2, 3, "none"],
  ["a square", (x: number) => x * x, 2, 4, "second"],
  ["a cube where it is flat", (x: number) => x ** 3, 0, 0, "second"],
  ["a sine", Math.sin, 1, Math.cos(1), "second"],
  ["a wrong slope", (x: number) => x * x, 2, 3, "first"],
  ["a product with one side detached", (x: number) => x * x, 3, 3, "first"],
  ["a kink on the way", (x: number) => Math.max(0, x - 1.01), 1, 0, "unsettled"],
  ["a kink a third of the way", (x: number) => Math.max(0, x - 1.0333), 1, 0, "unsettled"],
  ["a jump on the way", (x: number) => (x > 1 ? 5 + x : x), 1, 1, "unsettled"],
] as const)("the difference between both is told for %s", (_, f, x, slope, verdict) => {
  /** f at x with the slope that backward claims. */
  const by = (h: number) => ({ ...nothing, difference: f(x + h) - f(x) - slope * h });
  for (const h of verdict === "unsettled" ? [0.1] : [0.1, -0.1, 0.02])
    expect(judge(by(h), by(h / 2), by(h / 4))).toBe(verdict);
});

it("names an entry as the program would", () => {
  expect(indexText(4, [2, 3])).toBe("[1][1]");
  expect(indexText(0, [])).toBe("");
});
