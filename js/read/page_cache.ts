import type { SessionCore } from '../wasm/core.js';

/**
 * Closes the database connection when the page enters the browser's back/forward cache. An open
 * connection may keep the page out of that cache. A connection that was cut there looks alive
 * afterwards. The next call opens a new connection.
 *
 * @returns a function that stops this
 */
export function letGoInPageCache(core: SessionCore): () => void {
  // Workers never enter that cache.
  if (!('onpagehide' in globalThis)) return () => undefined;
  // A strong reference would keep the core of a service that was dropped without `close`.
  const held = new WeakRef(core);
  const leave = ({ persisted }: PageTransitionEvent): void => {
    const here = held.deref();
    if (here === undefined) stop();
    else if (persisted) here.disconnect();
  };
  const stop = (): void => removeEventListener('pagehide', leave);
  addEventListener('pagehide', leave);
  return stop;
}
