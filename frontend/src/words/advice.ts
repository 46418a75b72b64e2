/** What is said of findings and reasons beside what the trace says in words. */
import type { MissingCause } from "../protocol/trace.gen";
import { code, enumerated, markedUp, type Said, say, text, textOf } from "./say";

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

/** What to write instead, where the reason does not say it itself, so that `leaf` gets a gradient; what stands between backticks is code. */
export function instead(leaf: string, cause: MissingCause): string {
  return markedUp(insteadSaid(code(leaf), cause));
}

function insteadSaid(leaf: Said, { kind, call }: MissingCause): Said {
  switch (kind) {
    case "detach":
      return say("instead-detach", { call: text(call ?? "detach"), leaf });
    case "data":
      return say("instead-data", { leaf });
    case "numbers":
      return say("instead-numbers", { call: code(call ?? "item") });
    case "no_grad":
      return say("instead-no-grad");
    case "rebuilt":
      return say("instead-rebuilt", { call: text(call ?? "tensor") });
    case "discrete":
      return say("instead-discrete");
    case "cut":
      return say("instead-cut");
    case "non_leaf":
      return [];
    case "unused":
      return say("instead-unused", { leaf });
    case "not_in_output":
      return say("instead-not-in-output");
    case "integer":
      return say("instead-integer", { leaf });
    case "not_required":
      return say("instead-not-required", { leaf });
    case "frozen":
      return say("instead-frozen", { leaf });
    case "reassigned":
      return say("instead-reassigned");
    default:
      return assertNever(kind);
  }
}

/** Of leaves that share a reason. */
export function alsoOthers(others: readonly string[]): string {
  if (others.length === 0) return "";
  const named = enumerated(others.slice(0, OTHERS_LISTED).map((name) => code(name)));
  const more = others.length - OTHERS_LISTED;
  return markedUp(
    more > 0 ? say("also-others-more", { names: named, count: more }) : say("also-others", { names: named }),
  );
}

const OTHERS_LISTED = 4;

function assertNever(kind: never): never {
  throw new Error(`no advice for ${String(kind)}`);
}
