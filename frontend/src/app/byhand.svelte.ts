/** The learner writes the backward pass: what was written, what came of it, and up to where the trace may be seen. */
import type { Verdict } from "../model/answers";
import {
  agreesWithDifferences,
  horizonOf,
  type Intermediate,
  intermediatesOf,
  judgeWritten,
  programOf,
  readWritten,
  senderOf,
  throughJacobian,
  type Unsuited,
  type Written,
} from "../model/byhand";
import { added, elementCount } from "../model/matrix";
import { numbersOf } from "../model/numbers";
import { type Position, START } from "../model/position";
import { passAt } from "../model/selectors";
import type { PassState } from "../model/trace";
import { fact } from "../protocol/facts";
import type { Event, GradcheckReport, Problem } from "../protocol/trace.gen";
import { runTrace } from "../stream/client";
import { label, type Said, textOf } from "../words/say";
import { tell, tellProblem, titleOf } from "../words/tell";
import { isExpression, type Session } from "./session.svelte";

/** What is said about one line. */
export interface Remark {
  readonly verdict: Verdict;
  /** What finite differences say to it; null while they are being asked. */
  readonly differences: string | null;
}

export class ByHand {
  /** By the variable of the gradient. */
  written = $state<Record<string, string>>({});
  /** By `keyOf`, as what is known. */
  private remarks = $state.raw<ReadonlyMap<string, Remark>>(new Map());
  /** Why nothing could be checked at all. */
  trouble = $state.raw<Said | null>(null);
  isRunning = $state(false);
  private known = $state.raw<ReadonlySet<string>>(new Set());
  private readonly reports = new Map<string, Promise<GradcheckReport[] | Problem>>();

  constructor(private readonly session: Session) {}

  readonly isOpen = $derived.by(() => this.session.view.byhand);
  private readonly pass = $derived.by((): PassState | null =>
    passAt(this.session.trace, this.session.position),
  );
  /** Which pass of which trace is written. */
  private readonly subject = $derived.by(() => `${this.session.trace.started?.id} ${this.pass?.index}`);

  /** Null while the trace is arriving. */
  readonly intermediates = $derived.by((): readonly Intermediate[] | Unsuited | null => {
    if (this.session.trace.finished === null) return null;
    return this.pass === null ? { because: fact("ask-write-no-pass") } : intermediatesOf(this.pass);
  });

  /** Those that can be written; none where there are none or it is not known yet. */
  readonly listed = $derived.by((): readonly Intermediate[] =>
    Array.isArray(this.intermediates) ? this.intermediates : [],
  );

  isKnown(variable: string): boolean {
    return this.known.has(keyOf(this.subject, variable));
  }

  remarkOn(variable: string): Remark | null {
    return this.remarks.get(keyOf(this.subject, variable)) ?? null;
  }

  readonly unsolved = $derived.by((): readonly Intermediate[] =>
    this.listed.filter(({ isGiven, variable }) => !isGiven && !this.isKnown(variable)),
  );

  /** How much of the trace may be seen; null: all of it. */
  readonly horizon = $derived.by((): Position | null => {
    if (!this.isOpen) return null;
    if (this.intermediates === null) return START;
    return horizonOf(this.session.trace, this.unsolved);
  });

  /** Gives one gradient away. */
  reveal(variable: string): void {
    this.trouble = null;
    this.know(keyOf(this.subject, variable));
  }

  /** Runs what was written, says what came of each line, then asks finite differences about it. */
  async check(): Promise<void> {
    const { pass, listed, subject } = this;
    if (pass === null || this.isRunning) return;
    this.isRunning = true;
    try {
      const found = await this.run(subject, listed);
      const judged = listed.flatMap((each) => {
        const written = found.get(each.variable);
        if (written === undefined) return [];
        return [{ each, written, key: keyOf(subject, each.variable), verdict: judgeWritten(each, written) }];
      });
      for (const { key, verdict } of judged) {
        this.remark(key, { verdict, differences: null });
        if (verdict.isRight) this.know(key);
      }
      for (const { each, written, key, verdict } of judged)
        this.remark(key, { verdict, differences: await this.compare(pass, each, written) });
    } finally {
      this.isRunning = false;
    }
  }

