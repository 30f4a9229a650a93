import { requireOneOf, requireWhole } from '../../values/errors/option_values.js';
import { invalid } from '../../values/errors/invalid.js';
import { takeOptions } from '../../core/call/call.js';
import { requireId } from '../../values/model/values/ids.js';
import type { ReadPolicy } from '../../values/model/values/read_options.js';
import type { SessionService } from '../../values/model/session_service.js';
import { coreOf } from '../../core/core_of.js';
import type { SessionServiceOptions } from '../service_options.js';
import type { StoredSessionService } from '../stored_session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { CacheSettings } from '../../stores/cache/epoch.js';
import type { LocalStore } from '../../stores/cache/local_store/local_store.js';

/**
 * The options of a cache: its remote service, its local store, the owner of its data, and the options of every service.
 */
export interface CachedSessionOptions<
  S extends object = StateShape,
> extends SessionServiceOptions<S> {
  /** The service that all devices share, usually a `RemoteSessionService`. The caller closes it. */
  remote: SessionService<S>;
  /**
   * Keeps the copies and what is unsent: `'indexeddb'` (default), `'memory'`, or a storage of the caller's own, which
   * the caller closes.
   */
  local?: 'indexeddb' | 'memory' | LocalStore | undefined;
  /**
   * Whom the local data belongs to, for example the signed-in user: at most 512 bytes. A cache with another owner over
   * the same `local` sees none of it.
   */
  owner: string;
  /** Where reads look first. Default `'cache-first'`. */
  reads?: ReadPolicy | undefined;
  /**
   * How long a read with `'network-first'`, and a write to a session without a copy, wait for the remote, in whole
   * milliseconds. Default 3,000.
   */
  readTimeoutMs?: number | undefined;
  /**
   * `'local'` (default): a write resolves when it is stored locally. `'through'`: it resolves when the remote has it.
   * If it rejects, it is stored locally in any case, and sent later or set aside.
   */
  write?: 'local' | 'through' | undefined;
  /** The most copies of sessions. Those used least recently are deleted, none with unsent changes. Default 1,000. */
  maxSessions?: number | undefined;
  /** The most milliseconds that an unused copy is kept. Default: no limit. */
  maxAge?: number | undefined;
  /**
   * The most bytes of all copies, as `sessionInfo` measures their events. Those used least recently are deleted, none
   * with unsent changes, and never the last one. Default: no limit.
   */
  maxBytes?: number | undefined;
}

/** The options as the cache uses them. */
export type TakenOptions = CachedSessionOptions<object> &
  CacheSettings & { readonly remote: StoredSessionService<object> };

/** @throws SessionError `invalid_argument` if an option is invalid */
export function takeCacheOptions(options: CachedSessionOptions<object>): TakenOptions {
  const taken = takeOptions(options);
  const { owner } = taken;
  requireId('owner', owner);
  const remote = requireService('remote', taken.remote);
  requireLocal(taken.local);
  const { readTimeoutMs = 3000, write = 'local', maxSessions = 1000, maxAge, maxBytes } = taken;
  requireWhole('readTimeoutMs', readTimeoutMs);
  requireWhole('maxSessions', maxSessions);
  if (maxAge !== undefined) requireWhole('maxAge', maxAge);
  if (maxBytes !== undefined) requireWhole('maxBytes', maxBytes);
  const reads = takePolicy('reads', taken.reads) ?? 'cache-first';
  requireOneOf('write', write, ['local', 'through']);
  return { ...taken, remote, reads, readTimeoutMs, write, maxSessions };
}

export function takePolicy(name: string, policy: unknown): ReadPolicy | undefined {
  if (policy === undefined) return undefined;
  return requireOneOf(name, policy, ['cache-first', 'network-first', 'cache-only']);
}

function requireLocal(local: unknown): void {
  if (local === undefined || local === 'indexeddb' || local === 'memory') return;
  const { transaction } = Object(local) as { readonly transaction?: unknown };
  if (typeof transaction === 'function') return;
  throw invalid(
    'local',
    "must be 'indexeddb', 'memory' or a local storage with the function transaction",
  );
}

function requireService(name: string, service: object): StoredSessionService<object> {
  if (coreOf(Object(service) as object) !== undefined)
    return service as StoredSessionService<object>;
  throw invalid(name, 'must be a session service of this package');
}
