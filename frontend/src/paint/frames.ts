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
