/**
 * A nudge under way: the program is run again with an input changed, and with parts of that change, which
 * tell of what order the difference is. The newest wish wins; how far the change has run forward is a number.
 */
import { untrack } from "svelte";
import { prefersReducedMotion } from "svelte/motion";
import { withValue } from "../embed/inputs";
import { run } from "../embed/run";
import { passAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import { runFrames } from "../paint/frames";
import { drawNudge, judge, type Nudge, type Verdict } from "../scene/nudge";
import type { TraceOptions } from "../stream/client";
import { label } from "../words/say";
import type { NudgeWish } from "./address";
import { ALONG, pushesOf } from "./pushes";
import type { Session } from "./session.svelte";

interface Found {
  /** The trace that both runs are compared with. */
  readonly id: string;
  readonly wish: NudgeWish;
  /** With the whole change, with half of it and with a quarter; fewer while they are under way. */
  readonly runs: readonly TraceState[];
}

/** Of the change: what is left of the difference tells of what order it is. */
const PARTS = [1, 1 / 2, 1 / 4];
const STEP_MS = 320;
const LONGEST_WALK_MS = 4000;
/** Of the range of changes that is offered. */
const FIRST_CHANGE = 0.2;

export class Nudging {
  isRunning = $state(false);
  trouble = $state<string | null>(null);
  /** How many steps of the forward walk the change has come to. */
  reached = $state(Number.POSITIVE_INFINITY);
  private found = $state.raw<Found | null>(null);
  private wish: NudgeWish | null = null;
  private walked: string | null = null;
  /** The program for which the tangent was offered, which is once. */
  private offered: string | null = null;
  private stopWalking: () => void = () => {};

  readonly choices = $derived.by(() => {
    const trace = this.session.overview ?? this.session.trace;
    return pushesOf(trace, optionsOf(trace).inputs ?? {});
  });
  /** What is nudged; null where the program has nothing of this name. */
  readonly chosen = $derived(this.choices.find(({ name }) => name === this.session.nudge?.entry) ?? null);
  private readonly shown = $derived.by((): Found | null => {
    const { found, session } = this;
    return session.nudge !== null && found !== null && found.id === session.trace.started?.id ? found : null;
  });
  private readonly pass = $derived.by((): number | null => {
    const { trace, position } = this.session;
    return passAt(trace, position)?.index ?? null;
  });
  private readonly nudges = $derived.by((): readonly (Nudge | null)[] => {
    const { pass, shown, session } = this;
    return pass === null ? [] : (shown?.runs ?? []).map((after) => drawNudge(session.trace, after, pass));
  });
  /** Null where nothing has come back yet, or the second run built another graph. */
  readonly nudge = $derived(this.nudges[0] ?? null);
  readonly half = $derived(this.nudges[1] ?? null);
  readonly verdict = $derived.by((): Verdict | null => {
    const [whole, half, quarter] = this.nudges.map((each) => each?.output ?? null);
    return whole == null || half == null || quarter == null ? null : judge(whole, half, quarter);
  });
  /** The second run built another graph. */
  readonly isOther = $derived(this.shown !== null && this.nudge === null);

  constructor(private readonly session: Session) {}

  /** Opens with the first entry that there is. */
  open(): void {
    const [first] = this.choices;
    if (first !== undefined) this.choose(first.name);
  }

  choose(entry: string): void {
    const value = this.choices.find(({ name }) => name === entry)?.value ?? 0;
    this.session.nudge = { entry, by: Number((rangeOf(value) * FIRST_CHANGE).toPrecision(3)) };
  }

  changeBy(by: number): void {
    const { nudge } = this.session;
    if (nudge !== null) this.session.nudge = { ...nudge, by };
  }

  close(): void {
    this.session.nudge = null;
    this.walked = null;
  }

  /** To be called whenever the wish or the trace has changed; runs what is not known yet. */
  follow(): void {
    const { nudge, trace } = this.session;
    const id = trace.started?.id;
    const source = trace.started?.source ?? null;
    if (trace.finished !== null && this.choices[0]?.name === ALONG && this.offered !== source) {
      this.offered = source;
      if (nudge === null) this.open();
    }
    if (nudge === null || trace.finished === null || id === undefined || this.chosen === null) {
      this.wish = null;
      return;
    }
    if (this.found?.id === id && isSame(this.found.wish, nudge)) return;
    this.wish = nudge;
    if (!untrack(() => this.isRunning)) void this.runWishes();
  }

  /** Runs the change forward along the walk once more. */
  walk(): void {
    this.stopWalking();
    const length = this.nudge?.length ?? 0;
    const duration = prefersReducedMotion.current ? 0 : Math.min(length * STEP_MS, LONGEST_WALK_MS);
    this.reached = duration === 0 ? Number.POSITIVE_INFINITY : 0;
    if (duration === 0) return;
    this.stopWalking = runFrames((elapsed) => {
      const isOver = elapsed >= duration;
      this.reached = isOver ? Number.POSITIVE_INFINITY : (elapsed / duration) * length;
      return !isOver;
    });
  }

  private async runWishes(): Promise<void> {
    this.isRunning = true;
    while (this.wish !== null) {
      const { wish } = this;
      const { trace } = this.session;
      this.wish = null;
      try {
        await this.runParts(trace, wish);
      } catch (error) {
        this.trouble = label("player-nudge-failed", { reason: (error as Error).message });
      }
    }
    this.isRunning = false;
  }

  private async runParts(trace: TraceState, wish: NudgeWish): Promise<void> {
    const id = trace.started?.id;
    const runs: TraceState[] = [];
    for (const part of PARTS) {
      const after = await this.runChanged(trace, { ...wish, by: wish.by * part });
      if (id === undefined || after === null) return;
      this.trouble = null;
      this.found = { id, wish, runs: [...runs, after] };
      runs.push(after);
      if (this.walked !== wish.entry) {
        this.walked = wish.entry;
        this.walk();
      }
      if (this.wish !== null) return;
    }
  }

  /** The finished run with the change; null where there is nothing of this name any more. */
  private async runChanged(trace: TraceState, { entry, by }: NudgeWish): Promise<TraceState | null> {
    const choice = this.choices.find(({ name }) => name === entry);
    const { started } = trace;
    if (choice === undefined || started === null) return null;
    const options = optionsOf(trace);
    const inputs = { ...options.inputs };
    for (const [key, value] of choice.inputs(by)) inputs[key] = withValue(inputs[key], value);
    let arrived: TraceState | null = null;
    await run({ source: started.source, options: { ...options, inputs } }, (each) => {
      arrived = each;
    });
    return arrived;
  }
}

/** How far an entry of this value may be changed either way: of its own magnitude, at least half a unit. */
export function rangeOf(value: number): number {
  const magnitude = Number.isFinite(value) && value !== 0 ? 10 ** Math.floor(Math.log10(Math.abs(value))) : 1;
  return Math.max(0.5, magnitude / 2);
}

function optionsOf(trace: TraceState): TraceOptions {
  return (trace.started?.options ?? {}) as TraceOptions;
}

function isSame(a: NudgeWish, b: NudgeWish): boolean {
  return a.entry === b.entry && a.by === b.by;
}
