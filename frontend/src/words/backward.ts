/** What is said of a backward step, as a whole and at each of its stops: one idea, in the program's names. */
import { type Part, partOfCall } from "../model/calls";
import { isTensor } from "../model/gradients";
import { elementCount } from "../model/matrix";
import type { BackwardPhase } from "../model/phases";
import { backwardStops } from "../model/stops";
import { asidesOf } from "./asides";
import { collect } from "./collect";
import { rule } from "./localrule";
import { multiply } from "./multiply";
import { opOf } from "./names";
import { listed, type Said, say, sentence, text, textOf } from "./say";
import { accumulated, land, send } from "./send";
import { firstFitting, spelled, type Told } from "./told";
import { isShort, isThere, spellShape } from "./values";

export const LONGEST_SENTENCE = 140;

/** The sentence of a stop, and as much as fits of what happened beside it. */
export function backwardSentence(told: Told, stop: BackwardPhase): Said {
  const facts = asidesOf(told).filter((fact) => fact.stop === stop && !fact.isInSentence);
  for (let count = facts.length; count > 0; count -= 1) {
    const besides = facts.slice(0, count).flatMap(({ said }) => [...text(" "), ...said]);
    const said = stopSentence({ ...told, room: told.room - textOf(besides).length }, stop);
    const whole = [...sentence(said), ...besides];
    if (textOf(whole).length <= told.room) return whole;
  }
  return sentence(stopSentence(told, stop));
}

const SENTENCES: Readonly<Record<BackwardPhase, (told: Told) => Said>> = {
  collect,
  rule,
  multiply,
  send,
  land: (told) => (told.step.accumulate === null ? land(told) : accumulated(told)),
};

/** What is sent on is told where it is on show: on the way, or as it lands where the way is no stop. */
function stopSentence(told: Told, stop: BackwardPhase): Said {
  const part = partOfCall(told.node);
  if (part !== null && isArranging(part) && stop === "land") return arrangeInCall(told, part);
  if (part !== null && !isArranging(part) && stop !== "collect")
    return insideCall(told, part, (itself) =>
      // The rule beside the sentence is that of the whole call.
      stop === "rule" ? say("inside-rule", { op: opOf(part.node) }) : stopSentence(itself, stop),
    );
  const sends = stop === "land" && told.step.accumulate === null;
  const stops = backwardStops(told.step, told.node);
  return SENTENCES[sends && !stops.includes("send") ? "send" : stop](told);
}

const isArranging = ({ node }: Part): boolean => node.arranges !== undefined;

/** A part of a call that computes something itself is told as the node that it is. */
function insideCall(told: Told, { node, step, graph }: Part, saidOf: (itself: Told) => Said): Said {
  const call = opOf(told.node);
  const room = told.room - textOf(say("inside-call", { call, said: [] })).length;
  return say("inside-call", { call, said: saidOf({ ...told, node, step, graph, room }) });
}

/** PyTorch's own way to a product of batches: what comes and what goes is brought into another shape. */
function arrangeInCall({ node }: Told, part: Part): Said {
  const [sent] = part.step.grad_inputs.filter(isTensor);
  const [got] = part.step.grad_outputs.filter(isTensor);
  const [call, op] = [opOf(node), opOf(part.node)];
  if (sent === undefined || got === undefined) return say("arrange-nothing", { call, op });
  const said = { call, op, shape: spellShape(sent.shape) };
  if (elementCount(sent.shape) < elementCount(got.shape)) return say("arrange-sum", said);
  return say(part.isBefore ? "arrange-before" : "arrange-after", said);
}

/** The sentence that names the whole step. */
export function wholeSentence(told: Told): Said {
  const part = partOfCall(told.node);
  if (part === null) return sentence(wholeStep(told));
  return sentence(isArranging(part) ? arrangeInCall(told, part) : insideCall(told, part, wholeStep));
}

function wholeStep(told: Told): Said {
  const { step, node } = told;
  if (step.accumulate !== null) return accumulated(told);
  const there = step.grad_outputs.filter(isThere);
  const then = send(told);
  if (there.length === 0) return say("whole-nothing", { op: opOf(node), then });
  const came =
    there.length === 1 || there.every(isShort)
      ? listed(there.map((value) => spelled(told, value)))
      : say("whole-gradients", { count: there.length });
  return firstFitting(told, [say("whole", { op: opOf(node), came, then }), then]);
}
