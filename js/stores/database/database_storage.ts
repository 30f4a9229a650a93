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
 * | the words of a session, for searches | a row of our table `adk_session_wasm_search` |
 * | `mutation` | a row of our table `adk_session_wasm_mutations` |
 * | `floor` | a row of `adk_internal_metadata` that Python ignores, or of a table of our own |
 * | the name of the channel between processes | another row there, which the first program with a channel writes |
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

import { requireNotAborted } from '../../core/call/call.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { isPromise } from '../../values/members.js';
import type { StorageCall } from '../../values/model/diagnostic.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { ChangedRequest, ChangedRows, Storage } from '../../core/storage/storage.js';
import type {
  Decide,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageEventsRequest,
  StorageListRequest,
  StorageMarkersRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWrite,
  StorageWriteRequest,
} from '../../core/storage/requests.js';
import {
  type Deleted,
  type FoundEvents,
  type Listing,
  type MarkerRows,
  NO_ROWS,
  type PageRows,
  type Rows,
} from '../../core/storage/rows.js';
import type { OwnStorage, ParsedRows, ReportFailure } from '../../core/storage/store.js';
import type { WordRows } from '../../core/word_rows.js';
import { connectKysely } from './kysely_pool.js';
import type { CreateWrite, DescribeWrite } from '../../core/write.js';
import { createWithFiles, type FileDatabase } from './artifacts/database_home.js';
import { DATABASE_TRAITS } from './database_traits.js';
import type { Address } from './engine/address.js';
import type { Connection, ConnectOptions, TransactionRunner } from './engine/connection.js';
import type { Engine, EngineKind } from './engine/engine.js';
import { databaseError, failureKind, OwnFailure } from './engine/failure.js';
import { plainQuery, type Steps, together } from './engine/prepared.js';
import type { OptimisticDriver } from './engine/optimistic_driver.js';
import type { SqliteHandle } from './engine/sqlite_handle.js';
import type { Waits } from './engine/waits.js';
import { ENGINES } from './engines/engines.js';
import { connectHandle } from './engines/sqlite/handle.js';
import { statementsOver, type VerbContext } from './statements/verb_context.js';
import { FirstEvents } from './tables/markers.js';
import type { Layout } from './tables/layout.js';
import { checkIds, fitsKey } from './tables/limits.js';
import { openOnce, openTables, type TablesToOpen } from './tables/opening.js';
import { Revisions } from './tables/revisions.js';
import { SessionRows } from './tables/session_rows.js';
import { type Database, queryBuilder } from './tables/tables.js';
import { changedSince } from './verbs/changed.js';
import { readChannelSecret } from './verbs/channel_secret.js';
import { remove, removeUnchanged } from './verbs/delete.js';
import { describe } from './verbs/describe.js';
import { list } from './verbs/list.js';
import { read, readPage, readParsed, readStatements } from './verbs/read.js';
import { readMarkers } from './verbs/read_markers.js';
import { storedWords } from './verbs/words.js';
import { write } from './verbs/write.js';
import { keyOf, sessionStatements } from './statements/session_statements.js';
import { lookUp, readTogether } from './transactions/lookup.js';
import { connectOptimistic, optimisticEngine } from './transactions/optimistic_runner.js';
import { findEvents } from './verbs/current_rows.js';

/** The checked options of a database. */
export interface DatabaseToOpen extends Pick<TablesToOpen, 'names' | 'access'> {
  readonly kind: EngineKind;
  readonly from:
    | { readonly kysely: Database }
    | { readonly sqlite: SqliteHandle }
    | { readonly driver: OptimisticDriver }
    | ({ readonly address: Address } & Pick<ConnectOptions, 'durability' | 'driverOptions'>);
  readonly durable: boolean;
  readonly clock: () => number;
  readonly waits: Waits;
}

/** Finds out whether the database answers. */
const PROBE = plainQuery('select 1');

