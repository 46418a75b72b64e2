/**
 * What the page knows: the program and its settings, the trace on screen, where one stands in it, and the run
 * under way. Components read its fields and call its methods; nothing else on the page keeps state that
 * matters.
 */

import { withValue } from "../embed/inputs";
import { passAlone } from "../model/comparison";
import { numberOf } from "../model/curve";
import { focusPosition } from "../model/directions";
import { clampPosition, type Position, START, startOf, stepCount } from "../model/position";
import { firstStepOfPass, passAt } from "../model/selectors";
import { emptyTrace, foldEvents, type MetProblem, type PassState, type TraceState } from "../model/trace";
import type { GradcheckReport, Problem, TensorValue, TraceDocument } from "../protocol/trace.gen";
import { numberOf as numberOfValue } from "../protocol/values";
import type { GradcheckQuestion } from "../scene/gradcheck";
import { fetchGradcheck, fetchJacobians, fetchValue } from "../stream/again";
import {
  type InputValue,
  type Nested,
  runTrace,
  type Status,
  type TraceOptions,
  type TraceRequest,
} from "../stream/client";
import type { Example } from "../stream/examples";
import { keepProgram } from "../stream/snippet";
import { label } from "../words/say";
import { type Address, DEFAULT_VIEW, EMPTY_ADDRESS, type NudgeWish, settingsIn, type View } from "./address";
import { type Given, give, givenFor } from "./given";
import { keepsItsV } from "./gradient";
import { withJacobians } from "./jacobians";

/**
 * - `fresh`: another program; the picture starts empty and fills as the events arrive.
 * - `again`: the same program with other inputs; the picture stays until the new numbers can take its place.
 */
type RunKind = "fresh" | "again";

/** How long a run may take before a newer request stops it; shorter ones finish, so that a drag shows its way. */
const PATIENCE_MS = 250;
/** Changes closer together than this are one change: a drag is compared with what was before it began. */
const DRAG_PAUSE_MS = 1000;
const KEEP_MS = 20_000;

type Inputs = Readonly<Record<string, InputValue>>;
const NO_INPUTS: Inputs = {};

export class Session {
  source = $state("");
  private givenInputs = $state.raw<Given<Inputs>>(give(NO_INPUTS, ""));
  private givenGradOutput = $state.raw<Given<Nested | null>>(give(null, ""));
  seed = $state(0);
  /** The entry that is nudged; null where nobody asked for it. */
  nudge = $state.raw<NudgeWish | null>(null);
  view = $state<View>({ ...DEFAULT_VIEW });
  example = $state.raw<Example | null>(null);

  trace = $state.raw<TraceState>(emptyTrace());
  /** The program of the trace on screen, null before the first run. */
  ranSource = $state<string | null>(null);
  selectedNode = $state<string | null>(null);
  /** The chain on show, as `formatChain` writes it; null: none. */
  chain = $state<string | null>(null);
  status = $state.raw<Status | null>(null);
  /** The run before the last change, for comparison; null where there is none of the same program. */
  previous = $state.raw<TraceState | null>(null);
  /** The pass on screen where it was recorded for itself, by number; null: one of those that the server chose. */
  pass = $state<number | null>(null);
  /** The run that such a pass was chosen from: it knows all passes. */
  overview = $state.raw<TraceState | null>(null);
  /** What is told of a pass that was asked for. */
  passTold = $state<string | null>(null);
  private passWish: AbortController | null = null;
  /** The pass that others are compared with, and its trace. */
  pinned = $state.raw<{ readonly trace: TraceState; readonly pass: PassState } | null>(null);
  private changedAt = Number.NEGATIVE_INFINITY;
  /** Nobody has said where to stand: a `#@ focus` of the program may. */
  private unplaced = true;
  /** What the last run had to say when it left the older picture on screen. */
  private held = $state.raw<readonly MetProblem[] | null>(null);
  private wanted = $state.raw<Position>(START);
  private flight: { readonly since: number; readonly abort: AbortController } | null = null;
  /** Told when somebody on this page asks for numbers of their own. */
  onrequest: (() => void) | null = null;
  private queued: RunKind | null = null;

