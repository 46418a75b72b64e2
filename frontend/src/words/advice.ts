/** Titles over Jacobians and warnings, and where PyTorch has a derivative from. */
import { code, type Said, say, text, textOf } from "./say";

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
export function inDerivativesYaml(version: string): Said {
  return say("origin-table", { version: text(version) });
}

export function notInDerivativesYaml(version: string): Said {
  return say("origin-no-line", { version: text(version) });
}

/** Which of the three ways a function of one's own needs. */
export function wayToChoose(): Said {
  return say("origin-choice");
}

export function partOfComposite(label: string, version: string): Said {
  return say("origin-composite", { label: code(label), version: text(version) });
}
