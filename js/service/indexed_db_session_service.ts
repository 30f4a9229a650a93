import {
  createIndexedDbCore,
  deleteDatabase,
  type IndexedDbAccess,
  type OnOpen,
} from '../wasm/core.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { requireId } from '../model/ids.js';
import { deleteMirrored } from '../indexed_db/mirrored.js';
import { openingOf } from '../indexed_db/opening.js';
import { kindOf, messageOf } from '../json/rules.js';
import type { Abortable } from '../model/session.js';
import type { StateShape } from '../state/state_shape.js';
import type { DataLoss, StorageInfo } from '../model/session_service.js';
import { CoreStore } from '../storage/core_store.js';
import { feedOfDatabase } from '../watch/shared_feeds.js';
import { invalid, shown } from '../call/call.js';
import { type KnownOptions, SERVICE_OPTIONS, takeOptions } from './known_options.js';
import { letGoInPageCache } from '../read/page_cache.js';
import type { ServiceParts, SessionServiceOptions } from './service_options.js';
import { parseRecords } from '../read/stored_records.js';
import { StoredSessionService } from './stored_session_service.js';

/**
 * Which database of the browser, and how it is written to; beside what every service takes.
 *
 * @example
 * ```ts
 * import { IndexedDbSessionService } from 'adk-session-wasm';
 *
 * const service = new IndexedDbSessionService({ name: 'my-shop', durability: 'strict' });
 * ```
 */
export interface IndexedDbSessionServiceOptions extends SessionServiceOptions {
  /** The database's name, one for all services of this origin that share their data; default `'adk-sessions'`. */
  name?: string | undefined;
  /**
   * What a resolved call survives. `'relaxed'` (default): the crash of the tab or of the browser; the
   * last moments before a power loss may be lost. `'strict'`: that too, as far as the disk obeys; every
   * write waits for it.
   */
  durability?: 'relaxed' | 'strict' | undefined;
  /**
   * Milliseconds after which a transaction that the browser says nothing of counts as lost
   * (`connection_lost`); default 30,000.
   */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds after which it is told that a tab with an older version of this package blocks the
   * database (`storage_blocked`); default 5,000.
   */
  blockedTimeoutMs?: number | undefined;
  /**
   * Fills the store again when the browser has lost it, as Chromium may after a kill. Calls that came
   * meanwhile wait for it, in this tab and in others that have the option, but no longer than `timeoutMs`:
   * then they reject with `connection_lost`, and the filling goes on. `service` alone may be used in
   * it, and not later: a call on another service waits for the filling. If it fails, the calls that wait
   * reject with its error, and the next call, or the next visit, asks again.
   *
   * @example
   * ```ts
   * import { IndexedDbSessionService } from 'adk-session-wasm';
   * import { importSessions } from 'adk-session-wasm/files';
   *
   * new IndexedDbSessionService({
   *   onDataLoss: async (_loss, service) => {
   *     const backup = await fetch('/backup.jsonl');
   *     for await (const { error } of importSessions(service, backup.body!)) {
   *       if (error && error.code !== 'already_exists') throw error;
   *     }
   *   },
   * });
   * ```
   */
  onDataLoss?: OnDataLoss | undefined;
  /**
   * Keeps a second copy, which the browser does not lose together with the first: each write goes to both
   * before it resolves, and a database that is lost is restored from it before any call answers. Chromium
   * only, by Storage Buckets; elsewhere opening fails with `unsupported`. A database that has a mirror keeps
   * it, whoever opens it, until `deleteDatabase`. Default `false`.
   */
  mirror?: boolean | undefined;
}

/**
 * Fills a store again that was lost, by a service that nothing else uses; see `onDataLoss`.
 *
 * @example
 * ```ts
 * import type { OnDataLoss } from 'adk-session-wasm';
 *
 * const greet: OnDataLoss = async ({ message }, service) => {
 *   await service.createSession({ appName: 'shop', userId: 'ada', state: { message } });
 * };
 * ```
 */
export type OnDataLoss = (loss: DataLoss, service: StoredSessionService) => void | Promise<void>;

/**
 * How a database is deleted.
 *
 * @example
 * ```ts
 * import { type DeleteDatabaseOptions, IndexedDbSessionService } from 'adk-session-wasm';
 *
 * const patient: DeleteDatabaseOptions = { blockedTimeoutMs: 60_000 };
 * await IndexedDbSessionService.deleteDatabase('my-shop', patient);
 * ```
 */
export interface DeleteDatabaseOptions {
  /** Milliseconds to wait for tabs that do not let go of it, before `storage_blocked`; default 5,000. */
  blockedTimeoutMs?: number | undefined;
}

/** What {@link IndexedDbSessionService} takes. */
export const INDEXED_DB_OPTIONS: KnownOptions<IndexedDbSessionServiceOptions> = {
  ...SERVICE_OPTIONS,
  name: true,
  durability: true,
  timeoutMs: true,
  blockedTimeoutMs: true,
  onDataLoss: true,
  mirror: true,
};

const DEFAULT_NAME = 'adk-sessions';
const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_BLOCKED_TIMEOUT = 5_000;

