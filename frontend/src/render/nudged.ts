/** The nudge that the stage marks; only where somebody can run the program again. */
import { createContext } from "svelte";
import type { Nudge } from "../scene/nudge";

export interface NudgeOnStage {
  readonly nudge: Nudge;
  /** How many steps of the forward walk the change has come to. */
  readonly reached: number;
}

/** Null while nothing is nudged. */
export type ReadNudge = () => NudgeOnStage | null;

const [read, offerNudge, isOffered] = createContext<ReadNudge>();

export { offerNudge };

export function nudgeOffered(): ReadNudge {
  return isOffered() ? read() : () => null;
}
