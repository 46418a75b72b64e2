/**
 * The same program under other inputs: asked of the server that keeps it, one run at a time, the newest wish last.
 * What is asked for may come from any page round a frame, so it is read as numbers and nothing else.
 */
import type { TraceState } from "../model/trace";
import type { Nested, TraceRequest } from "../stream/client";
import { label } from "../words/say";
import { fetchFresh, openTrace } from "./load";
import { run } from "./run";

export type Inputs = Readonly<Record<string, Nested>>;

const NAME = /^[\p{L}_][\p{L}\p{N}_.]{0,79}$/u;
const MOST_INPUTS = 32;
const MOST_NUMBERS = 256;
const DEEPEST = 4;
const KEPT = /^(.*\/embed\/[0-9a-f]{40})\/trace\.json$/;

/** Names with numbers or nested lists of numbers; null for anything else. */
export function readInputs(value: unknown): Inputs | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > MOST_INPUTS) return null;
  let room = MOST_NUMBERS;
  const isNested = (each: unknown, depth: number): each is Nested => {
    if (typeof each === "number" && Number.isFinite(each)) return --room >= 0;
    if (!Array.isArray(each) || depth === 0 || each.length > MOST_NUMBERS) return false;
    // Not `each.every`, which passes over holes.
    return Array.from(each).every((part) => isNested(part, depth - 1));
  };
  const inputs: Record<string, Nested> = Object.create(null);
  for (const [name, each] of entries) {
    if (!NAME.test(name) || !isNested(each, DEEPEST)) return null;
    inputs[name] = each;
  }
  return inputs;
}

/** Runs with these inputs in the place of those before, and hands over the trace. */
export type Runner = (inputs: Inputs, ontrace: (trace: TraceState) => void) => Promise<void>;

/** Of a program that a server keeps: `src` is the address of its trace. Null for any other trace. */
export function runnerOf(src: string | null): Runner | null {
  const kept = src === null ? null : KEPT.exec(src);
  if (kept === null) return null;
  return async (inputs, ontrace) => {
    const text = await fetchFresh(`${kept[1]}/trace.json?i=${encodeURIComponent(JSON.stringify(inputs))}`);
    ontrace(await openTrace(text, false));
  };
}

/** Of a program in a frame's own address. */
export function runnerOfRequest({ source, options }: TraceRequest): Runner {
  return (inputs, ontrace) =>
    run({ source, options: { ...options, inputs: { ...options.inputs, ...inputs } } }, ontrace);
}

/** One run at a time: while one is under way the newest wish waits, those between are passed over. */
export class Rerun {
  #isBusy = false;
  #wish: Inputs | null = null;

  constructor(
    private readonly runner: Runner,
    private readonly ontrace: (trace: TraceState, inputs: Inputs) => void,
    private readonly ontrouble: (sentence: string) => void,
  ) {}

  async ask(inputs: Inputs): Promise<void> {
    this.#wish = inputs;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#wish !== null) {
      const asked = this.#wish;
      this.#wish = null;
      try {
        await this.runner(asked, (trace) => {
          if (this.#wish === null && trace.finished !== null) this.ontrace(trace, asked);
        });
      } catch (error) {
        this.ontrouble(label("player-inputs-not-run", { reason: (error as Error).message }));
      }
    }
    this.#isBusy = false;
  }
}
