/** Real traces for unit tests: some of the golden ones that both languages read. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TraceDocument } from "../protocol/trace.gen";
import type { TraceState } from "./trace";
import { emptyTrace, foldEvents } from "./trace";

export const SAMPLES = [
  "why-grad-output",
  "attention",
  "mlp-step",
  "x-times-x",
  "gradient-accumulation",
  "none-zeros-undefined",
  "double-backward",
] as const;

export function readSample(name: string): TraceDocument {
  const path = fileURLToPath(new URL(`../../../tests/golden/${name}.json`, import.meta.url));
  return JSON.parse(readFileSync(path, "utf8")) as TraceDocument;
}

export function sampleTrace(name: string): TraceState {
  return foldEvents(emptyTrace(), readSample(name).events);
}
