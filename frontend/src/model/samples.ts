/** Real traces for unit tests, folded. */
import { readSample } from "../protocol/samples";
import { emptyTrace, foldEvents, type TraceState } from "./trace";

export function sampleTrace(name: string): TraceState {
  return foldEvents(emptyTrace(), readSample(name).events);
}
