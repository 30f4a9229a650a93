import type { SessionCore } from '../wasm/core.js';

/**
 * Closes the database connection when the page enters the browser's back/forward cache. An open
 * connection may keep the page out of that cache. A connection that was cut there looks alive
 * afterwards. The next call opens a new connection.
 *
 * @returns a function that stops this
 */
export function closeOnPageHide(core: SessionCore): () => void {
  // Workers never enter that cache.
  if (!('onpagehide' in globalThis)) return () => undefined;
  // A strong reference would keep the core of a service that was dropped without `close`.
  const weakCore = new WeakRef(core);
  const leave = ({ persisted }: PageTransitionEvent): void => {
    const live = weakCore.deref();
    if (live === undefined) stop();
    else if (persisted) live.disconnect();
  };
  const stop = (): void => removeEventListener('pagehide', leave);
  addEventListener('pagehide', leave);
  return stop;
}
