/**
 * From one position to the next over time. What is seen at a moment is `frameAt(motion, elapsed)`: a position and how
 * far the motion that leads into it has come; nothing reads the page to know where it is.
 */
import type { Position } from "../model/position";
import { nextPhase, previousPhase, samePosition } from "../model/position";
import { addsUp, nodeAt, stepAt } from "../model/selectors";
import { resultStop } from "../model/stops";
import type { TraceState } from "../model/trace";

export const PHASE_MS = 300;
/** Entry after entry, a product takes longer to be followed; */
export const MULTIPLY_MS = 1200;
/** and what falls into a sum or into `.grad`, or keeps its numbers. */
export const ADD_MS = 800;
/** Of a jump, in which no equation and no new card is drawn: along a drag over many steps they come where it rests. */
const UNDRAWN_SHARE = 1 / 2;
export const DWELL_MS = 1500;
export const SPEEDS: readonly number[] = [0.25, 0.5, 1, 2, 4];
const BACKWARDS_SPEED = 2;

export interface Motion {
  readonly from: Position;
  readonly to: Position;
  /** `play` runs into `to`; `rewind` runs out of `from`; `jump` fades the equation in; `cut` has no motion at all. */
  readonly kind: "play" | "rewind" | "jump" | "cut";
  readonly duration_ms: number;
}

/** What is on screen at a moment. */
export interface Frame {
  readonly position: Position;
  /** What is said: the sentence of a stop comes when the motion into it is over. */
  readonly said: Position;
  /** 0 to 1, of the motion that leads into `position`. */
  readonly progress: number;
  /** 0 to 1: how far the equation has faded in after a jump. */
  readonly fade: number;
  readonly finished: boolean;
}

export function stillFrame(position: Position): Frame {
  return { position, said: position, progress: 1, fade: 1, finished: true };
}

/** @param reduced the person asked for no movement: same stops, nothing in between */
export function motionBetween(
  trace: TraceState,
  from: Position,
  to: Position,
  speed: number,
  reduced: boolean,
): Motion {
  const kind = reduced ? "cut" : kindOf(trace, from, to);
  const rate = kind === "jump" ? 1 : kind === "rewind" ? speed * BACKWARDS_SPEED : speed;
  return { from, to, kind, duration_ms: kind === "cut" ? 0 : lengthOf(trace, kind, from, to) / rate };
}

function lengthOf(trace: TraceState, kind: Motion["kind"], from: Position, to: Position): number {
  const position = kind === "rewind" ? from : to;
  const step = stepAt(trace, position);
  if (kind === "jump" || step === null) return PHASE_MS;
  if (addsUp(step, position) || (step.accumulate !== null && position.phase === "land")) return ADD_MS;
  if (position.phase !== resultStop(step, nodeAt(trace, position))) return PHASE_MS;
  return position.phase === "multiply" ? MULTIPLY_MS : ADD_MS;
}

/** To the stop after runs forward, to the one before runs back; from farther away there is nothing to run through. */
function kindOf(trace: TraceState, from: Position, to: Position): Motion["kind"] {
  if (samePosition(from, to)) return "cut";
  if (samePosition(nextPhase(trace, from), to)) return "play";
  return samePosition(previousPhase(trace, from), to) ? "rewind" : "jump";
}

export function frameAt(motion: Motion, elapsed_ms: number): Frame {
  const share = motion.duration_ms === 0 ? 1 : Math.min(1, Math.max(0, elapsed_ms) / motion.duration_ms);
  if (share >= 1) return stillFrame(motion.to);
  switch (motion.kind) {
    case "play":
      return { position: motion.to, said: motion.from, progress: share, fade: 1, finished: false };
    case "rewind":
      return { position: motion.from, said: motion.to, progress: 1 - share, fade: 1, finished: false };
    default: {
      const fade = Math.max(0, (share - UNDRAWN_SHARE) / (1 - UNDRAWN_SHARE));
      return { position: motion.to, said: motion.to, progress: 1, fade, finished: false };
    }
  }
}
