import { requireOneOf, requireWhole } from '../errors/option_values.js';
import { invalid } from '../errors/invalid.js';
import { takeOptions } from '../call/call.js';
import { fitsUtf8 } from '../json/text.js';
import { requireId } from '../model/values/ids.js';
import type { SessionService } from '../model/session_service.js';
import { CORE } from '../service/service_core.js';
import type { SessionServiceOptions } from '../service/service_options.js';
import type { StoredSessionService } from '../service/stored_session_service.js';
import type { StateShape } from '../state/state_shape.js';

/**
 * Where a read looks first. `'cache-first'`: at the local copy, which is then revalidated in the background.
 * `'network-first'`: at the remote, and after `readTimeoutMs` or without a connection at the copy. `'cache-only'`: at
 * the copy, without any request.
 *
 * @example
 * ```ts
 * import type { ReadPolicy } from 'adk-session-wasm/cache';
 *
 * const reads: ReadPolicy = 'network-first';
 * ```
 */
export type ReadPolicy = 'cache-first' | 'network-first' | 'cache-only';

/**
 * The options of a cache: the two ends, the owner of the local data, and options of every service.
 *
 * @example
 * ```ts
 * import type { CachedSessionOptions } from 'adk-session-wasm/cache';
 * import { RemoteSessionService } from 'adk-session-wasm/remote';
 *
 * const options: CachedSessionOptions = {
 *   remote: new RemoteSessionService({ url: 'https://chat.example/api/sessions' }),
 *   owner: 'ada',
 *   maxSessions: 200,
 * };
 * ```
 */
export interface CachedSessionOptions<
  S extends object = StateShape,
> extends SessionServiceOptions<S> {
  /** The service that all devices share, usually a `RemoteSessionService`. The caller closes it. */
  remote: SessionService<S>;
  /**
   * Keeps the copies: IndexedDB, memory or SQLite. The caller closes it. Default: an `IndexedDbSessionService` over a
   * database of the owner's own.
   */
  local?: SessionService<S> | undefined;
  /**
   * Whom the local data belongs to, for example the signed-in user: at most 480 bytes, and 497 together with an app's
   * name. A cache with another owner over the same `local` sees none of it.
   */
  owner: string;
  /** Where reads look first. Default `'cache-first'`. */
  reads?: ReadPolicy | undefined;
  /** How long a read with `'network-first'` waits for the remote, in whole milliseconds. Default 3,000. */
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
export interface TakenOptions extends CachedSessionOptions<object> {
  remote: StoredSessionService<object>;
  local: StoredSessionService<object> | undefined;
  reads: ReadPolicy;
  readTimeoutMs: number;
  write: 'local' | 'through';
  maxSessions: number;
}

/** The most bytes of an owner in JSON. The name of the database and the names of apps have it. */
const MAX_OWNER_BYTES = 480;

/** @throws SessionError `invalid_argument` if an option is invalid */
export function takeCacheOptions(options: CachedSessionOptions<object>): TakenOptions {
  const taken = takeOptions(options);
  const { owner } = taken;
  requireId('owner', owner);
  if (!fitsUtf8(JSON.stringify(owner), MAX_OWNER_BYTES + 2)) {
    throw invalid('owner', `must have at most ${MAX_OWNER_BYTES} bytes: it is part of other names`);
  }
  const remote = requireService('remote', taken.remote);
  const local = taken.local && requireService('local', taken.local);
  const { readTimeoutMs = 3000, write = 'local', maxSessions = 1000, maxAge, maxBytes } = taken;
  requireWhole('readTimeoutMs', readTimeoutMs);
  requireWhole('maxSessions', maxSessions);
  if (maxAge !== undefined) requireWhole('maxAge', maxAge);
  if (maxBytes !== undefined) requireWhole('maxBytes', maxBytes);
  const reads = takePolicy('reads', taken.reads) ?? 'cache-first';
  requireOneOf('write', write, ['local', 'through']);
  return { ...taken, remote, local, reads, readTimeoutMs, write, maxSessions };
}

export function takePolicy(name: string, policy: unknown): ReadPolicy | undefined {
  if (policy === undefined) return undefined;
  return requireOneOf(name, policy, ['cache-first', 'network-first', 'cache-only']);
}

function requireService(name: string, service: object): StoredSessionService<object> {
  if (CORE in Object(service)) return service as StoredSessionService<object>;
  throw invalid(name, 'must be a session service of this package');
}
