import type { SessionCore } from '../wasm/core.js';

/**
 * Suspends IndexedDB while the page is in the browser's back/forward cache, where it is frozen.
 *
 * Open transactions of a frozen page block other pages: all kinds in WebKit, upgrades in Chromium. So they are aborted
 * when the page enters the cache. Firefox sends no event for that, so calls do not wait for one: they try again when
 * the page is shown. Connections are closed too. An open one may keep the page out of the cache, and one that the
 * browser cut there looks alive.
 */

type Follower = (isHidden: boolean) => void;

const followers = new Set<Follower>();
let isHidden = false;
/** How often the page entered that cache. */
let hideCount = 0;

function handleTransition({ type, persisted }: PageTransitionEvent): void {
  isHidden = type === 'pagehide' && persisted;
  if (isHidden) hideCount += 1;
  for (const follower of followers) {
    try {
      follower(isHidden);
    } catch (error) {
      // The others still have to follow.
      reportError(error);
    }
  }
}

// Workers never enter that cache.
if ('onpagehide' in globalThis) {
  addEventListener('pagehide', handleTransition);
  addEventListener('pageshow', handleTransition);
}

/**
 * Calls back whenever the page enters that cache or is shown.
 *
 * @returns a function that stops this
 */
export function followPageHide(follower: Follower): () => void {
  followers.add(follower);
  return () => followers.delete(follower);
}

/** Suspends the core while the page is in that cache. Returns a function that stops this. */
export function suspendOnPageHide(core: SessionCore): () => void {
  // A strong reference would keep the core of a service that was dropped without `close`.
  const weakCore = new WeakRef(core);
  const stopFollowing = followPageHide((isHidden) => {
    const live = weakCore.deref();
    if (live === undefined) stopFollowing();
    else live.set_page_hidden(isHidden);
  });
  core.set_page_hidden(isHidden);
  return () => {
    stopFollowing();
    // Otherwise calls that wait for the page would never end.
    if (isHidden) weakCore.deref()?.set_page_hidden(false);
  };
}

/**
 * Runs what is safe to repeat, while the page is shown. After a failure it runs again if the page was in that cache
 * meanwhile.
 */
export async function whileShown<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    if (isHidden)
      await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
    const before = hideCount;
    try {
      return await run();
    } catch (error) {
      if (hideCount === before) throw error;
    }
  }
}
