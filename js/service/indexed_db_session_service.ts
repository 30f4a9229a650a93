import { messageOf } from '../values/errors/describe.js';
import {
  createIndexedDbStorage,
  deleteDatabase,
  type IndexedDbAccess,
  type OnOpen,
} from '../core/wasm/all.js';
import { isSessionError, SessionError } from '../values/errors/errors.js';
import { requireId } from '../values/model/values/ids.js';
import { toListed } from '../stores/indexed_db/listed_records.js';
import { openingOf } from '../stores/indexed_db/opening.js';
import { suspendOnPageHide } from '../stores/indexed_db/page_hide.js';
import { withTransactions } from '../stores/indexed_db/worker_freeze.js';
import { parseRecords } from '../stores/indexed_db/stored_records.js';
import { deleteWords, eraseWords } from '../stores/indexed_db/word_records.js';
import type { StateShape } from '../values/state/state_shape.js';
import type { SessionService } from '../values/model/session_service.js';
import type { DataLoss, StorageInfo } from '../values/model/storage_info.js';
import { WasmStore } from '../core/storage/wasm/wasm_store.js';
import { feedOfDatabase } from '../core/watch/shared_feeds.js';
import { takeOptions } from '../core/call/call.js';
import {
  requireFunction,
  requireMilliseconds,
  requireOneOf,
} from '../values/errors/option_values.js';
import { ServiceCore } from './service_core.js';
import { type ServiceParts, type SessionServiceOptions } from './service_options.js';
import { StoredSessionService } from './stored_session_service.js';

/**
 * The options of {@link IndexedDbSessionService}: the database and how it is written, and the
 * options of every service.
 */
export interface IndexedDbSessionServiceOptions<
  S extends object = StateShape,
> extends SessionServiceOptions<S> {
  /**
   * The database's name; default `'adk-sessions'`. Services of this origin with the same name share
   * their data.
   */
  name?: string | undefined;
  /**
   * The durability of a resolved write. `'relaxed'` (default): it survives a crash of the tab or the
   * browser, but a power loss may lose the last moments before it. `'strict'`: it also survives a
   * power loss, if the disk honours the flush. Every write then waits for the flush.
   */
  durability?: 'relaxed' | 'strict' | undefined;
  /**
   * Milliseconds without any event of the browser after which a transaction counts as lost
   * (`connection_lost`), or opening fails because of a tab that keeps an older layout open
   * (`storage_blocked`); default 30,000.
   */
  timeoutMs?: number | undefined;
  /**
   * Fills the database again after the browser has lost it, as Chromium may after a kill.
   *
   * Other calls wait for it, in this tab and in other tabs with this option. After `timeoutMs` they
   * reject with `connection_lost`, and the filling continues. If the filling fails, the waiting calls
   * reject with its error, and the next call or the next visit runs it again.
   *
   * Use only `service` inside this function, and not after it has settled. A call on another
   * service would wait for the filling.
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
}

/** Fills a lost database again through `service`, which nothing else uses; see `onDataLoss`. */
export type OnDataLoss = (loss: DataLoss, service: SessionService) => void | Promise<void>;

/** The options of `deleteDatabase`. */
export interface DeleteDatabaseOptions {
  /**
   * Milliseconds to wait for tabs that keep the database open, before `storage_blocked`; default
   * 30,000.
   */
  timeoutMs?: number | undefined;
}

const DEFAULT_NAME = 'adk-sessions';
const DEFAULT_TIMEOUT = 30_000;

/**
 * Keeps sessions in IndexedDB, a database of the browser. They outlive the page, and all tabs and
 * workers of the origin share them.
 *
 * Constructing the service opens nothing and cannot block. The first call opens the database, such
 * as `ping`. Without IndexedDB every call rejects with
 * `storage_unavailable`; `openSessionService({ storage: 'auto' })` uses memory in this case.
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
  S extends object = StateShape,
> extends StoredSessionService<S> {
  /** @throws SessionError `invalid_argument` if an option is invalid */
  constructor(options: IndexedDbSessionServiceOptions<S> = {}) {
    const taken = takeOptions(options);
    const access: IndexedDbAccess = {
      name: requireId('name', taken.name ?? DEFAULT_NAME),
      isStrict:
        requireOneOf('durability', taken.durability ?? 'relaxed', ['relaxed', 'strict']) ===
        'strict',
      timeoutMs: timeoutOf(taken),
    };
    const { onDataLoss } = taken;
    if (onDataLoss !== undefined) requireFunction('onDataLoss', onDataLoss);
    const opening = openingOf(access.name);
    opening.timeout = access.timeoutMs;
    const parts = partsOver(access, opening.onOpen);
    const refill =
      onDataLoss &&
      (async (loss: DataLoss): Promise<void> => {
        // This service has a connection of its own: the shared one stays unavailable until the
        // filling has ended.
        const core = new ServiceCore(partsOver(access, undefined), taken);
        const service = new StoredSessionService(core);
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
      new ServiceCore(
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
      ),
    );
  }

  /**
   * Deletes a database with all its data and the files of its sessions, for example at a logout. Services that have it open, in
   * this tab and in others, find it empty at their next call.
   *
   * @throws SessionError (as a rejection) `storage_blocked` if a tab keeps the database open for
   *   too long: the database is deleted once that tab closes it; `storage_unavailable`
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
    const timeout = timeoutOf(takeOptions(options));
    requireId('name', name);
    const both = [name, nameOfFiles(name)];
    try {
      await openingOf(name).forget(async () => {
        const remove = (database: string): Promise<void> =>
          withTransactions(database, () => deleteDatabase(database, timeout));
        await Promise.all(both.map(remove));
      });
    } catch (error) {
      // The words must not outlive the sessions that a blocked deletion deletes later. Its error tells why.
      await deleteWords(name).catch(() => undefined);
      throw error;
    }
    await deleteWords(name);
  }
}

/** Returns the name of the database with the files of the sessions. */
function nameOfFiles(name: string): string {
  return `${name} artifacts`;
}

/** Returns the parts of a service over that database. */
function partsOver(access: IndexedDbAccess, onOpen: OnOpen | undefined) {
  let stopFollowing: (() => void) | undefined;
  return {
    storage: { kind: 'indexeddb', durable: true } as StorageInfo,
    openStore() {
      const core = createIndexedDbStorage(access, onOpen);
      stopFollowing = suspendOnPageHide(core);
      return new WasmStore(core, {
        holdsData: false,
        parse: parseRecords,
        toListed,
        run: (call) => withTransactions(access.name, call),
      });
    },
    closeStorage: () => stopFollowing?.(),
    feed: feedOfDatabase(access.name),
    words: { name: access.name, erase: (key) => eraseWords(access.name, key) },
    openArtifacts: ({ openInIndexedDb }) => openInIndexedDb(nameOfFiles(access.name)),
  } satisfies ServiceParts;
}

function timeoutOf({ timeoutMs = DEFAULT_TIMEOUT }: DeleteDatabaseOptions): number {
  return requireMilliseconds('timeoutMs', timeoutMs);
}
