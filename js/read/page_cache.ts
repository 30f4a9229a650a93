import type { SessionCore } from '../wasm/core.js';

/**
 * Lets go of the database while the page is kept in the browser's back/forward cache: an open connection
 * may keep the page out of it, and one that was cut there looks as alive afterwards as any. The next call
 * makes another.
 *
 * @returns stops that
 */
export function letGoInPageCache(core: SessionCore): () => void {
  // A worker is never put there.
  if (!('onpagehide' in globalThis)) return () => undefined;
  // The page would else keep the core of a service that nobody has any more, and never closed.
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
