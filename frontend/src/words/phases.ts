/** What the phases of both walks are called. */
import type { Direction, Position } from "../model/position";
import { type Key, say, textOf } from "./say";

const KEYS = {
  backward: ["phase-collect", "phase-local-rule", "phase-multiply", "phase-send", "phase-land"],
  forward: ["phase-arrive", "phase-compute", "phase-save"],
} as const satisfies Record<Direction, readonly Key[]>;

export function phaseNames(direction: Direction): readonly string[] {
  return KEYS[direction].map((key) => textOf(say(key)));
}

export function phaseName({ direction, step, phase }: Position): string {
  return step === 0 ? textOf(say("phase-start")) : (phaseNames(direction)[phase - 1] ?? "");
}