  private know(key: string): void {
    this.known = new Set(this.known).add(key);
  }

  private remark(key: string, remark: Remark): void {
    this.remarks = new Map(this.remarks).set(key, remark);
  }

  /** A line that raises is told about and left out, so that the others are still checked. */
  private async run(subject: string, listed: readonly Intermediate[]): Promise<ReadonlyMap<string, Written>> {
    const { session } = this;
    const rest = new Map(Object.entries(this.written));
    this.remarks = new Map();
    this.trouble = null;
    for (;;) {
      const program = programOf(session.source, isExpression(session.source), listed, rest);
      if ("because" in program) {
        this.trouble = tell(program.because);
        return new Map();
      }
      const { stdout, problem } = await this.play(program.text);
      const row = problem?.span == null ? undefined : program.rowOfLine.get(problem.span.line);
      if (problem === null || row === undefined) {
        const found = readWritten(stdout);
        if (problem !== null && found.size === 0) this.trouble = tellProblem(problem);
        return found;
      }
      this.remark(keyOf(subject, row), {
        verdict: {
          isRight: false,
          said: fact("page-by-hand-raised", {
            title: textOf(titleOf(problem)),
            message: textOf(tellProblem(problem)),
          }),
        },
        differences: "",
      });
      rest.delete(row);
    }
  }

  private async play(source: string): Promise<{ stdout: string; problem: Problem | null }> {
    const { inputs, seed } = this.session;
    const events: Event[] = [];
    const outcome = await runTrace(
      { source, options: { seed, ...(Object.keys(inputs).length > 0 ? { inputs: { ...inputs } } : {}) } },
      { signal: AbortSignal.timeout(60_000), onstatus: () => {}, onevents: (fresh) => events.push(...fresh) },
    );
    const stdout = events.flatMap((event) => (event.type === "stdout" ? [event.text] : [])).join("");
    if (outcome.kind === "refused") return { stdout, problem: outcome.problem };
    return { stdout, problem: events.find((event) => event.type === "problem") ?? null };
  }

  private async compare(pass: PassState, intermediate: Intermediate, written: Written): Promise<string> {
    const numeric = await this.numericGradient(pass, intermediate);
    if (typeof numeric === "string") return label("page-by-hand-unknown", { why: numeric });
    return label(agreesWithDifferences(numeric, written) ? "page-by-hand-agree" : "page-by-hand-disagree");
  }

  /** The sum of v times the numeric Jacobian over all that send to it, or why there is none. */
  private async numericGradient(
    pass: PassState,
    { gradient, contributions }: Intermediate,
  ): Promise<readonly number[] | string> {
    const columns = elementCount(gradient.shape);
    const parts: (readonly number[])[] = [];
    for (const contribution of contributions) {
      const sender = senderOf(pass, contribution);
      if (sender === null) {
        parts.push(numbersOf(contribution.value) ?? []);
        continue;
      }
      const reports = await this.reportsOn(sender.step.index, sender.argnum);
      if (!Array.isArray(reports)) return textOf(tellProblem(reports));
      for (const { numeric, because, output_nr } of reports) {
        if (numeric?.data === undefined) return textOf(tell(because));
        parts.push(throughJacobian(sender.step.grad_outputs[output_nr ?? 0], numeric, columns));
      }
    }
    return parts.reduce(added);
  }

  private reportsOn(stepIndex: number, argnum: number): Promise<GradcheckReport[] | Problem> {
    const key = `${this.session.trace.started?.id} ${stepIndex}.${argnum}`;
    const known = this.reports.get(key) ?? this.session.check({ stepIndex, argnum });
    this.reports.set(key, known);
    return known;
  }
}

const keyOf = (subject: string, variable: string): string => `${subject} ${variable}`;