/** The storage of a database. Connects and opens the tables at its first verb. */
export class DatabaseStorage implements OwnStorage {
  readonly kind: EngineKind;
  readonly durable: boolean;
  readonly traits = DATABASE_TRAITS;
  readonly listsParts = true;
  readonly #options: DatabaseToOpen;
  readonly #engine: Engine;
  readonly #revisions = new Revisions();
  readonly #firstEvents = new FirstEvents();
  #report: ReportFailure | undefined;
  #isOtherLayoutReported = false;
  /** The connection, or the pool that will connect. */
  #connected: Promise<Connection> | undefined;
  /** Pending while the database is opened. */
  #opening: Promise<SessionError | undefined> | undefined;
  #building: Promise<void> | undefined;
  #isOpen = false;
  #isWritable = false;
  /** Set before the first steps of a verb run. */
  #context!: VerbContext;
  #isClosing = false;

  constructor(options: DatabaseToOpen) {
    this.#options = options;
    const engine = ENGINES[options.kind];
    this.#engine = 'driver' in options.from ? optimisticEngine(engine) : engine;
    this.kind = options.kind;
    this.durable = options.durable;
  }

  onFailure(report: ReportFailure): void {
    this.#report = report;
  }

  /** Opens the database first. Once it is open, this is the connection's own runner. */
  #run: TransactionRunner = (mode, work, call) =>
    this.#untilOpened(call.signal).then(() => this.#run(mode, work, call));

  create(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#run('write', () => write(this.#context, [{ request, decide }], true), request);
  }

  append(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#run('write', () => write(this.#context, [{ request, decide }], false), request);
  }

