/** What a viewer shows: a trace, a place in it, and what its author wants seen. Elements, frames and files steer it. */
import { PLACES } from "../model/phases";
import type { Move, Position } from "../model/position";
import { clampPosition, formatPosition, START, samePosition } from "../model/position";
import { emptyTrace, type TraceState } from "../model/trace";
import { DEFAULT_OPTIONS, type PlayerOptions } from "../render/options";
import { sentenceAt } from "../words/sentences";
import { edgeOf, moved, type Range, type Side, stopsOf, within } from "./moves";
import type { Inputs, Rerun } from "./rerun";

/** What an author may take away. */
export const PARTS = [
  "title",
  "link",
  "program",
  "table",
  "narration",
  "transport",
  "equation",
  "zoom",
] as const;
export type Part = (typeof PARTS)[number];

export interface StepDetail {
  readonly step: number;
  readonly phase: number;
  /** Steps in all. */
  readonly of: number;
  /** As in an address, `7.3`. */
  readonly place: string;
  readonly sentence: string;
}

export interface Listener {
  onstep: () => void;
  onedge: (side: Side) => void;
}

export class Viewer {
  trace = $state.raw<TraceState>(emptyTrace());
  /** As asked; `position` is the nearest place that there is. */
  wanted = $state.raw<Position>(START);
  options = $state.raw<PlayerOptions>(DEFAULT_OPTIONS);
  hidden = $state.raw<ReadonlySet<Part>>(new Set());
  range = $state.raw<Range | null>(null);
  /** Off: every key is left to the page round it. */
  keys = $state(true);
  /** Keys work without focus too: the viewer has the page to itself. */
  pageKeys = $state(false);
  playing = $state(false);
  heading = $state("");
  /** Where the program can be changed; none is shown without it. */
  fullTool = $state<string | null>(null);
  /** Something went wrong: a sentence. */
  trouble = $state<string | null>(null);
  /** Somebody said where it is to open, be it at the start. */
  isPlaced = false;
  /** A program that somebody sent: it is read before it is run. */
  offer = $state.raw<{ source: string; accept: () => void } | null>(null);

  /** Inputs may be changed, where somebody can run the program. */
  interactive = $state(false);
  /** What a person or a message set. */
  inputs = $state.raw<Inputs>({});
  /** Null where nobody can run the program: what is shown is a replay. */
  rerun = $state.raw<Rerun | null>(null);

  readonly position = $derived(clampPosition(this.trace, within(this.wanted, this.range)));
  /** Every place of the walk in order, as in an address. */
  readonly stops = $derived(stopsOf(this.trace, this.range).map(formatPosition));

  constructor(readonly listener: Listener) {}

  get state(): StepDetail {
    const { trace, position } = this;
    return {
      step: position.step,
      phase: PLACES[position.phase],
      of: trace.steps.length,
      place: formatPosition(position),
      sentence: sentenceAt(trace, position, this.options.precision),
    };
  }

  /** Runs the program with these inputs beside those set before; false where that cannot be. */
  setInputs(inputs: Inputs): boolean {
    if (!this.interactive || this.rerun === null) return false;
    this.inputs = { ...this.inputs, ...inputs };
    void this.rerun.ask(this.inputs);
    return true;
  }

  resetInputs(): void {
    this.inputs = {};
    void this.rerun?.ask({});
  }

  goTo(position: Position): void {
    const before = this.position;
    this.wanted = within(position, this.range);
    if (!samePosition(before, this.position)) this.listener.onstep();
  }

  /** Somebody said where it is to stand. */
  placeAt(position: Position): void {
    this.isPlaced = true;
    this.goTo(position);
  }

  /** As its key would. */
  move(move: Move): void {
    this.playing = false;
    const side = edgeOf(this.trace, this.position, move, this.range);
    if (side !== null) this.listener.onedge(side);
    else this.goTo(moved(this.trace, this.position, move, this.range));
  }
}
