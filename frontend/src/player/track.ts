/** The track of a walk: how much of it is behind, and where its steps and their stops are. */

/** More ticks than this would be a grey bar. */
const MOST_STEPS = 80;
const MOST_STOPS = 160;

/** From 0 to 1; a step's last stop is at its tick, the others divide the way to it. */
export function reachedAt(step: number, stop: number, stops: number, count: number): number {
  if (step === 0 || count === 0) return 0;
  return (step - 1 + (stops === 0 ? 1 : stop / stops)) / count;
}

/** Paths in a box as wide as there are steps and 2 high, of the number of stops of each step. */
export function ticksOf(stopCounts: readonly number[]): { readonly steps: string; readonly stops: string } {
  const total = stopCounts.reduce((sum, each) => sum + each, 0);
  const steps =
    stopCounts.length > MOST_STEPS ? [] : Array.from({ length: stopCounts.length + 1 }, (_, at) => at);
  const stops =
    total > MOST_STOPS
      ? []
      : stopCounts.flatMap((count, at) =>
          Array.from({ length: Math.max(0, count - 1) }, (_, k) => at + (k + 1) / count),
        );
  return {
    steps: steps.map((x) => `M${x} 0.5V1.5`).join(""),
    stops: stops.map((x) => `M${Math.round(1e4 * x) / 1e4} 0.7V1.3`).join(""),
  };
}