  /** Absent once the server has refused the statements of a group. Each append then runs alone. */
  appendMany: Storage['appendMany'] = (writes) => {
    const call = { onRetry: () => writes.forEach(({ request }) => request.onRetry?.()) };
    const decided = new Set<StorageWrite>();
    const steps = () => write(this.#context, writes, false, decided);
    const written = this.#run('write', steps, call);
    if (!isPromise(written)) return written;
    return written.catch((error: unknown) => {
      const { cause } = Object(error) as { cause?: unknown };
      if (failureKind(this.#engine, cause) === 'unsupported') this.appendMany = undefined;
      throw error;
    });
  };

  read(request: StorageReadRequest): Rows | Promise<Rows> {
    if (!fitsKey(this.#engine, request.key)) return NO_ROWS;
    return this.#run('read', () => read(this.#context, request), request);
  }

  readParsed(
    request: StorageReadRequest,
  ): ParsedRows | undefined | Promise<ParsedRows | undefined> {
    if (!fitsKey(this.#engine, request.key)) return { ...NO_ROWS, events: [] };
    return this.#run('read', () => readParsed(this.#context, request), request);
  }

  readPage(request: StoragePageRequest): PageRows | Promise<PageRows> {
    const { key, eventId } = request;
    if (!fitsKey(this.#engine, key)) return {};
    if (eventId !== undefined) checkIds(this.#engine, { key, eventIds: [eventId] });
    return this.#run('read', () => readPage(this.#context, request), request);
  }

  readEvents(request: StorageEventsRequest): FoundEvents | Promise<FoundEvents> {
    if (!fitsKey(this.#engine, request.key)) return { events: [] };
    checkIds(this.#engine, request);
    return this.#run('read', () => readEvents(this.#context, request), request);
  }

  readMarkers(request: StorageMarkersRequest): MarkerRows | Promise<MarkerRows> {
    const { key, eventId } = request;
    if (!fitsKey(this.#engine, key)) return { events: [] };
    if (eventId !== undefined) checkIds(this.#engine, { key, eventIds: [eventId] });
    return this.#run('read', () => readMarkers(this.#context, request), request);
  }

  list(request: StorageListRequest): Listing | Promise<Listing> {
    if (!fitsKey(this.#engine, request)) {
      return { sessions: [], users: [], app: undefined, total: 0 };
    }
    return this.#run('read', () => list(this.#context, request), request);
  }

  changedSince(request: ChangedRequest): ChangedRows | Promise<ChangedRows> {
    if (!fitsKey(this.#engine, request)) return { sessions: [], app: undefined, users: new Map() };
    const users = request.users.filter((userId) => fitsKey(this.#engine, { ...request, userId }));
    return this.#run('read', () => changedSince(this.#context, { ...request, users }), request);
  }

  describe(request: StorageDescribeRequest): boolean | Promise<boolean> {
    if (!fitsKey(this.#engine, request.key)) return false;
    return this.#run('write', () => describe(this.#context, request), request);
  }

  delete(request: StorageDeleteRequest): Deleted | void | false | Promise<Deleted | void | false> {
    if (!fitsKey(this.#engine, request.key)) return;
    return this.#run('write', () => remove(this.#context, request), request);
  }

  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): boolean | Deleted | Promise<boolean | Deleted> {
    if (!fitsKey(this.#engine, request.key)) return false;
    return this.#run('write', () => removeUnchanged(this.#context, request), request);
  }

  /** Returns the rows of words, unless the database can only be read. Opens it first. */
  async words({ signal }: StorageCall): Promise<WordRows | undefined> {
    if (!this.#isOpen) await this.#untilOpened(signal);
    return this.#isWritable ? this.#words : undefined;
  }

  readonly #words = storedWords(
    (mode, steps, signal) => this.#run(mode, () => steps(this.#context), { signal }),
    (owner) => fitsKey(this.#engine, owner),
    (error) => this.#report?.('statistics', error),
  );

  /**
   * Returns 32 hexadecimal digits that the programs over these tables share: a part of their channel's name.
   *
   * @throws SessionError `storage_unavailable` if the database can only be read
   */
  async channelSecret(): Promise<string> {
    const refusal = this.#isOpen ? undefined : await this.#untilOpened(undefined);
    if (refusal !== undefined) throw refusal;
    return readChannelSecret(this.transact);
  }

  /** Runs the steps of a caller in one transaction. */
  transact: FileDatabase['transact'] = (mode, steps, call) =>
    this.#run(mode, () => steps(this.#context), call);

  /** A fork gets the files of its session in the transaction that creates it. */
  describing(write: CreateWrite | DescribeWrite): Pick<Storage, 'create' | 'describe'> {
    const filesOf = write.kind === 'create' ? write.filesOf : undefined;
    if (filesOf === undefined) return this;
    return {
      describe: (request) => this.describe(request),
      create: (request, decide) =>
        this.#run('write', () => createWithFiles(this.#context, request, decide, filesOf), request),
    };
  }

  /** Opens the database now. If it is open already, asks whether it answers. */
  async open(call: StorageCall = {}): Promise<void> {
    if (!this.#isOpen) {
      await this.#untilOpened(call.signal);
      return;
    }
    requireNotAborted(call.signal);
    // The server may have stopped since, or only this connection may be lost.
    const ask = async () => this.#run('read', () => together([PROBE], true), call);
    await ask().catch((error: unknown) => {
      if (!isSessionError(error, 'connection_lost')) throw error;
      call.onRetry?.();
      return ask();
    });
    const connected = await this.#connected;
    connected?.requireFile?.();
  }

  closing(timeoutMs?: number): void {
    this.#options.waits.shorten(timeoutMs);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    // A failed connection needs no closing.
    const connected = await this.#connected?.catch(() => undefined);
    await this.#building;
    if (connected === undefined) return;
    // The drivers also wait for connections that are being made, which may take the whole limit on a frozen
    // server.
    const late = new OwnFailure('the connections have not ended', 'lost');
    await this.#options.waits
      .until(connected.close(), () => late)
      .catch((error: unknown) => {
        if (error !== late) throw error;
      });
  }

  /**
   * Waits until the database is opened, once for all calls. After a failure the server may be back at the next call.
   * Opening continues if this call is aborted, since others may wait for it.
   *
   * @returns the reason why the database can only be read; `undefined` if it can be written
   */
  async #untilOpened(signal: HostAbortSignal | undefined): Promise<SessionError | undefined> {
    requireNotAborted(signal);
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    try {
      return await this.#options.waits.until(
        this.#opening,
        (ms) => new OwnFailure(`it was not opened within ${ms} ms`, 'unreachable'),
        // Each statement has the same limit. Its error comes first and says more.
        { signal, factor: 2 },
      );
    } catch (error) {
      throw databaseError(this.#engine, error);
    }
  }

  async #open(): Promise<SessionError | undefined> {
    const { from, names, access, clock } = this.#options;
    const engine = this.#engine;
    this.#connected ??= this.#connect().catch((error: unknown) => {
      this.#connected = undefined;
      throw error;
    });
    const { run, limits, useWriteAheadLog } = await this.#connected;
    const unnamed = 'kysely' in from ? from.kysely : queryBuilder(engine);
    const open = () => openTables(run, unnamed, { engine, names, access });
    const isShared = 'driver' in from;
    const tables = isShared ? await openOnce(from.driver, { names, access }, open) : await open();
    const { database, layout, refusal, buildIndices } = tables;
    if (refusal === undefined) await useWriteAheadLog?.();
    const { queries } = engine;
    const limited = { ...engine, queries: { ...queries, ...limits } };
    this.#context = {
      engine: limited,
      clock,
      layout,
      database,
      firstEvents: this.#firstEvents,
      revisions: this.#revisions,
      sessionRows: new SessionRows(layout, this.#revisions, () => this.#reportOtherLayout(layout)),
      statements: statementsOver(database, limited, layout),
    };
    this.#isOpen = true;
    this.#isWritable = refusal === undefined;
    this.#run = refusal === undefined ? run : this.#reading(run);
    // Only `close` waits for this, since it may take minutes.
    if (refusal === undefined) this.#building ??= buildIndices?.(() => this.#isClosing);
    return refusal;
  }

  #connect(): Promise<Connection> {
    const { from, waits } = this.#options;
    const engine = this.#engine;
    if ('kysely' in from) return connectKysely(from.kysely, engine, waits);
    if ('sqlite' in from) return connectHandle(from.sqlite, engine, waits);
    if ('driver' in from) return connectOptimistic(from.driver, engine, waits);
    const onLost = (error: unknown): void =>
      this.#report?.('connection', databaseError(engine, error));
    return engine.connect(from.address.location, { ...from, waits, onLost });
  }

  #reportOtherLayout({ service }: Layout): void {
    if (this.#isOtherLayoutReported) return;
    this.#isOtherLayoutReported = true;
    const message = `The SQLite file has rows that google-adk's ${service} cannot read: Python's other service wrote them.`;
    this.#report?.('mixed_rows', new SessionError('corrupt_record', message));
  }

  /** Returns a runner of reads. A write opens the tables again, since missing ones may exist now. */
  #reading(run: TransactionRunner): TransactionRunner {
    return async (mode, work, call) => {
      if (mode === 'read') return run(mode, work, call);
      const refusal = await this.#untilOpened(call.signal);
      if (refusal !== undefined) throw refusal;
      return this.#run(mode, work, call);
    };
  }
}

/** Reads events of a session by their ids; see `Storage.readEvents`. */
function* readEvents(
  context: VerbContext,
  { key, eventIds }: StorageEventsRequest,
): Steps<FoundEvents> {
  const { sessionRows, statements } = context;
  const { merged } = statements(sessionStatements);
  const { rowOf } = statements(readStatements);
  const keys = keyOf(key);
  const reads = [
    lookUp({ one: merged }, [keys]),
    findEvents(context, keys, eventIds, rowOf),
  ] as const;
  const [[row], events] = yield* readTogether(reads, true);
  if (row === undefined) return { events: [] };
  return { session: sessionRows.read(key, row), events };
}