  /** What was set for the program in the editor. */
  readonly inputs = $derived.by((): Inputs => givenFor(this.givenInputs, this.source, NO_INPUTS));
  /** v for the program in the editor; null: ones, or what the program says itself. */
  readonly gradOutput = $derived.by((): Nested | null => givenFor(this.givenGradOutput, this.source, null));
  /** The inputs and v with which the program came: an example may have some, any other program has none. */
  private readonly own = $derived.by((): { readonly inputs: Inputs; readonly gradOutput: Nested | null } => {
    const options = this.example?.source === this.source ? this.example.options : {};
    return { inputs: options.inputs ?? NO_INPUTS, gradOutput: options.grad_output ?? null };
  });
  readonly areInputsMoved = $derived.by((): boolean => !isSame(this.inputs, this.own.inputs));
  readonly isGradOutputMoved = $derived.by((): boolean => !isSame(this.gradOutput, this.own.gradOutput));
  readonly stale = $derived(this.ranSource !== null && this.source !== this.ranSource);
  /** A problem of a backward call without a place of its own is told at the call. */
  readonly problems = $derived.by((): readonly MetProblem[] =>
    (this.held ?? this.trace.problems).map((problem) => {
      const call =
        problem.pass === undefined ? null : (this.trace.passes[problem.pass]?.started.span ?? null);
      return problem.span === null && this.held === null ? { ...problem, span: call } : problem;
    }),
  );
  /** There is a graph to look at; a backward call on nothing differentiable has none. */
  readonly hasPicture = $derived(hasGraph(this.trace));
  /** True: the last run went wrong and the picture is of the one before. */
  readonly outdated = $derived(this.held !== null && this.hasPicture);

  /** Where one stands: as asked, or the nearest place once it is clear that there is no such step. */
  readonly position = $derived.by((): Position => {
    const { trace, wanted } = this;
    const arrived = wanted.step <= stepCount(trace, wanted.direction);
    if (arrived || trace.finished !== null) return clampPosition(trace, wanted);
    return startOf(wanted.direction);
  });

  /** What a link to this page holds. */
  readonly address = $derived<Address>({
    source: this.source,
    example: null,
    inputs: { ...this.inputs },
    gradOutput: this.gradOutput,
    seed: this.seed,
    pass: this.pass,
    position: this.wanted,
    chain: this.chain,
    nudge: this.nudge,
    view: { ...this.view },
  });

  /** What is on screen beside what it is compared with: another pass, or the run before the last change. */
  readonly compared = $derived.by((): { before: TraceState; after: TraceState } | null => {
    const { pinned, previous, trace } = this;
    if (pinned === null) return previous === null ? null : { before: previous, after: trace };
    const pass = passAt(trace, this.position);
    return pass === null
      ? null
      : { before: passAlone(pinned.trace, pinned.pass), after: passAlone(trace, pass) };
  });

  /** Takes over a program and its settings without running it. */
  open(address: Address): void {
    this.source = address.source ?? "";
    this.givenInputs = give(address.inputs, this.source);
    this.givenGradOutput = give(address.gradOutput, this.source);
    this.seed = address.seed;
    this.leavePass();
    this.pass = address.pass;
    this.chain = address.chain;
    this.nudge = address.nudge;
    this.wanted = address.position ?? START;
    this.unplaced = address.position === null;
    this.view = { ...this.view, ...address.view };
  }

  goTo(position: Position): void {
    this.wanted = position;
    this.unplaced = false;
    this.selectedNode = null;
  }

  /** Takes over a finished trace with its program and settings; runs nothing. */
  adopt(document: TraceDocument): void {
    this.stop();
    const { source, options } = document;
    this.open({ ...EMPTY_ADDRESS, ...settingsIn(options as TraceOptions), source, position: this.wanted });
    this.selectedNode = null;
    this.previous = null;
    this.held = null;
    this.example = null;
    this.trace = foldEvents(emptyTrace(), document.events);
    this.ranSource = document.source;
    this.dropUnusedGradient();
  }

  /** Shows a pass, by its number among all that ran; one that is not recorded is recorded by running again to it. */
  async choosePass(number: number): Promise<void> {
    this.passWish?.abort();
    this.passTold = null;
    const overview = this.overview ?? this.trace;
    for (const trace of [this.trace, overview]) {
      const pass = trace.passes.find((each) => numberOf(each) === number);
      if (pass === undefined) continue;
      if (trace === overview) {
        this.pass = null;
        this.overview = null;
      }
      this.showPass(trace, pass);
      return;
    }
    await this.recordPass(number, overview);
  }

