/**
 * Events folded into state. A trace grows while it streams: every prefix of the events gives a state that
 * can be shown, and `foldEvents(foldEvents(s, a), b)` equals `foldEvents(s, [...a, ...b])`.
 */
import type {
  Event,
  Explained,
  Explanation,
  Finished,
  Forward,
  Graph,
  Node,
  PassFinished,
  PassStarted,
  Problem,
  Started,
  Step,
  Unrecorded,
  Warned,
} from "../protocol/trace.gen";
import { withFailedCall } from "./failed";
import { append } from "./lists";

export interface PassState {
  /** Its position among the recorded ones, in `TraceState.passes`. */
  readonly index: number;
  readonly started: PassStarted;
  /** Its steps, in order of execution. */
  readonly steps: readonly Step[];
  readonly finished: PassFinished | null;
}

/** What the program printed; `seq` tells its place among the steps. */
export interface Printed {
  readonly seq: number;
  readonly text: string;
}

export interface MetProblem extends Problem {
  /** The program caught the error and went on. */
  readonly isCaught?: true;
}

export interface TraceState {
  readonly started: Started | null;
  readonly passes: readonly PassState[];
  /** Passes that ran without being recorded, in the order of their numbers. */
  readonly unrecorded: readonly Unrecorded[];
  /** The steps of all passes, in order of execution: step number n (1-based) is `steps[n - 1]`. */
  readonly steps: readonly Step[];
  readonly stdout: readonly Printed[];
  readonly problems: readonly MetProblem[];
  readonly warnings: readonly Warned[];
  /** Null while events are still arriving. */
  readonly finished: Finished | null;
  /** The `seq` of the last event folded in, -1 before the first. */
  readonly seq: number;
}

/** What stays the same object while only what explains the steps arrives, or steps of another pass. */
export const passesOf = ({ passes }: TraceState): TraceState["passes"] => passes;
export const stepsOf = (_trace: TraceState, { steps }: PassState): PassState["steps"] => steps;

const EMPTY: TraceState = {
  started: null,
  passes: [],
  unrecorded: [],
  steps: [],
  stdout: [],
  problems: [],
  warnings: [],
  finished: null,
  seq: -1,
};

export function emptyTrace(): TraceState {
  return EMPTY;
}

/** The state after `events`; `state` stays as it was. Events already folded in (by `seq`) are passed over. */
export function foldEvents(state: TraceState, events: readonly Event[]): TraceState {
  const fresh = events.filter((event) => event.seq > state.seq);
  if (fresh.length === 0) return state;
  const next = {
    ...state,
    passes: state.passes.slice(),
    unrecorded: state.unrecorded.slice(),
    steps: state.steps.slice(),
    stdout: state.stdout.slice(),
    problems: state.problems.slice(),
    warnings: state.warnings.slice(),
  };
  const openPasses = new Map<number, Step[]>();
  const told = new Map<number, Map<string, ToldOfNode[]>>();
  for (const event of fresh) {
    next.seq = event.seq;
    switch (event.type) {
      case "started":
        next.started = event;
        break;
      case "stdout":
        next.stdout.push({ seq: event.seq, text: event.text });
        break;
      case "warning":
        next.warnings.push(event);
        break;
      case "pass_started":
        next.passes[event.pass] = { index: event.pass, started: event, steps: [], finished: null };
        break;
      case "step": {
        next.steps.push(event);
        const steps = openPasses.get(event.pass) ?? next.passes[event.pass]?.steps.slice() ?? [];
        steps.push(event);
        openPasses.set(event.pass, steps);
        break;
      }
      case "forward":
        note(told, event);
        break;
      case "explained":
        note(told, event);
        for (const each of event.nodes) explain(next.steps, each);
        openPasses.set(
          event.pass,
          openPasses.get(event.pass) ?? next.passes[event.pass]?.steps.slice() ?? [],
        );
        break;
      case "pass_finished":
        next.passes[event.pass] = withPass(next.passes[event.pass], { finished: event });
        break;
      case "unrecorded":
        next.unrecorded.push(event);
        break;
      case "problem":
        next.problems.push(event);
        if (event.graph !== undefined) {
          next.passes.push(unstartedPass(event, event.graph, next.passes.length));
        }
        break;
      case "finished":
        next.finished = event;
        next.problems = next.problems.map((problem) =>
          event.caught?.includes(problem.seq) ? { ...problem, isCaught: true } : problem,
        );
        break;
      default:
        assertNever(event);
    }
  }
  for (const [pass, ofNodes] of told) next.passes[pass] = withNodes(next.passes[pass], ofNodes);
  for (const [pass, steps] of openPasses) {
    next.passes[pass] = withPass(next.passes[pass], {
      steps: steps.map((step) => next.steps[step.index] ?? step),
    });
  }
  return next;
}

/**
 * What a program that raised had built, with the call that raised, as a pass that never began: it starts nowhere and
 * has no steps. No other pass comes after it.
 */
function unstartedPass({ seq, span, failed }: Problem, graph: Graph, index: number): PassState {
  const started: PassStarted = {
    seq,
    type: "pass_started",
    pass: index,
    call: "backward",
    span,
    outputs: [],
    inputs: [],
    create_graph: false,
    graph: withFailedCall(graph, failed),
  };
  return { index, started, steps: [], finished: null };
}

type ToldOfNode = Forward["nodes"][number] | Explanation;

/** Keeps what was told of nodes until the end of the batch: a graph of thousands is gone through once. */
function note(told: Map<number, Map<string, ToldOfNode[]>>, { pass, nodes }: Forward | Explained): void {
  const ofPass = told.get(pass) ?? new Map<string, ToldOfNode[]>();
  told.set(pass, ofPass);
  for (const each of nodes) append(ofPass, each.node, each);
}

function withNodes(pass: PassState | undefined, told: ReadonlyMap<string, readonly ToldOfNode[]>): PassState {
  if (pass === undefined) throw new Error("what a node is came before the pass_started that names it");
  const { graph } = pass.started;
  const nodes = graph.nodes.map((node) => (told.get(node.id) ?? []).reduce(withTold, node));
  return { ...pass, started: { ...pass.started, graph: { ...graph, nodes } } };
}

function withTold(node: Node, told: ToldOfNode): Node {
  if ("formula" in told) return told.formula === null ? node : { ...node, formula: told.formula };
  const { inputs, outputs, saved, inside } = told;
  return {
    ...node,
    inputs: node.inputs.map((operand, at) => ({ ...operand, value: inputs[at] ?? null })),
    outputs: node.outputs.map((output, at) => ({ ...output, value: outputs[at] ?? null })),
    saved,
    ...(inside === undefined ? {} : { inside }),
  };
}

/** Puts what explains a step in its place. */
function explain(
  steps: Step[],
  { step: index, node: _node, formula: _formula, ...parts }: Explanation,
): void {
  const step = index === null ? undefined : steps[index];
  if (step !== undefined) steps[step.index] = { ...step, ...parts };
}

function withPass(pass: PassState | undefined, change: Partial<PassState>): PassState {
  if (pass === undefined) throw new Error("a step or an end of a pass came before its pass_started");
  return { ...pass, ...change };
}

function assertNever(event: never): never {
  throw new Error(`unknown event ${JSON.stringify(event)}`);
}
