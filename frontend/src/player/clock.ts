/**
 * From one position to the next over time. What is seen at a moment is `frameAt(motion, elapsed)`: a position and how
 * far the motion that leads into it has come; nothing reads the page to know where it is.
 */
import type { Position } from "../model/position";
import { phasesBetween, samePosition } from "../model/position";

export const PHASE_MS = 300;
export const DWELL_MS = 1500;
export const SPEEDS: readonly number[] = [0.25, 0.5, 1, 2, 4];
const BACKWARDS_SPEED = 2;

export interface Motion {
  readonly from: Position;
  readonly to: Position;
  /** `play` runs into `to`; `rewind` runs out of `from`; `jump` cross-fades; `cut` has no motion at all. */
  readonly kind: "play" | "rewind" | "jump" | "cut";
  readonly duration_ms: number;
}

/** What is on screen at a moment. */
export interface Frame {
  readonly position: Position;
  /** 0 to 1, of the motion that leads into `position`. */
  readonly progress: number;
  /** 0 to 1: how far the picture has faded in after a jump. */
  readonly fade: number;
  readonly finished: boolean;
}

export function stillFrame(position: Position): Frame {
  return { position, progress: 1, fade: 1, finished: true };
}

/** @param reduced the person asked for no movement: same stops, nothing in between */
export function motionBetween(from: Position, to: Position, speed: number, reduced: boolean): Motion {
  const distance = phasesBetween(from, to);
  const kind =
    reduced || samePosition(from, to) ? "cut" : distance === 1 ? "play" : distance === -1 ? "rewind" : "jump";
  const rate = kind === "rewind" ? speed * BACKWARDS_SPEED : speed;
  return { from, to, kind, duration_ms: kind === "cut" ? 0 : PHASE_MS / rate };
}

export function frameAt(motion: Motion, elapsed_ms: number): Frame {
  const share = motion.duration_ms === 0 ? 1 : Math.min(1, Math.max(0, elapsed_ms) / motion.duration_ms);
  if (share >= 1) return stillFrame(motion.to);
  switch (motion.kind) {
    case "play":
      return { position: motion.to, progress: share, fade: 1, finished: false };
    case "rewind":
      return { position: motion.from, progress: 1 - share, fade: 1, finished: false };
    default:
      return { position: motion.to, progress: 1, fade: share, finished: false };
  }
}

/**
 * Calls `onframe` with the elapsed time until it returns false; the returned function stops it. The first timestamp
 * of a browser can lie before the start, so time is never allowed to run backwards.
 */
export function runFrames(onframe: (elapsed_ms: number) => boolean): () => void {
  let start: number | null = null;
  let elapsed = 0;
  let handle = requestAnimationFrame(function tick(now) {
    start ??= now;
    elapsed = Math.max(elapsed, now - start);
    if (onframe(elapsed)) handle = requestAnimationFrame(tick);
  });
  return () => cancelAnimationFrame(handle);
}
