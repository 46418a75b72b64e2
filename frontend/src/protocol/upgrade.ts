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
    Object.entries(value).map(([name, each]) => [name, name === "data" ? each : upgradeFirstFormat(each)]),
  );
  return isSaved(upgraded) && !isTensor(upgraded.value)
    ? { ...upgraded, value: null, option: upgraded.value }
    : upgraded;
}

function isSaved(entry: Record<string, unknown>): boolean {
  return "is_input" in entry && "version" in entry;
}

function isTensor(value: unknown): boolean {
  return value === null || (typeof value === "object" && !Array.isArray(value));
}
