import { takeOptions } from '../../core/call/call.js';
import { endsWithin } from '../../core/call/time_limit.js';
import { CORE } from '../../core/core_of.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireWhole } from '../../values/errors/option_values.js';
import type { CachedSessionService } from './cached_session_service.js';
import type { OutboxEntry } from '../../stores/cache/outbox.js';

/** The methods whose calls store something here, without the remote. */
const WRITES = [
  ...(['createSession', 'getOrCreateSession', 'updateSession', 'updateState'] as const),
  ...(['appendEvent', 'appendEvents'] as const),
  ...(['deleteSession', 'deleteUser', 'deleteUserState', 'deleteAppState', 'rewind'] as const),
];

/** Milliseconds for which `signOut` waits until the unsent changes are sent. */
const SEND_TIMEOUT_MS = 5000;

/** The options of {@link signOut}. */
export interface SignOutOptions {
  /**
   * What becomes of unsent changes. `'send'`: they are sent; if any cannot be sent, nobody is signed out. `'drop'`:
   * they are given up. A function: they are sent; it gets those that cannot be sent, and decides whether they are given
   * up. It is asked too about what is still being stored after `timeoutMs`, which has no entry.
   */
  readonly unsent: 'send' | 'drop' | ((entries: readonly OutboxEntry[]) => Promise<boolean>);
  /** The most milliseconds to wait until the changes are stored and sent. Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Signs the owner of a cache out: waits until writes are stored, sends them, forgets the local data in all tabs, and
 * closes the service. Without a connection it does not wait.
 *
 * @returns whether the owner is signed out; if not, everything is as it was
 * @throws SessionError `invalid_argument`, `closed`, and those of `forget` and `close`
 *
 * @example
 * ```ts
 * import { type CachedSessionService, signOut } from 'adk-session-wasm/cache';
 *
 * export async function leave(service: CachedSessionService): Promise<boolean> {
 *   return signOut(service, { unsent: async () => confirm('Lose the changes that were not sent?') });
 * }
 * ```
 */
export async function signOut<S extends object>(
  service: CachedSessionService<S>,
  options: SignOutOptions,
): Promise<boolean> {
  const { unsent, timeoutMs = SEND_TIMEOUT_MS } = takeOptions(options);
  if (unsent !== 'send' && unsent !== 'drop' && typeof unsent !== 'function') {
    throw invalid('unsent', "must be 'send', 'drop' or a function");
  }
  requireWhole('timeoutMs', timeoutMs, 0, Infinity);
  if (unsent !== 'drop') {
    const began = Date.now();
    await endsWithin(timeoutMs, allStored(service));
    await sendFor(service, Math.max(0, began + timeoutMs - Date.now()));
    const entries = await service.outbox.list();
    const isUnsent = entries.length > 0 || writesOf(service).length > 0;
    if (isUnsent && (unsent === 'send' || !(await unsent(entries)))) return false;
  }
  await service.forget();
  await service.close();
  return true;
}

/** What is being stored. */
function writesOf<S extends object>({ [CORE]: core }: CachedSessionService<S>): Promise<unknown>[] {
  return [...core.calls.pendingOf(WRITES), ...core.storing];
}

async function allStored<S extends object>(service: CachedSessionService<S>): Promise<void> {
  // In one task, a live session that has just got a message begins to store it.
  await new Promise((resolve) => setTimeout(resolve));
  for (let writes = writesOf(service); writes.length > 0; writes = writesOf(service)) {
    await Promise.allSettled(writes);
  }
}

/** Waits until nothing waits, or until the rest cannot be sent now. */
async function sendFor<S extends object>(
  service: CachedSessionService<S>,
  timeoutMs: number,
): Promise<void> {
  if ((await service.outbox.list()).length === 0) return;
  const stop = new AbortController();
  const sent = new Promise<void>((resolve) => {
    const end = service.watchStatus(({ pending }) => {
      if (pending.length === 0) resolve();
    });
    stop.signal.addEventListener('abort', end);
  });
  // What cannot be sent is in the outbox.
  const synced = service.sync().catch(() => undefined);
  try {
    await endsWithin(timeoutMs, Promise.race([synced, sent]));
  } finally {
    stop.abort();
  }
}
