/** The one sentence of every moment of a trace. */
import { FAILED_NODE, problemOfNode, problemOfStep } from "../model/failed";
import { nodesById } from "../model/graph";
import { DEFAULT_PRECISION, type Precision } from "../model/numbers";
import { isOfBackward } from "../model/phases";
import type { Position } from "../model/position";
import { nodeAt, passAt, stepAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import { backwardSentence, LONGEST_SENTENCE, wholeSentence } from "./backward";
import { forwardSentence } from "./forward";
import { opOf, resultName } from "./names";
import { code, listed, type Said, say, sentence, text, textOf } from "./say";
import { titleOf } from "./tell";
import type { Told } from "./told";

/** What is said at a phase, its numbers with as many digits as those on screen. */
export function saidAt(
  trace: TraceState,
  position: Position,
  precision: Precision = DEFAULT_PRECISION,
): Said {
  if (position.direction === "forward") return forwardAt(trace, position, precision);
  const told = toldAt(trace, position, precision);
  if (told !== null && isOfBackward(position.phase))
    return (position.phase === "land" && raised(trace, told)) || backwardSentence(told, position.phase);
  return position.step > 0 ? say("step-awaited") : start(trace);
}

/** The same as plain text. */
export function sentenceAt(trace: TraceState, position: Position, precision?: Precision): string {
  return textOf(saidAt(trace, position, precision));
}

/** The sentence that names a whole step, for the step slider and the step table. */
export function stepSentence(
  trace: TraceState,
  position: Position,
  precision: Precision = DEFAULT_PRECISION,
): string {
  const told = toldAt(trace, position, precision);
  return told === null
    ? sentenceAt(trace, position, precision)
    : textOf(raised(trace, told) ?? wholeSentence(told));
}

/** What a step that raised ends with. */
function raised({ problems }: TraceState, told: Told): Said | null {
  const problem = problemOfStep(problems, told.step);
  return problem === null ? null : [...sentence(titleOf(problem)), ...text(".")];
}

/** The step of a position; null in the forward walk, before the first step and where it has not arrived. */
export function toldAt(
  trace: TraceState,
  position: Position,
  precision: Precision = DEFAULT_PRECISION,
): Told | null {
  if (position.direction === "forward") return null;
  const step = stepAt(trace, position);
  const node = nodeAt(trace, position);
  const pass = passAt(trace, position)?.started;
  if (step === null || node === null || pass === undefined) return null;
  const { graph } = pass;
  return { step, node, pass, graph, precision, room: LONGEST_SENTENCE };
}

function forwardAt(trace: TraceState, position: Position, precision: Precision): Said {
  const node = nodeAt(trace, position);
  const graph = passAt(trace, position)?.started.graph;
  if (node === null || graph === undefined) return say("start-program");
  const problem = node.id === FAILED_NODE ? problemOfNode(trace.problems, -1, node.id) : null;
  if (problem !== null && position.phase !== "arrive")
    return say("forward-raises", { op: opOf(node), title: titleOf(problem) });
  const { phase } = position;
  return isOfBackward(phase) ? say("start-program") : forwardSentence({ graph, precision }, node, phase);
}

function start(trace: TraceState): Said {
  const pass = trace.passes[0];
  if (pass === undefined || pass.started.outputs.length === 0) {
    const problem = trace.problems.findLast(({ isCaught }) => !isCaught);
    if (problem !== undefined) return say("start-raised", { title: titleOf(problem) });
    return say(trace.finished === null ? "start-waiting" : "start-none");
  }
  const { graph, outputs } = pass.started;
  const names = outputs.map(({ node, output_nr, name }) => {
    const known = nodesById(graph).get(node);
    if (name !== null) return code(name);
    return known === undefined ? say("start-output") : resultName(known, output_nr);
  });
  return say("start-pass", { names: listed(names) });
}