  private async recordPass(number: number, overview: TraceState): Promise<void> {
    const { started } = overview;
    if (started === null) return;
    const wish = new AbortController();
    this.passWish = wish;
    const pass = String(number + 1);
    this.passTold = label("player-curve-recording", { pass });
    let arriving = emptyTrace();
    const request = { source: started.source, options: { ...started.options, passes: [number] } };
    await runTrace(request, {
      signal: wish.signal,
      onstatus: ({ kind }) => {
        if (wish.signal.aborted) return;
        this.passTold = label(kind === "offline" ? "player-curve-offline" : "player-curve-recording", {
          pass,
        });
      },
      onevents: (events) => {
        arriving = foldEvents(arriving, events);
      },
    });
    if (wish.signal.aborted) return;
    const found = arriving.passes.find((each) => numberOf(each) === number);
    if (found === undefined || found.steps.length === 0) {
      this.passTold = label("player-curve-failed", { pass });
      return;
    }
    this.passTold = null;
    this.overview ??= this.trace;
    this.pass = number;
    this.showPass(arriving, found);
  }

  /** At the step of the pass that has the place of the one on screen in its own. */
  private showPass(trace: TraceState, pass: PassState): void {
    const { position } = this;
    const before = passAt(this.trace, position);
    const isWalking = position.direction === "backward" && position.step > 0 && before !== null;
    const offset = isWalking ? position.step - firstStepOfPass(this.trace, before.index) : 0;
    const step = firstStepOfPass(trace, pass.index) + Math.min(offset, Math.max(0, pass.steps.length - 1));
    this.held = null;
    this.trace = trace;
    this.goTo({ direction: "backward", step, phase: isWalking ? position.phase : "collect" });
  }

  /** Keeps the pass of this number beside others; null: no longer. */
  pin(number: number | null): void {
    const pass = number === null ? undefined : this.trace.passes.find((each) => numberOf(each) === number);
    this.pinned = pass === undefined ? null : { trace: this.trace, pass };
  }

  /** What is on screen is compared with nothing any more. */
  forgetCompared(): void {
    this.previous = null;
    this.pinned = null;
  }

  private leavePass(): void {
    this.passWish?.abort();
    this.pass = null;
    this.overview = null;
    this.passTold = null;
    this.pinned = null;
  }

  /** Runs the program as it stands in the editor. */
  run(): void {
    const changed = this.source !== this.ranSource;
    if (changed && this.ranSource !== null) {
      this.wanted = START;
      this.unplaced = true;
      this.chain = null;
      this.leavePass();
    } else this.remember();
    this.request(changed ? "fresh" : "again");
  }

  /** Runs the program just opened, keeping the place that came with it. */
  runOpened(): void {
    this.request("fresh");
  }

  /** Runs an expression that is being typed: half of one does not wipe the picture. */
  runLive(): void {
    this.leavePass();
    this.request("again");
  }

  setInput(key: string, value: Nested): void {
    this.remember();
    const inputs = { ...this.inputs, [key]: withValue(this.inputs[key], value) };
    this.givenInputs = give(inputs, this.source);
    this.request("again");
  }

  resetInputs(): void {
    this.remember();
    this.givenInputs = give(this.own.inputs, this.source);
    this.request("again");
  }

  resetGradOutput(): void {
    this.setGradOutput(this.own.gradOutput);
  }

  setGradOutput(value: Nested | null): void {
    this.remember();
    this.givenGradOutput = give(value, this.source);
    this.request("again");
  }

  stop(): void {
    this.queued = null;
    this.flight?.abort.abort();
  }

  /** Fetches a local Jacobian that was left out while tracing and puts it into the picture. */
  async addJacobian(stepIndex: number, argnum: number): Promise<void> {
    const trace = this.trace.started?.id;
    const found = await fetchJacobians(trace, stepIndex, argnum);
    if (this.trace.started?.id !== trace) return;
    if (Array.isArray(found)) this.trace = withJacobians(this.trace, stepIndex, argnum, found);
    else this.held = [found];
  }

  /** All numbers of a value that was only summarised. */
  allNumbers(value: TensorValue): Promise<TensorValue | Problem> {
    return fetchValue(this.trace.started?.id, numberOfValue(value));
  }

