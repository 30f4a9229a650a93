/**
 * The storage over google-adk Python's tables, in either of their layouts (`layout.ts`). Its rows are stored as
 * follows:
 *
 * | of the rows | in the tables |
 * |---|---|
 * | a session's `revision` | `sessions.update_time`, in microseconds since 1970; see `revisions.ts` for sessions where Python left it or set it back |
 * | `created` | `create_time`, likewise |
 * | `lastUpdateTime` | `update_time`; if that is another time, a row of the side table `adk_session_wasm_sessions` |
 * | `title`, `labels`, `parent`, `initialState` | a row of our table `adk_session_wasm_details`; see its type in `tables.ts` |
 * | an event's `seq` | `events.timestamp`, in microseconds |
 * | an event's `revision` | the same; for a replaced event a number in `event_data` |
 * | an event's `timestamp` and `text` | `event_data` |
 * | a user's or an app's `revision` | `update_time` of the row |
 * | `operation` | a row of our table `adk_session_wasm_operations` |
 * | `floor` | a row of `adk_internal_metadata` that Python ignores, or of a table of our own |
 *
 * | word in this folder | meaning |
 * |---|---|
 * | verb | an operation of the storage: create, append, read, list, describe, delete |
 * | steps | a verb as a generator: it yields requests, and gets the rows of each |
 * | request | the queries that a verb asks for at once |
 * | query | a statement with the values of one run |
 * | engine | SQLite, PostgreSQL or MySQL: its SQL and its error codes |
 * | layout | the service that the tables belong to: their times and their metadata |
 * | runner | runs steps in one transaction, and retries them |
 * | lease | a connection that a transaction has taken from a pool |
 * | owner | the user or the app that a shared state belongs to |
 * | place | a position in the order of events or of a list |
 * | floor | the highest revision that was ever deleted |
 * | side table | `adk_session_wasm_sessions` |
 * | details | `adk_session_wasm_details` |
 *
 * - Every write raises `update_time`, if only by a microsecond. Python tells by it that a session which it
 *   holds is stale. It equals `lastUpdateTime` if that is later than every time before, and not in the future.
 * - Events are read in the order in which Python reads them: by `timestamp`, and then by the column that Python's
 *   service takes for events of one time. So `timestamp` grows with each append of ours, whatever the event's
 *   own time. An event of a Python whose clock is behind stands earlier. A handle that merges gets it last.
 * - An id may be used again after a deletion, a revision never: a create begins above the floor.
 * - Each verb is one transaction. It locks what it may change in one order: session, app, user, metadata. So
 *   two writes never wait for each other in a circle. A session to be created comes last, since it cannot be
 *   locked before it exists. The second to insert a row fails, runs again and finds the row.
 *
 * @module
 */

import type {
  Decide,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageListRequest,
  StorageMarkersRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWrite,
  StorageWriteRequest,
} from '../storage/requests.js';
import {
  type Deleted,
  type Listing,
  type MarkerRows,
  NO_ROWS,
  type PageRows,
  type ParsedRows,
  type Rows,
} from '../storage/rows.js';
import type { Storage } from '../storage/storage.js';
import { isPromise } from '../members/is_promise.js';
import type { StorageCall } from '../model/diagnostic.js';
import { changedSince } from './verbs/changed.js';
import type { ChangedRequest, ChangedRows } from '../storage/changed_rows.js';
import { remove, removeUnchanged } from './verbs/delete.js';
import { describe } from './verbs/describe.js';
import type { Engine } from './engine/engine.js';
import { failureKind } from './engine/failure.js';
import { checkIds, fitsKey } from './tables/limits.js';
import { list } from './verbs/list.js';
import { type DatabaseParts, LazyDatabase } from './lazy_database.js';
import { readMarkers } from './verbs/read_markers.js';
import { read, readPage, readParsed } from './verbs/read.js';
import type { Steps } from './engine/prepared.js';
import type { Waits } from './engine/waits.js';
import type { VerbContext } from './statements/verb_context.js';
import { write } from './verbs/write.js';

/** The storage of a database. Connects and opens the tables at its first verb. */
export class DatabaseStorage implements Storage {
  readonly kind: string;
  readonly durable: boolean;
  readonly keepsOperations = true;
  readonly listsParts = true;
  readonly #engine: Engine;
  readonly #waits: Waits;
  readonly #database: LazyDatabase;
  #tellLost: ((error: unknown) => void) | undefined;

