/** What the phases of both walks are called. */

import type { Phase } from "../model/phases";
import type { Position } from "../model/position";
import { type Key, say, textOf } from "./say";

const KEYS = {
  collect: "phase-collect",
  rule: "phase-local-rule",
  multiply: "phase-multiply",
  send: "phase-send",
  land: "phase-land",
  arrive: "phase-arrive",
  compute: "phase-compute",
  save: "phase-save",
} as const satisfies Record<Phase, Key>;

export function phaseName({ step, phase }: Position): string {
  return textOf(say(step === 0 ? "phase-start" : KEYS[phase]));
}
