import type { SessionCore } from '../core.js';

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
  const leave = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) core.disconnect();
  };
  addEventListener('pagehide', leave);
  return () => removeEventListener('pagehide', leave);
}
