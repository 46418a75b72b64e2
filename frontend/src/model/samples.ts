/** Real traces for unit tests, folded. */
import { readSample } from "../protocol/samples";
import { nextPhase, type Position } from "./position";
import { emptyTrace, foldEvents, type TraceState } from "./trace";

export function sampleTrace(name: string): TraceState {
  return foldEvents(emptyTrace(), readSample(name).events);
}

/** Every stop of a walk by phases, from a place on. */
export function walkFrom(trace: TraceState, start: Position): readonly Position[] {
  const places = [start];
  for (;;) {
    const here = places.at(-1) ?? start;
    const next = nextPhase(trace, here);
    if (next === here) return places;
    places.push(next);
  }
}
