/** What is said of a backward step, as a whole and at each of its five phases: one idea, in the program's names. */
import { asidesOf } from "./asides";
import { collect } from "./collect";
import { rule } from "./localrule";
import { multiply } from "./multiply";
import { opOf } from "./names";
import { code, listed, type Said, say, sentence, text, textOf } from "./say";
import { accumulated, land, send } from "./send";
import { firstFitting, spelled, type Told } from "./told";
import { isShort, isThere, spellGradient } from "./values";

export const LONGEST_SENTENCE = 140;

/**
 * The sentence of a phase, and as much as fits of what happened beside it.
 * @param phase 1 to 5
 */
export function backwardSentence(told: Told, phase: number): Said {
  const facts = asidesOf(told).filter((fact) => fact.phase === phase && !fact.isInSentence);
  for (let count = facts.length; count > 0; count -= 1) {
    const besides = facts.slice(0, count).flatMap(({ said }) => [...text(" "), ...said]);
    const said = phaseSentence({ ...told, room: told.room - textOf(besides).length }, phase);
    const whole = [...sentence(said), ...besides];
    if (textOf(whole).length <= told.room) return whole;
  }
  return sentence(phaseSentence(told, phase));
}

function phaseSentence(told: Told, phase: number): Said {
  const isLeaf = told.step.accumulate !== null;
  if (phase === 1) return collect(told);
  if (phase === 2)
    return isLeaf ? say("rule-leaf", { name: code(told.step.accumulate?.leaf ?? "") }) : rule(told);
  if (phase === 3) return isLeaf ? say("multiply-leaf") : multiply(told);
  if (phase === 4) return isLeaf ? say("send-leaf") : send(told);
  return isLeaf ? accumulated(told) : land(told);
}

/** The sentence that names the whole step. */
export function wholeSentence(told: Told): Said {
  const { step, node } = told;
  if (step.accumulate !== null) return sentence(accumulated(told));
  const there = step.grad_outputs.flatMap((value, index) => (isThere(value) ? [{ value, index }] : []));
  const then = send(told);
  if (there.length === 0) return say("whole-nothing", { op: opOf(node), then });
  const came = there.every(({ value }) => isShort(value))
    ? listed(
        there.map(({ value, index }) => spellGradient(value, { of: "grad_output", index }, told.precision)),
      )
    : there.length === 1
      ? spelled(told, there[0]?.value, "grad_output", there[0]?.index)
      : say("whole-gradients", { count: there.length });
  return sentence(firstFitting(told, [say("whole", { op: opOf(node), came, then }), then]));
}
