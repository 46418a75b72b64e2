/** What is said of phases 4 and 5: where each gradient goes, and what a leaf has then. */
import { accumulatedBy, isTensor } from "../model/gradients";
import { operandText } from "./names";
import { code, enumerated, inTurn, listed, type Said, say, textOf } from "./say";
import { equation, isSum } from "./sums";
import { byOperand, firstFitting, ruleOf, spelled, type Told, thereOf } from "./told";
import { isShort, isThere } from "./values";

const MOVES = {
  send: {
    one: "goes-to",
    several: "go-to",
    whole: "send-list",
    none: "send-none",
    each: "send-each",
    count: "send-count",
  },
  land: {
    one: "waits-at",
    several: "wait-at",
    whole: "land-list",
    none: "land-none",
    each: "land-each",
    count: "land-count",
  },
} as const;

export function send(told: Told): Said {
  return moves(told, "send", withheld(told));
}

export function land(told: Told): Said {
  return moves(told, "land");
}

/** Operands that get nothing, with the reason: what the program wrote down, not a number in it. */
function withheld(told: Told): Said[] {
  const { step, node } = told;
  const op = ruleOf(told);
  const said = node.inputs.flatMap((operand) => {
    const value = step.grad_inputs[operand.argnum];
    const name = value === undefined || isThere(value) ? null : operandText(told, node, operand);
    // Nobody expects a gradient of a plain number.
    const isNumber = operand.missing?.because?.kind === "missing-number" || /^[-\u2212\d]/.test(name ?? "");
    if (name === null || isTensor(value) || value === undefined || isNumber) return [];
    if (value.missing === "returned_none") return [say("send-returned-none", { op, name: code(name) })];
    return value.missing === "not_required" ? [say("send-not-required", { name: code(name) })] : [];
  });
  // An operand may stand twice.
  return [...new Map(said.map((each) => [textOf(each), each])).values()];
}

/** Where each gradient goes; operands that want none are passed over. */
function moves(told: Told, kind: keyof typeof MOVES, besides: readonly Said[] = []): Said {
  const words = MOVES[kind];
  const there = thereOf(told.step.grad_inputs).map(({ index }) => index);
  const receivers = byOperand(told, there);
  const parts = receivers.map(({ name, values: [first = [], ...rest] }) =>
    rest.length === 0
      ? say(words.one, { value: first, name })
      : say(words.several, { values: listed([first, ...rest]), name }),
  );
  if (parts.length === 0)
    return besides.length === 0 ? say(words.none) : say(words.whole, { list: inTurn(besides) });
  const ways: Said[] =
    besides.length === 0 ? [] : [say(words.whole, { list: inTurn([enumerated(parts), ...besides]) })];
  ways.push(say(words.whole, { list: enumerated(parts) }));
  // A list that breaks off would name some and hide others: then all by name, without their numbers.
  if (parts.length > 1) ways.push(say(words.each, { names: listed(receivers.map(({ name }) => name)) }));
  return firstFitting(told, [...ways, say(words.count, { count: parts.length })]);
}

export function accumulated(told: Told): Said {
  const { step } = told;
  if (step.accumulate === null) return [];
  const { before } = step.accumulate;
  const after = accumulatedBy(step.accumulate);
  const leaf = code(step.accumulate.leaf);
  const now = spelled(told, after);
  if (!isThere(after)) return say("leaf-none", { leaf });
  if (!isThere(before))
    return firstFitting(told, [say("leaf-first", { leaf, after: now }), say("leaf-first-short", { leaf })]);
  const arrived = step.grad_outputs[0];
  const was = spelled(told, before);
  const ways: Said[] = [];
  if (arrived !== undefined && isThere(arrived)) {
    const added = spelled(told, arrived);
    if (isSum([before, arrived], after))
      ways.push(say("leaf-added", { leaf, sum: equation([was, added], "+", now) }));
    else if (!isShort(after)) ways.push(say("leaf-added-shape", { arrived: added, leaf }));
  }
  return firstFitting(told, [...ways, say("leaf-changed", { leaf, before: was, after: now })]);
}
