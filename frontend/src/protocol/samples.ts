/** Real traces for unit tests: the golden ones that both languages read. */
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

const FOLDER = new URL("../../../tests/golden/", import.meta.url);

/** The slugs of all golden traces: every shipped example. */
export const GOLDENS: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -".json".length));

/** Beside them, operations whose Jacobians differ in structure: `tests/examples/test_structures.py`. */
export const STRUCTURES: readonly string[] = readdirSync(new URL("structures/", FOLDER)).map(
  (file) => `structures/${file.slice(0, -".json".length)}`,
);

/** As it is kept. */
export function readSampleText(name: string): string {
  return readFileSync(fileURLToPath(new URL(`${name}.json`, FOLDER)), "utf8");
}

export function readSample(name: string): TraceDocument {
  return decodeDocument(readSampleText(name));
}
