/** What is said of phase 1: what arrived, from where, and its sum. */
import { isTensor } from "../model/gradients";
import type { Gradient } from "../protocol/trace.gen";
import { opOf, resultName } from "./names";
import { listed, type Said, say, text, textOf } from "./say";
import { equation, isSum } from "./sums";
import { firstFitting, SUMMANDS_READ_ALOUD, spelled, type Told, thereOf, vIs } from "./told";
import { isShort, isThere, spellShape } from "./values";

export function collect(told: Told): Said {
  const { step, node } = told;
  if (step.grad_outputs.length > 1) return firstFitting(told, severalOutputs(told));
  const name = resultName(node, step.contributions[0]?.output_nr ?? 0);
  const there = step.contributions.map(({ value }) => value).filter(isThere);
  if (there.length === 0) return say("collect-none", { name });
  const ways =
    there.length === 1 && step.contributions.length === 1 ? one(told, name) : several(told, name, there);
  return firstFitting(told, [...ways, say("collect-short", { count: there.length })]);
}

function one(told: Told, name: Said): Said[] {
  const [contribution] = told.step.contributions;
  if (contribution === undefined) return [];
  const { value, edge } = contribution;
  // Of a variable called v, `v = 2 arrived at v` would be two things of one name.
  const v = textOf(name) === "v" ? spelled(told, value) : vIs(told, value);
  if (edge !== "seed") return [say("collect-one", { v, name })];
  if (isTensor(value) && !isShort(value))
    return [say("collect-seed-shape", { name, shape: spellShape(value.shape) })];
  return [say("collect-seed", { name, v: spelled(told, value) })];
}

function several(told: Told, name: Said, there: readonly Gradient[]): Said[] {
  const { contributions } = told.step;
  const seeds = contributions.filter(({ edge }) => edge === "seed").length;
  const count = contributions.length;
  return sums(told, there).map((sum) => {
    if (seeds === count) return say("collect-seeds", { name, count, sum });
    if (seeds > 0) return say("collect-seed-and-uses", { name, count: there.length, seeds, sum });
    if (there.length === count) return say("collect-used", { name, count, sum });
    return say("collect-used-some", { name, count, arrived: text(String(there.length)), sum });
  });
}

/** The sum written out where it can be, else what is added. */
function sums(told: Told, values: readonly Gradient[]): Said[] {
  const { step } = told;
  const [change] = step.hooks ?? [];
  const value = change?.before ?? step.grad_outputs[0];
  const found: Said[] = [];
  if (value !== undefined && values.length <= SUMMANDS_READ_ALOUD && isSum(values, value)) {
    const terms = values.map((each) => spelled(told, each));
    found.push(equation(terms, "+", spelled(told, value)));
  }
  const shape = values.find(isTensor)?.shape ?? [];
  found.push(say("sum-of-shapes", { count: values.length, shape: spellShape(shape) }));
  return found;
}

function severalOutputs(told: Told): Said[] {
  const { step, node } = told;
  const there = thereOf(step.grad_outputs);
  const counts = {
    count: text(String(step.grad_outputs.length)),
    op: opOf(node),
    arrived: text(String(there.length)),
  };
  if (there.length === 0) return [say("collect-none", { name: opOf(node) })];
  const list = there.map(({ value, index }) =>
    say("value-at", { value: spelled(told, value), name: resultName(node, index) }),
  );
  const said = { ...counts, list: listed(list) };
  const isAll = there.length === step.grad_outputs.length;
  return [
    say(isAll ? "collect-outputs-all" : "collect-outputs", said),
    isAll ? say("collect-outputs-each", { count: counts.count }) : say("collect-outputs-count", counts),
  ];
}