  constructor(parts: DatabaseParts) {
    const { engine, durable, waits } = parts;
    this.kind = engine.kind;
    this.durable = durable;
    this.#engine = engine;
    this.#waits = waits;
    this.#database = new LazyDatabase(parts, (error) => this.#tellLost?.(error));
  }

  onConnectionLost(tell: (error: unknown) => void): void {
    this.#tellLost = tell;
  }

  create(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    const verb = (context: VerbContext) => write(context, [{ request, decide }], true);
    return this.#database.run('write', verb, request);
  }

  append(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    const verb = (context: VerbContext) => write(context, [{ request, decide }], false);
    return this.#database.run('write', verb, request);
  }

  /** Absent once the server has refused the statements of a group. Each append then runs alone. */
  appendMany: Storage['appendMany'] = (writes) => {
    const isCounted = writes.some(({ request }) => request.onRetry !== undefined);
    const onRetry = (): void => writes.forEach(({ request }) => request.onRetry?.());
    const decided = new Set<StorageWrite>();
    const verb = (context: VerbContext) => write(context, writes, false, decided);
    const written = this.#database.run('write', verb, isCounted ? { onRetry } : {});
    if (!isPromise(written)) return written;
    return written.catch((error: unknown) => {
      const { cause } = Object(error) as { cause?: unknown };
      if (failureKind(this.#engine, cause) === 'unsupported') this.appendMany = undefined;
      throw error;
    });
  };

  read(request: StorageReadRequest): Rows | Promise<Rows> {
    if (!fitsKey(this.#engine, request.key)) return NO_ROWS;
    return this.#database.run('read', (context) => read(context, request), request);
  }

  readParsed(
    request: StorageReadRequest,
  ): ParsedRows | undefined | Promise<ParsedRows | undefined> {
    if (!fitsKey(this.#engine, request.key)) return { ...NO_ROWS, events: [] };
    return this.#database.run('read', (context) => readParsed(context, request), request);
  }

  readPage(request: StoragePageRequest): PageRows | Promise<PageRows> {
    const { key, eventId } = request;
    if (!fitsKey(this.#engine, key)) return {};
    if (eventId !== undefined) checkIds(this.#engine, { key, eventIds: [eventId] });
    return this.#database.run('read', (context) => readPage(context, request), request);
  }

  readMarkers(request: StorageMarkersRequest): MarkerRows | Promise<MarkerRows> {
    const { key, eventId } = request;
    if (!fitsKey(this.#engine, key)) return { events: [] };
    if (eventId !== undefined) checkIds(this.#engine, { key, eventIds: [eventId] });
    return this.#database.run('read', (context) => readMarkers(context, request), request);
  }

  list(request: StorageListRequest): Listing | Promise<Listing> {
    if (!fitsKey(this.#engine, request)) {
      return { sessions: [], users: [], app: undefined, total: 0 };
    }
    return this.#database.run('read', (context) => list(context, request), request);
  }

  changedSince(request: ChangedRequest): ChangedRows | Promise<ChangedRows> {
    if (!fitsKey(this.#engine, request)) return { sessions: [], app: undefined, users: new Map() };
    const users = request.users.filter((userId) => fitsKey(this.#engine, { ...request, userId }));
    const verb = (context: VerbContext) => changedSince(context, { ...request, users });
    return this.#database.run('read', verb, request);
  }

  describe(request: StorageDescribeRequest): boolean | Promise<boolean> {
    if (!fitsKey(this.#engine, request.key)) return false;
    return this.#database.run('write', (context) => describe(context, request), request);
  }

  delete(request: StorageDeleteRequest): Deleted | void | false | Promise<Deleted | void | false> {
    if (!fitsKey(this.#engine, request.key)) return;
    return this.#database.run('write', (context) => remove(context, request), request);
  }

  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): boolean | Deleted | Promise<boolean | Deleted> {
    if (!fitsKey(this.#engine, request.key)) return false;
    const verb = (context: VerbContext) => removeUnchanged(context, request);
    return this.#database.run('write', verb, request);
  }

  /** Runs the steps of a caller in one transaction that reads. */
  query<T>(steps: (context: VerbContext) => Steps<T>): T | Promise<T> {
    return this.#database.run('read', steps, {});
  }

  closing(timeoutMs?: number): void {
    this.#waits.shorten(timeoutMs);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /**
   * Connects and checks the tables now, to learn whether they can be used. Otherwise the first verb does so.
   */
  open(call: StorageCall = {}): Promise<void> {
    return this.#database.open(call);
  }
}
