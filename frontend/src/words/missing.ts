/** A gradient that is not a tensor. Nothing is not zero: each reason has its own mark and its own sentence. */
import type { Fact, Missing, MissingReason } from "../protocol/trace.gen";
import { type Said, textOf } from "./say";
import { tellAttribute, tellSentence } from "./tell";

const REASONS: Readonly<Record<MissingReason, Fact>> = {
  undefined: { kind: "missing-undefined" },
  not_required: { kind: "missing-not-required" },
  returned_none: { kind: "missing-returned-none" },
  no_path: { kind: "missing-no-path" },
  not_computed: { kind: "missing-not-computed" },
};

/** The short label beside the hollow mark. */
export function missingMark({ missing }: Missing): string {
  return textOf(tellAttribute(REASONS[missing], "title") ?? []);
}

/** Why there is no gradient, as a sentence. */
export function missingSaid({ missing, because }: Missing): Said {
  return tellSentence(because ?? REASONS[missing]);
}

/** The same for a tooltip. */
export function missingSentence(missing: Missing): string {
  return textOf(missingSaid(missing));
}
