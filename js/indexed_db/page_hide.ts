import type { SessionCore } from '../wasm/core.js';

/**
 * Leaves nothing under way in a page that the browser keeps in its back/forward cache. The page stands still there,
 * and may for long.
 *
 * Its transactions would stand still too, and block other pages: all of them in WebKit, upgrades in Chromium. So
 * they are aborted. Firefox never reports that, so nothing waits for a report: what was under way is tried again
 * when the user returns. Connections are closed, because an open one may keep the page out of that cache, and one
 * that was cut there looks alive afterwards.
 */

type Follower = (isHidden: boolean) => void;

const followers = new Set<Follower>();
let isHidden = false;
/** How often the page entered that cache. */
let hides = 0;

function turn({ type, persisted }: PageTransitionEvent): void {
  isHidden = type === 'pagehide' && persisted;
  if (isHidden) hides += 1;
  for (const follower of followers) follower(isHidden);
}

/**
 * Calls back whenever the page enters that cache or is shown.
 *
 * @returns a function that stops this
 */
export function followPageHide(follower: Follower): () => void {
  // Workers never enter that cache.
  if ('onpagehide' in globalThis) {
    addEventListener('pagehide', turn);
    addEventListener('pageshow', turn);
  }
  followers.add(follower);
  return () => followers.delete(follower);
}

/** Suspends the core while the page is in that cache. Returns a function that stops this. */
export function suspendOnPageHide(core: SessionCore): () => void {
  // A strong reference would keep the core of a service that was dropped without `close`.
  const weakCore = new WeakRef(core);
  const stop = followPageHide((isHidden) => {
    const live = weakCore.deref();
    if (live === undefined) stop();
    else live.suspend(isHidden);
  });
  return stop;
}

/**
 * Runs what is safe to repeat, while the page is shown. After a failure it runs again if the page was in that cache
 * meanwhile.
 */
export async function whileShown<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    if (isHidden) await new Promise((resolve) => addEventListener('pageshow', resolve));
    const before = hides;
    try {
      return await run();
    } catch (error) {
      if (hides === before) throw error;
    }
  }
}
