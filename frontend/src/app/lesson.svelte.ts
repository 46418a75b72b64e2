/** The lesson on top of a trace: which question is open, what may be seen, what the lecturer noted at this place. */
import { type Answer, answered, judge, type Verdict } from "../model/answers";
import { directionsAt } from "../model/directions";
import { maskTrace } from "../model/mask";
import { compare, last, type Position, START, samePosition, stopsOfStep } from "../model/position";
import { momentBefore, type Question, questionAt, questionsOfStep } from "../model/questions";
import type { TraceState } from "../model/trace";
import { fact } from "../protocol/facts";
import { readAtFirst } from "../scene/opening";
import { notesTold } from "../words/notes";
import { type Said, textOf } from "../words/say";
import { tell } from "../words/tell";
import type { ByHand } from "./byhand.svelte";
import type { Session } from "./session.svelte";

function hasPredictions(trace: TraceState): boolean {
  return trace.started?.directions?.some(({ kind }) => kind === "predict") ?? false;
}

function isBeyond(a: Position, b: Position | null): boolean {
  return b === null || (compare(a, b) ?? 0) > 0;
}

/** A hall that is asked the same question: answers go there, and what is hidden stays hidden until it is revealed. */
export interface Hall {
  isAsking(question: string): boolean;
  send(question: string, answer: string): void;
}

type Verdicts = ReadonlyMap<string, Verdict | null>;

export class Lesson {
  /** Of one program, by the question's id; null where it was passed over. */
  private closed = $state.raw<{ program: string | null; verdicts: Verdicts }>({
    program: null,
    verdicts: new Map(),
  });
  private readonly verdicts = $derived.by(
    (): Verdicts => (this.closed.program === this.session.ranSource ? this.closed.verdicts : new Map()),
  );
  /** The furthest place of the backward walk that has been on show. */
  private reached: Position | null = null;
  private reachedIn: string | null = null;

  private pending = $state.raw<{ readonly id: string; readonly answer: Answer } | null>(null);
  /** Set while the page follows a room. */
  hall: Hall | null = null;

  constructor(
    private readonly session: Session,
    private readonly byhand: ByHand,
  ) {}

  readonly notes = $derived.by((): readonly Said[] =>
    notesTold(readAtFirst(this.trace), this.session.position, this.session.view.digits),
  );

  /** The question that stands at this place, answered or not. */
  readonly asked = $derived.by((): Question | null => this.askedAt(this.session.position));

  private askedAt(position: Position): Question | null {
    const { view } = this.session;
    const trace = readAtFirst(this.session.trace);
    if (this.byhand.isOpen) return null;
    const [directed] = directionsAt(trace, position, "predict");
    if (directed === undefined) return view.predict ? questionAt(trace, position) : null;
    const questions = questionsOfStep(trace, position.step);
    const wanted =
      questions.find(({ kind }) => kind === directed.text) ??
      questions.find(({ kind }) => kind === "value" || kind === "grad") ??
      questions[0];
    const here = questions.find((question) => samePosition(question.position, position));
    if (here === undefined || (here.id !== wanted?.id && !view.predict)) return null;
    const isOwnPrompt = here.id === wanted?.id && directed.text !== "" && directed.text !== here.kind;
    return isOwnPrompt ? { ...here, lead: directed.text } : here;
  }

  /**
   * Where a way to `to` has to stop: at the open question, or at the first one that nobody has been asked yet. Null
   * where it is free. What lies before the place where somebody came in is not asked for.
   */
  stopOnTheWay(to: Position): Question | null {
    const { moment, question } = this;
    if (this.reachedIn !== this.session.ranSource) this.reached = null;
    this.reachedIn = this.session.ranSource;
    if (moment.direction === "backward" && isBeyond(moment, this.reached)) this.reached = moment;
    if (to.direction !== "backward") return null;
    if (question !== null && isBeyond(to, moment)) return question;
    return isBeyond(to, this.reached) ? this.firstUnasked(this.reached ?? START, to) : null;
  }

  private firstUnasked(from: Position, to: Position): Question | null {
    const { trace, view } = this.session;
    if (!view.predict && !hasPredictions(trace)) return null;
    for (let step = Math.max(1, from.step); step <= to.step; step += 1) {
      for (const phase of stopsOfStep(trace, "backward", step)) {
        const position = { direction: "backward", step, phase } as const;
        if (!isBeyond(position, from) || isBeyond(position, to)) continue;
        const asked = this.askedAt(position);
        if (asked !== null && !this.verdicts.has(asked.id)) return asked;
      }
    }
    return null;
  }

  /** The first answer that the lecturer wants to have predicted further on: it must not be read off before. */
  private readonly ahead = $derived.by((): Question | null => {
    const { trace, view, position } = this.session;
    if (view.predict || !hasPredictions(trace)) return null;
    const from = position.direction === "backward" ? position : START;
    return this.firstUnasked(from, last(trace, START));
  });

  /** The question that must be answered before the phase is shown; null where there is none. */
  readonly question = $derived.by((): Question | null => {
    const { asked } = this;
    return asked === null || this.verdicts.has(asked.id) ? null : asked;
  });

  /** What was said to the last answer, while its phase is on show. */
  readonly verdict = $derived.by((): Verdict | null => this.verdicts.get(this.asked?.id ?? "") ?? null);

  /** What is on show: where one stands, or before it while a question is open. */
  readonly moment = $derived.by((): Position => {
    const { trace, position } = this.session;
    const { horizon } = this.byhand;
    if (horizon !== null && position.direction === "backward" && (compare(position, horizon) ?? 0) > 0)
      return horizon;
    return this.question === null ? position : momentBefore(trace, this.question);
  });

  /** The trace without what has not been reached, for everything that shows or tells. */
  readonly trace = $derived.by((): TraceState => {
    const { question, ahead, moment, session, byhand } = this;
    const { trace, view } = session;
    if (byhand.horizon !== null) return maskTrace(trace, byhand.horizon);
    if (question !== null || view.predict) return maskTrace(trace, moment, question?.kind);
    return ahead === null ? trace : maskTrace(trace, momentBefore(trace, ahead), ahead.kind);
  });

  readonly isMasking = $derived.by(() => {
    const { question, ahead, session, byhand } = this;
    return (question ?? ahead ?? byhand.horizon) !== null || session.view.predict;
  });

  /** The answer that went to the hall, while it is still hidden there. */
  readonly sent = $derived.by((): Answer | null =>
    this.question !== null && this.pending?.id === this.question.id ? this.pending.answer : null,
  );

  commit(answer: Answer): void {
    const { question } = this;
    if (question === null) return;
    if (this.hall?.isAsking(question.id)) {
      this.pending = { id: question.id, answer };
      this.hall.send(question.id, textOf(tell(fact("told", { text: answered(question, answer) }))));
    } else this.close(question, judge(question, answer));
  }

  /** The hall may see: so may everybody in it, with what they said judged. */
  reveal(): void {
    const { question, sent } = this;
    if (question !== null) this.close(question, sent === null ? null : judge(question, sent));
    this.pending = null;
  }

  skip(): void {
    if (this.question !== null) this.close(this.question, null);
  }

  private close(question: Question, verdict: Verdict | null): void {
    const verdicts = new Map(this.verdicts).set(question.id, verdict);
    this.closed = { program: this.session.ranSource, verdicts };
  }
}
