/** Which of the things that a node saved are shown as chips. */
import type { SavedTensor } from "../protocol/trace.gen";

/** Of more settings than this (strides, paddings, flags) none is shown: they would bury the tensors. */
const MOST_SETTINGS = 2;

/** Without the engine's bookkeeping, which teaches nothing about the product. */
export function savedWorthShowing<T extends SavedTensor>(all: readonly T[]): readonly T[] {
  const shown = all.filter(isNoBookkeeping);
  return shown.filter(isSetting).length > MOST_SETTINGS ? shown.filter((each) => !isSetting(each)) : shown;
}

function isNoBookkeeping({ name, value, option, note }: SavedTensor): boolean {
  const isKnown = value !== null || option !== undefined || note !== undefined;
  return !/^ctx\.needs_|_sym_(sizes|strides)$/.test(name) && isKnown;
}

function isSetting({ option }: SavedTensor): boolean {
  return option !== undefined;
}
