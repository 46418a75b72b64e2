/** What components deep inside can use where somebody offers it: a page can do more than an element on any page. */
import { getContext, type Snippet, setContext } from "svelte";
import type { Box } from "../layout/geometry";
import type { Layout } from "../layout/place";
import type { Chain } from "../model/chain";
import type { Span, TensorValue } from "../protocol/trace.gen";
import type { GhostOf } from "../scene/ghosts";
import type { GradcheckQuestion } from "../scene/gradcheck";
import type { Look } from "../scene/map";
import type { View } from "../scene/views";

/** A card on the stage, by its node. */
export interface PlacedCard {
  readonly node: string;
  readonly box: Box;
}

interface Offers {
  /** How large type is, beside 16 px to the rem. */
  readonly typeScale: () => number;
  /** How products are written, one choice for all; null: as is most readable at each step. */
  readonly view: () => View | null;
  readonly chooseView: (view: View) => void;
  /** The chain on show, for what marks it in the graph. */
  readonly chain: () => Chain | null;
  /** What marks a nudge on the stage; null while nothing is nudged. */
  readonly nudged: () => Snippet<[Layout, readonly PlacedCard[], Look]> | null;
  /** How a card's change since the run before is told. */
  readonly ghostOf: GhostOf;
  /** Shows all numbers of a value that was only summed up. */
  readonly showNumbers: (name: string, value: TensorValue) => void;
  /** Computes a local Jacobian that was left out while tracing. */
  readonly computeJacobian: (stepIndex: number, argnum: number) => void;
  /** What v is, where that can be written out. */
  readonly meaningOfV: () => Snippet | null;
  /** Points at a place in the program. */
  readonly pointAt: (span: Span) => void;
  /** What stands beside a gradient to check it by finite differences; the operand's name, where it is of one. */
  readonly gradcheck: Snippet<[GradcheckQuestion, string?]>;
}

const KEY = Symbol("offers");

/** To all that is inside this component, beside what those round it offer. */
export function offer(offers: Partial<Offers>): void {
  setContext(KEY, { ...offered(), ...offers });
}

export function offered(): Partial<Offers> {
  return getContext<Partial<Offers> | undefined>(KEY) ?? {};
}
