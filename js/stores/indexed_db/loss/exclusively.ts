import { TimeLimit } from '../../../core/call/time_limit.js';

/**
 * Runs in one tab at a time, if the browser has Web Locks.
 *
 * @param patienceMs how long to wait for other tabs, which the browser may have frozen. Absent: until they have ended
 */
export async function exclusively<T>(
  name: string,
  run: () => Promise<T>,
  patienceMs?: number,
): Promise<T> {
  // Web Locks are missing on pages without TLS, and `navigator` is in Node 20.
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: LockManager } };
  const locks = navigator?.locks;
  if (locks === undefined) return run();
  if (patienceMs === undefined) return locks.request(name, run);
  const patience = new TimeLimit(patienceMs);
  let running: Promise<T> | undefined;
  try {
    return await locks.request(name, { signal: patience.signal }, () => {
      patience.stopTimer();
      return (running = run());
    });
  } catch (error) {
    // In WebKit a page that is left loses its locks. What it runs goes on.
    if (running !== undefined) return running;
    if (patience.signal.aborted) return run();
    throw error;
  } finally {
    patience.end();
  }
}
