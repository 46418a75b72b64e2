/**
 * What happened at a step beside its rule: what hooks and the engine made of a gradient, where a NaN comes from, what
 * stood in for nothing. The sentence of the phase says it where it has the room, the callout and the step table always.
 */
import { isTensor } from "../model/gradients";
import { indicesOf } from "../model/matrix";
import { type BackwardPhase, hasCome, PHASES } from "../model/phases";
import { backwardStops } from "../model/stops";
import type { Gradient, ReturnedChange, Span } from "../protocol/trace.gen";
import { opOf, resultName, savedName } from "./names";
import { code, inTurn, listed, type Said, say, sentence, text, textOf } from "./say";
import { nameAt, operandAt, ruleOf, spelled, type Told } from "./told";
import { isShort, isThere, spellShape } from "./values";

export interface Aside {
  /** The stop at which it is told: of its phase, or of the first one after it where that is left out. */
  readonly stop: BackwardPhase;
  readonly said: Said;
  /** The phase's own sentence says so too. */
  readonly isInSentence: boolean;
}

/** In the order of the phases. */
export function asidesOf(told: Told): readonly Aside[] {
  const own = changes(told);
  const found: Readonly<Record<BackwardPhase, readonly Said[]>> = {
    collect: [...castSeeds(told), ...zerosInstead(told), ...hooks(told)],
    rule: changedBehind(told),
    multiply: [...own.map((each) => say("multiply-products", { products: each })), ...nanProducts(told)],
    send: dropped(told),
    land: gradHooks(told),
  };
  const stops = backwardStops(told.step, told.node);
  return PHASES.backward.flatMap((phase) =>
    found[phase].flatMap((said, index, all) => {
      // Of `w * w` both operands say the same.
      const isSaid = all.slice(0, index).some((before) => textOf(before) === textOf(said));
      const isInSentence = phase === "multiply" && stops.includes(phase) && index < own.length;
      const stop = stops.find((each) => hasCome(phase, each)) ?? "land";
      return isSaid ? [] : [{ stop, said: sentence(said), isInSentence }];
    }),
  );
}

// collect

function castSeeds({ step, pass, node }: Told): Said[] {
  const isSeed = (nr: number) =>
    step.contributions.some(({ edge, output_nr }) => edge === "seed" && output_nr === nr);
  return pass.outputs.flatMap(({ node: start, output_nr, seed, cast }) => {
    if (start !== node.id || cast === undefined || !isTensor(seed) || !isSeed(output_nr)) return [];
    return [say("fact-seed-cast", { from: code(seed.dtype), to: code(cast.dtype) })];
  });
}

function zerosInstead(told: Told): Said[] {
  return told.step.grad_outputs.flatMap((value, index) =>
    isTensor(value) || value.materialized !== true
      ? []
      : [say("fact-zeros", { name: resultName(told.node, index), rule: ruleOf(told) })],
  );
}

/** `The hook in line 5 made it 4`: before the node saw its grad_output. */
function hooks(told: Told): Said[] {
  const { step, node } = told;
  const all = (step.hooks ?? []).map(({ span, before, after, output_nr, kind }) => {
    const who = kind === "shared_write" ? writeName(span) : hookName(span);
    const made = madeBy(told, who, before, after);
    return step.grad_outputs.length === 1
      ? made
      : say("fact-at", { name: resultName(node, output_nr), made });
  });
  return all.length === 0 ? [] : [say("fact-hooks", { list: listed(all) })];
}

function writeName(span: Span | null): Said {
  if (span === null) return say("shared-write-somewhere");
  return say("shared-write", { line: text(String(span.line)) });
}

function hookName(span: Span | null): Said {
  return span === null ? say("hook-somewhere") : say("hook-in-line", { line: text(String(span.line)) });
}

function madeBy(told: Told, who: Said, before: Gradient, after: Gradient): Said {
  const isSpelled = isShort(before) && isShort(after);
  return isSpelled || !isThere(after)
    ? say("hook-made", { who, value: spelled(told, after) })
    : say("hook-changed", { who });
}

// rule

function changedBehind(told: Told): Said[] {
  const { node } = told;
  return node.saved.flatMap(({ was, ...saved }) => {
    const { value } = saved;
    if (was === undefined || value === null) return [];
    const name = savedName(told, node, saved);
    if (!isShort(was) || !isShort(value)) return [say("fact-saved-changed", { name })];
    return [say("fact-saved-was", { name, was: spelled(told, was), now: spelled(told, value) })];
  });
}

// multiply

/** For each operand what the rule returned, and what hooks and the engine made of it. */
export function changes(told: Told): Said[] {
  const all = told.step.changes ?? [];
  const argnums = [...new Set(all.map(({ argnum }) => argnum))];
  return argnums.flatMap((argnum) => {
    const own = all.filter((each) => each.argnum === argnum);
    const [first] = own;
    const name = operandAt(told, argnum);
    if (first === undefined || name === null) return [];
    const before = spelled(told, first.before);
    const then = listed(own.map((change) => changed(told, change)));
    return [say("fact-changed", { rule: ruleOf(told), before, name, changes: then })];
  });
}

function changed(told: Told, { kind, before, after, span }: ReturnedChange): Said {
  const value = spelled(told, after);
  if (kind === "sum_to_size") return say("change-sum", { value });
  if (kind !== "cast") return madeBy(told, hookName(span), before, after);
  return say("change-cast", { dtype: code(isTensor(after) ? after.dtype : ""), value });
}

/** Where v is 0 and the slope infinite. */
function nanProducts(told: Told): Said[] {
  return told.step.local_jacobians.flatMap(({ argnum, input_shape, nan_products: [first, ...rest] = [] }) => {
    const name = nameAt(told, argnum);
    if (first === undefined) return [];
    const entry = name === null ? (operandAt(told, argnum) ?? say("constant")) : code(name);
    const where =
      input_shape.length === 0
        ? entry
        : say("entry-of", { name: entry, entry: spellShape(indicesOf(first, input_shape)) });
    return rest.length === 0
      ? [say("fact-nan", { where })]
      : [say("fact-nans", { where, count: rest.length })];
  });
}

// send

function dropped(told: Told): Said[] {
  const { step, node } = told;
  return step.grad_inputs.flatMap((value, index) => {
    if (isTensor(value) || value.dropped === undefined || value.missing === "not_computed") return [];
    const name = operandAt(told, index) ?? say("operand-number", { number: text(String(index + 1)) });
    const given = spelled(told, value.dropped);
    return [
      say("fact-dropped", { rule: node.kind === "custom" ? ruleOf(told) : opOf(node), value: given, name }),
    ];
  });
}

// land

function gradHooks(told: Told): Said[] {
  const { accumulate } = told.step;
  const all = (accumulate?.changes ?? []).map(({ span, before, after }) =>
    isTensor(after)
      ? madeBy(told, hookName(span), before, after)
      : say("hook-cleared", { who: hookName(span) }),
  );
  return all.length === 0 ? [] : [say("fact-hooks", { list: inTurn(all) })];
}
