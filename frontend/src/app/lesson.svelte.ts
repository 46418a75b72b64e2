/** The lesson on top of a trace: which question is open, what may be seen, what the lecturer noted at this place. */
import { type Answer, judge, type Verdict } from "../model/answers";
import { directionsAt } from "../model/directions";
import { maskTrace } from "../model/mask";
import type { Position } from "../model/position";
import { samePosition } from "../model/position";
import { momentBefore, type Question, questionAt, questionsOfStep } from "../model/questions";
import type { TraceState } from "../model/trace";
import type { Session } from "./session.svelte";

export class Lesson {
  /** By the question's id, null where it was passed over; of one program. */
  private answered = $state.raw<ReadonlyMap<string, Verdict | null>>(new Map());
  private program = $state<string | null>(null);

  constructor(private readonly session: Session) {}

  readonly notes = $derived.by((): readonly string[] => {
    const { trace, position } = this.session;
    return directionsAt(trace, position, "note").map(({ text }) => text);
  });

  /** The question that stands at this place, answered or not. */
  private readonly asked = $derived.by((): Question | null => {
    const { trace, position, view } = this.session;
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
    return isOwnPrompt ? { ...here, prompt: `${directed.text} ${here.prompt}` } : here;
  });

  /** The question that must be answered before the phase is shown; null where there is none. */
  readonly question = $derived.by((): Question | null => {
    const { asked } = this;
    return asked === null || (this.isCurrent && this.answered.has(asked.id)) ? null : asked;
  });

  /** What was said to the last answer, while its phase is on show. */
  readonly verdict = $derived.by((): Verdict | null =>
    this.asked === null || !this.isCurrent ? null : (this.answered.get(this.asked.id) ?? null),
  );

  /** What is on show: where one stands, or before it while a question is open. */
  readonly moment = $derived.by((): Position => {
    const { trace, position } = this.session;
    return this.question === null ? position : momentBefore(trace, this.question);
  });

  /** The trace without what has not been reached, for everything that shows or tells. */
  readonly trace = $derived.by((): TraceState => {
    const { trace, view } = this.session;
    const { question, moment } = this;
    if (question === null && !view.predict) return trace;
    return maskTrace(trace, {
      position: moment,
      isSumHidden: question?.kind === "sum",
      isShapeHidden: question?.kind === "shape",
    });
  });

  readonly isMasking = $derived.by(() => this.question !== null || this.session.view.predict);

  commit(answer: Answer): void {
    if (this.question !== null) this.close(this.question, judge(this.question, answer));
  }

  skip(): void {
    if (this.question !== null) this.close(this.question, null);
  }

  private close(question: Question, verdict: Verdict | null): void {
    const before = this.isCurrent ? this.answered : [];
    this.answered = new Map([...before, [question.id, verdict] as const]);
    this.program = this.session.ranSource;
  }

  private get isCurrent(): boolean {
    return this.program === this.session.ranSource;
  }
}