  /** Compares what backward uses with finite differences, for one operand of one step or for a whole pass. */
  check(question: GradcheckQuestion): Promise<GradcheckReport[] | Problem> {
    return fetchGradcheck(this.trace.started?.id, question);
  }

  /** Keeps the trace on screen to compare the next one with. */
  private remember(): void {
    this.leavePass();
    const now = performance.now();
    if (now - this.changedAt > DRAG_PAUSE_MS && this.trace.finished !== null) this.previous = this.trace;
    this.changedAt = now;
  }

  /** One run at a time; while one is under way only the newest wish is kept. */
  private request(kind: RunKind): void {
    this.onrequest?.();
    const { flight } = this;
    if (flight === null) {
      void this.fly(kind);
      return;
    }
    this.queued = this.queued === "fresh" ? "fresh" : kind;
    const patience = kind === "fresh" ? 0 : PATIENCE_MS - (performance.now() - flight.since);
    if (patience <= 0) flight.abort.abort();
    else setTimeout(() => this.queued !== null && flight.abort.abort(), patience);
  }

  private async fly(kind: RunKind): Promise<void> {
    const flight = { since: performance.now(), abort: new AbortController() };
    this.flight = flight;
    const source = this.source;
    let arriving = emptyTrace();
    let shown = kind === "fresh" || !this.hasPicture;
    const show = () => {
      shown = true;
      this.held = null;
      this.ranSource = source;
      // Whoever looks at a pass that was recorded for itself goes on looking at it.
      if (this.overview !== null) {
        this.overview = arriving;
        return;
      }
      this.trace = arriving;
      this.place(arriving);
    };
    if (kind === "fresh") {
      this.selectedNode = null;
      this.previous = null;
      show();
    }
    try {
      const outcome = await runTrace(this.traceRequest(source), {
        signal: flight.abort.signal,
        onstatus: (status) => {
          this.status = status;
        },
        onevents: (events) => {
          arriving = foldEvents(arriving, events);
          this.status = { kind: "running" };
          if (shown || this.canReplace(arriving)) show();
          else if (arriving.finished !== null) this.held = arriving.problems;
        },
      });
      if (outcome.kind === "refused") this.held = [outcome.problem];
      this.dropUnusedGradient();
    } finally {
      this.flight = null;
      this.status = null;
    }
    const next = this.queued;
    this.queued = null;
    if (next !== null) await this.fly(next);
  }

  /** No link hands on a v that the program has no place for. */
  private dropUnusedGradient(): void {
    if (!this.stale && keepsItsV(this.trace)) this.givenGradOutput = give(null, this.source);
  }

  private place(arriving: TraceState): void {
    if (!this.unplaced) return;
    const focus = focusPosition(arriving);
    if (focus !== null) this.goTo(focus);
  }

  /** A trace that is still arriving may take the place of the older one once it reaches where one stands. */
  private canReplace(arriving: TraceState): boolean {
    if (!hasGraph(arriving)) return false;
    return (
      arriving.finished !== null ||
      stepCount(arriving, this.wanted.direction) >= Math.max(1, this.wanted.step)
    );
  }

  /** The address under which the server keeps this program; throws with the reason why it does not. */
  keepForLink(): Promise<string> {
    return keepProgram(this.traceRequest(this.source), AbortSignal.timeout(KEEP_MS));
  }

  private traceRequest(source: string): TraceRequest {
    return {
      source,
      options: {
        seed: this.seed,
        ...(Object.keys(this.inputs).length > 0 ? { inputs: { ...this.inputs } } : {}),
        ...(this.gradOutput === null ? {} : { grad_output: this.gradOutput }),
        ...(this.pass === null ? {} : { passes: [this.pass] }),
      },
    };
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function hasGraph(trace: TraceState): boolean {
  return trace.passes.some((pass) => pass.started.graph.nodes.length > 0);
}

/** A single expression such as `sin(x*y) + x`: no statement, no assignment, nothing that could take long. */
export function isExpression(source: string): boolean {
  const text = source.trim();
  if (text === "" || text.length > 200 || text.includes("\n")) return false;
  return !/(?<![=!<>])=(?!=)|[;:"'#]|^\s*(?:import|from|def|class|for|while|if|with|return|print|del|assert)\b/.test(
    text,
  );
}
