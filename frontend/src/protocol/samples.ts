/**
 * Real traces for unit tests: the golden ones that both languages read.
 *
 * Where `GRADWALK_TRACES` names a folder (`python -m tests.examples.traced FOLDER`), those in it too.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decodeDocument } from "./decode";
import type { TraceDocument } from "./trace.gen";

/** Some that differ in kind. */
export const SAMPLES = [
  "why-grad-output",
  "attention",
  "mlp-step",
  "x-times-x",
  "gradient-accumulation",
  "none-zeros-undefined",
  "double-backward",
] as const;

const FOLDERS = [
  fileURLToPath(new URL("../../../tests/golden/", import.meta.url)),
  ...(process.env.GRADWALK_TRACES ? [`${process.env.GRADWALK_TRACES}/`] : []),
];

const PATHS: ReadonlyMap<string, string> = new Map(
  FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => [file.slice(0, -".json".length), folder + file] as const),
  ),
);

/** The names of all traces at hand. */
export const TRACES: readonly string[] = [...PATHS.keys()].sort();

/** Those of these that are at hand: all where `GRADWALK_TRACES` is set. */
export function atHand(...names: readonly string[]): readonly string[] {
  return names.filter((name) => PATHS.has(name));
}

/** As it is kept. */
export function readSampleText(name: string): string {
  const path = PATHS.get(name);
  if (path === undefined) throw new Error(`no trace of ${name} is at hand`);
  return readFileSync(path, "utf8");
}

export function readSample(name: string): TraceDocument {
  return decodeDocument(readSampleText(name));
}
