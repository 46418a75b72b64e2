import { base64Of } from "./base64";
import type { Thumbnail } from "./trace.gen";

/**
 * Traces of format 1, as pages and files hold them that older versions made: their values stand where they belong, so
 * all that is in the way of reading them is what a number stood for.
 */
export function upgradeFirstFormat(value: unknown[]): unknown[];
export function upgradeFirstFormat(value: unknown): unknown;
export function upgradeFirstFormat(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => upgradeFirstFormat(each));
  if (typeof value !== "object" || value === null) return value;
  const upgraded = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, upgradeField(name, each)]),
  );
  return isSaved(upgraded) && !isTensor(upgraded.value)
    ? { ...upgraded, value: null, option: upgraded.value }
    : upgraded;
}

function upgradeField(name: string, value: unknown): unknown {
  if (name === "data") return value;
  return name === "thumbnail" ? withCells(value as Decimals) : upgradeFirstFormat(value);
}

interface Decimals {
  readonly shape: number[];
  readonly data: (number | string)[];
}

/** A thumbnail of decimals as one of cells. */
function withCells({ shape, data }: Decimals): Thumbnail {
  const numbers = data.map(Number);
  const largest = Math.max(0, ...numbers.filter(Number.isFinite).map(Math.abs)) || 1;
  const cells = Int8Array.from(numbers, (number) => {
    if (Number.isNaN(number)) return -128;
    const share = Number.isFinite(number) ? Math.round((Math.abs(number) / largest) * 126) : 127;
    return Math.sign(number) * Math.max(1, share);
  });
  return { shape, cells: base64Of(new Uint8Array(cells.buffer)) };
}

function isSaved(entry: Record<string, unknown>): boolean {
  return "is_input" in entry && "version" in entry;
}

function isTensor(value: unknown): boolean {
  return value === null || (typeof value === "object" && !Array.isArray(value));
}
