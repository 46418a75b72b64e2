/** What is said of findings and reasons beside what the trace says in words. */
import { code, enumerated, markedUp, say, text, textOf } from "./say";

/** Over the Jacobian of a custom Function, until finite differences have shown that it is the derivative. */
export function ownJacobian(): string {
  return textOf(say("jacobian-own"));
}

/** Over the Jacobian by finite differences of forward. */
export function trueJacobian(partial: string): string {
  return textOf(say("jacobian-true", { partial: text(partial) }));
}

/** Over a warning: its class, and how often the program gave it. */
export function warningTitle(category: string, count: number): string {
  return count > 1 ? textOf(say("warning-times", { category: text(category), count })) : category;
}

/** Where a derivative comes from: the table from which PyTorch generates its backward functions. */
export function inDerivativesYaml(version: string, lines: readonly string[]): string {
  return markedUp(
    say("origin-table", { version: text(version), lines: enumerated(lines.map((line) => code(line))) }),
  );
}

export function notInDerivativesYaml(version: string): string {
  return markedUp(say("origin-no-line", { version: text(version) }));
}

export function ownFunction(name: string, line: number | null): string {
  if (line === null) return markedUp(say("origin-function", { name: code(name) }));
  return markedUp(say("origin-function-in-line", { name: code(name), line: text(String(line)) }));
}

export function partOfComposite(label: string, version: string): string {
  return markedUp(say("origin-composite", { label: code(label), version: text(version) }));
}
