import type { WasmStorage } from '../../core/wasm/core.js';

/**
 * Suspends IndexedDB while the page is frozen: in the browser's back/forward cache, or as a tab in the background,
 * which only Chromium freezes.
 *
 * Open transactions of a frozen page block other pages: all kinds in Firefox, WebKit and in a frozen tab, upgrades in
 * Chromium.
 * So they are aborted before. Firefox sends no event for that, so calls do not wait for one: they try again when
 * the page is shown. Connections are closed too. An open one may keep the page out of the cache, and one that the
 * browser cut there looks alive.
 */

type HideListener = (isHidden: boolean) => void;

const followers = new Set<HideListener>();
let isHidden = false;
/** How often the page was frozen. */
let hideCount = 0;

function handleTransition(event: Event): void {
  const { type, persisted } = event as PageTransitionEvent;
  isHidden = type === 'freeze' || (type === 'pagehide' && persisted);
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

// A worker is frozen without an event, see `worker_freeze.ts`.
if ('onpagehide' in globalThis) {
  addEventListener('pagehide', handleTransition);
  addEventListener('pageshow', handleTransition);
  document.addEventListener('freeze', handleTransition);
  document.addEventListener('resume', handleTransition);
}

/**
 * Calls back whenever the page is frozen or continues.
 *
 * @returns a function that stops this
 */
export function followPageHide(follower: HideListener): () => void {
  followers.add(follower);
  return () => followers.delete(follower);
}

/** Suspends the core while the page is frozen. Returns a function that stops this. */
export function suspendOnPageHide(core: WasmStorage): () => void {
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

/** Resolves once the page is not frozen. */
export async function untilShown(): Promise<void> {
  while (isHidden) {
    await new Promise<void>((resolve) => {
      const stopFollowing = followPageHide(() => {
        stopFollowing();
        resolve();
      });
    });
  }
}

/**
 * Runs what is safe to repeat, unless the page is frozen. After a failure it runs again if the page was frozen
 * meanwhile.
 */
export async function whileShown<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    await untilShown();
    const before = hideCount;
    try {
      return await run();
    } catch (error) {
      if (hideCount === before) throw error;
    }
  }
}
