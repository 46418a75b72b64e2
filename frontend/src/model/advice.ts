/**
 * What is said of findings and reasons beside what the trace says in words. Kept together, so that it can move to the
 * catalogue of sentences in one piece.
 */
import type { MissingCause } from "../protocol/trace.gen";

/** Over the Jacobian of a custom Function, until finite differences have shown that it is the derivative. */
export const OWN_JACOBIAN = "J as your backward computes it";

/** Over the Jacobian by finite differences of forward. */
export function trueJacobian(partial: string): string {
  return `true J = ${partial}, by finite differences of forward`;
}

/** Over a warning: its class, and how often the program gave it. */
export function warningTitle(category: string, count: number): string {
  return count > 1 ? `${category}, ${count} times` : category;
}

/** Where a derivative comes from: the table from which PyTorch generates its backward functions. */
export function inDerivativesYaml(version: string, lines: readonly string[]): string {
  return `PyTorch ${version} has this operation in \`derivatives.yaml\`: ${lines.map((line) => `\`${line}\``).join(", ")}.`;
}

export function notInDerivativesYaml(version: string): string {
  return `\`derivatives.yaml\` of PyTorch ${version} has no line for this node.`;
}

export function ownFunction(name: string, line: number | null): string {
  return `Your Function \`${name}\` has the derivative${line === null ? "" : `: its \`backward\` in line ${line}`}.`;
}

export function partOfComposite(label: string, version: string): string {
  return `It is a part of \`${label}\`, which is composite in PyTorch ${version} (CompositeImplicit, or Python): built of other operations, each with a derivative of its own.`;
}

/** What to write instead, where the reason does not say it itself, so that `leaf` gets a gradient; what stands between backticks is code. */
export function instead(leaf: string, { kind, call }: MissingCause): string {
  switch (kind) {
    case "detach":
      return `Leave out \`.${call ?? "detach"}()\` there if the gradient should reach \`${leaf}\`.`;
    case "data":
      return `Write \`${leaf}\` instead of \`${leaf}.data\` if the gradient should reach it.`;
    case "numbers":
      return `Compute with the tensor itself instead of the number that \`${call ?? "item"}\` reads out of it.`;
    case "no_grad":
      return "Move that computation out of the `no_grad` block if the gradient should go through it.";
    case "rebuilt":
      return `\`torch.${call ?? "tensor"}\` copies values. Use the tensor itself, or join tensors by \`torch.stack\` or \`torch.cat\`.`;
    case "discrete":
      return "Whole numbers and booleans have no slope. Compute with what they were made from (softmax instead of argmax, for example).";
    case "cut":
      return "Use an operation of torch that keeps the history.";
    case "non_leaf":
      return "";
    case "unused":
      return `Use \`${leaf}\` in what backward starts from.`;
    case "not_in_output":
      return "Add what was computed there to what backward starts from.";
    case "integer":
      return `Make it of floating point: \`${leaf}.float().requires_grad_()\`.`;
    case "not_required":
      return `Make it with \`requires_grad=True\`, or call \`${leaf}.requires_grad_()\` before it is used.`;
    case "frozen":
      return `Call \`${leaf}.requires_grad_(True)\` before it is used, if it should learn.`;
    case "reassigned":
      return "Keep the first tensor under a name of its own, or change it in place under `torch.no_grad()`.";
    default:
      return assertNever(kind);
  }
}

/** Of leaves that share a reason. */
export function alsoOthers(others: readonly string[]): string {
  if (others.length === 0) return "";
  const listed = others.slice(0, OTHERS_LISTED).map((name) => `\`${name}\``);
  const more = others.length - listed.length;
  return `The same holds for ${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}

const OTHERS_LISTED = 4;

function assertNever(kind: never): never {
  throw new Error(`no advice for ${String(kind)}`);
}
