/**
 * Milliseconds after which a frame is no longer waited for. A hidden tab has none, and a tab may be hidden while
 * it waits.
 */
const LATEST_FRAME = 100;

/**
 * Calls `run` once, before the next frame is painted. Without frames, as in Node, in a task of its own.
 *
 * @returns a function that cancels the call
 */
export function onNextFrame(run: () => void): () => void {
  const { requestAnimationFrame, cancelAnimationFrame, document } = globalThis as Partial<
    typeof globalThis
  >;
  const request = document?.visibilityState === 'hidden' ? undefined : requestAnimationFrame;
  const stop = (): void => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame?.(frame);
  };
  const runOnce = (): void => {
    stop();
    run();
  };
  const timer = setTimeout(runOnce, request && LATEST_FRAME);
  const frame = request?.(runOnce);
  return stop;
}