/** What a timer takes; it fires at once for more. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/**
 * Keeps sessions in a database of the browser (IndexedDB): they outlive the page, and all tabs and
 * workers of the origin share them.
 *
 * Constructing it opens nothing and cannot block: the first call opens the database, and so does
 * {@link IndexedDbSessionService.open}. Where there is no IndexedDB every call rejects with
 * `storage_unavailable`; `openSessionService({ storage: 'auto' })` then takes memory.
 *
 * @example
 * ```ts
 * import { IndexedDbSessionService } from 'adk-session-wasm';
 *
 * const service = new IndexedDbSessionService({ name: 'my-shop' });
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.getOrCreateSession(key); // as the last visit left it
 * ```
 */
export class IndexedDbSessionService<
  S extends StateShape = StateShape,
> extends StoredSessionService<S> {
  /** @throws SessionError `invalid_argument` for options that mean nothing */
  constructor(options: IndexedDbSessionServiceOptions = {}) {
    const taken = takeOptions(options, INDEXED_DB_OPTIONS);
    const access: IndexedDbAccess = {
      name: requireId('name', taken.name ?? DEFAULT_NAME),
      isStrict: isStrict(taken.durability ?? 'relaxed'),
      timeoutMs: milliseconds('timeoutMs', taken.timeoutMs ?? DEFAULT_TIMEOUT),
      blockedTimeoutMs: blockedTimeoutOf(taken),
    };
    const { onDataLoss, mirror = false } = taken;
    if (typeof mirror !== 'boolean') {
      throw invalid('mirror', `must be true or false; it is ${kindOf(mirror)}`);
    }
    if (onDataLoss !== undefined && typeof onDataLoss !== 'function') {
      throw invalid('onDataLoss', `must be a function; it is ${kindOf(onDataLoss)}`);
    }
    const opening = openingOf(access.name);
    opening.limits = { timeout: access.timeoutMs, blockedTimeout: access.blockedTimeoutMs };
    const parts = partsOver(access, mirror ? opening.onOpenWithMirror : opening.onOpen);
    const refill =
      onDataLoss &&
      (async (loss: DataLoss): Promise<void> => {
        // Its connection is its own: the shared one is given to nobody before this has ended.
        const service = new StoredSessionService(partsOver(access, opening.onOpenToFill), taken);
        try {
          await onDataLoss(loss, service);
        } catch (cause) {
          if (isSessionError(cause)) throw cause;
          const reason = messageOf(cause);
          throw new SessionError('storage_failed', `onDataLoss failed: ${reason}`, { cause });
        } finally {
          await service.close();
        }
      });
    let leave: (() => void) | undefined;
    super(
      {
        ...parts,
        openStore() {
          leave = opening.join(parts.storage, refill);
          return parts.openStore();
        },
        closeStorage() {
          leave?.();
          parts.closeStorage();
        },
      },
      taken,
    );
  }

  /**
   * Opens the database now, to learn whether it can be; else the first call does. May be called again.
   *
   * @throws SessionError (as a rejection) `storage_unavailable`: there is no IndexedDB here, or it is
   *   forbidden; `storage_newer`: a newer version of this package has written it; `storage_blocked`: a
   *   tab with an older version holds it; `quota_exceeded`; `connection_lost`; `unsupported`: `mirror` is
   *   asked for, and the browser has no Storage Buckets
   */
  open(request: Abortable = {}): Promise<void> {
    return this.openStorage(request);
  }

  /**
   * Deletes a database with all that is in it, as for a logout. Services that are open on it, in this
   * tab and in others, find it empty at their next call.
   *
   * @throws SessionError (as a rejection) `storage_blocked` if a tab does not let go of it in time: it is
   *   deleted when that tab does; `storage_unavailable`
   *
   * @example
   * ```ts
   * import { IndexedDbSessionService } from 'adk-session-wasm';
   *
   * await IndexedDbSessionService.deleteDatabase('my-shop');
   * ```
   */
  static async deleteDatabase(
    name: string = DEFAULT_NAME,
    options: DeleteDatabaseOptions = {},
  ): Promise<void> {
    const blockedTimeout = blockedTimeoutOf(takeOptions(options, { blockedTimeoutMs: true }));
    requireId('name', name);
    await openingOf(name).forget(() =>
      deleteMirrored(name, DEFAULT_TIMEOUT, () => deleteDatabase(name, blockedTimeout)),
    );
  }
}

/** What a service over that database is made of. */
function partsOver(access: IndexedDbAccess, onOpen: OnOpen) {
  let stay: (() => void) | undefined;
  return {
    storage: { kind: 'indexeddb', durable: true } as StorageInfo,
    openStore() {
      const core = createIndexedDbCore(access, onOpen);
      stay = letGoInPageCache(core);
      return new CoreStore(core, false);
    },
    closeStorage: () => stay?.(),
    parseEvents: parseRecords,
    feed: feedOfDatabase(access.name),
  } satisfies ServiceParts;
}

function isStrict(durability: unknown): boolean {
  if (durability === 'relaxed' || durability === 'strict') return durability === 'strict';
  throw invalid('durability', `must be 'relaxed' or 'strict'; it is ${shown(durability)}`);
}

function blockedTimeoutOf({ blockedTimeoutMs = DEFAULT_BLOCKED_TIMEOUT }: DeleteDatabaseOptions) {
  return milliseconds('blockedTimeoutMs', blockedTimeoutMs);
}

function milliseconds(option: string, value: unknown): number {
  if (typeof value === 'number' && value >= 1 && value <= MAX_TIMEOUT) return value;
  const given = typeof value === 'number' ? String(value) : kindOf(value);
  throw invalid(option, `must be milliseconds from 1 to ${MAX_TIMEOUT}; it is ${given}`);
}
