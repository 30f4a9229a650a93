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
  const { requestAnimationFrame: request, cancelAnimationFrame: cancel } = globalThis as Partial<
    typeof globalThis
  >;
  const isVisible = globalThis.document?.visibilityState !== 'hidden';
  if (request === undefined || !isVisible) {
    const timer = setTimeout(run);
    return () => clearTimeout(timer);
  }
  const stop = (): void => {
    clearTimeout(timer);
    cancel?.(frame);
  };
  const runOnce = (): void => {
    stop();
    run();
  };
  const timer = setTimeout(runOnce, LATEST_FRAME);
  const frame = request(runOnce);
  return stop;
}
