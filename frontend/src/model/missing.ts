/** A gradient that is not a tensor, in words. Nothing is not zero: each reason has its own mark and its own sentence. */
import type { Missing, MissingReason } from "../protocol/trace.gen";

const MARKS: Readonly<Record<MissingReason, string>> = {
  undefined: "undefined",
  not_required: "not required",
  returned_none: "None",
  no_path: "no path",
  not_computed: "not computed",
};

const REASONS: Readonly<Record<MissingReason, string>> = {
  undefined: "The engine passed an undefined tensor: no gradient, which acts as zero.",
  not_required: "This input does not require a gradient, so none was computed.",
  returned_none: "The backward function returned None for this input.",
  no_path: "Nothing reached it in this pass.",
  not_computed: "Not computed: the pass has not reached it.",
};

/** The short label beside the hollow mark. */
export function missingMark(missing: Missing): string {
  return MARKS[missing.missing];
}

/** Why there is no gradient, as a sentence. */
export function missingSentence(missing: Missing): string {
  return missing.because ?? REASONS[missing.missing];
}
