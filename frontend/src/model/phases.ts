/**
 * The phases of a step by name. A link writes a phase as its place in this list, which no trace changes; which of them
 * a step stops at is told by `stops.ts`.
 */
export type Direction = "forward" | "backward";

export const PHASES = {
  backward: ["collect", "rule", "multiply", "send", "land"],
  forward: ["arrive", "compute", "save"],
} as const;

export type BackwardPhase = (typeof PHASES)["backward"][number];
export type ForwardPhase = (typeof PHASES)["forward"][number];
export type Phase = BackwardPhase | ForwardPhase;

/** As links write it: `7.3` is the third. */
export const PLACES = Object.fromEntries(
  Object.values(PHASES).flatMap((phases) => phases.map((phase, at) => [phase, at + 1])),
) as Readonly<Record<Phase, number>>;

export function isOfBackward(phase: Phase): phase is BackwardPhase {
  return (PHASES.backward as readonly Phase[]).includes(phase);
}

export function firstPhase(direction: Direction): Phase {
  return PHASES[direction][0];
}

export function lastPhase(direction: Direction): Phase {
  return direction === "backward" ? "land" : "save";
}

/** Whether a phase has come where `phase` is on show; both of one walk. */
export function hasCome(wanted: Phase, phase: Phase): boolean {
  return PLACES[phase] >= PLACES[wanted];
}
