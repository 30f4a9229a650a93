/**
 * The storage adapter over google-adk Python's tables, in either of their layouts (`layout.ts`). The
 * adapter's values are stored as follows:
 *
 * | of the adapter | in the tables |
 * |---|---|
 * | a session's `revision` | `sessions.update_time`, in microseconds since 1970; see `revisions.ts` for sessions where Python left it or set it back |
 * | `created` | `create_time`, likewise |
 * | `lastUpdateTime` | `update_time`; if that had to be later, a row of the side table `adk_session_wasm_sessions` |
 * | `title`, `labels`, `initialState` | a row of our table `adk_session_wasm_details`; see its type in `tables.ts` |
 * | an event's `seq` | `events.timestamp`, in microseconds |
 * | an event's `revision` | the same; for a replaced event a number in `event_data` |
 * | an event's `timestamp` and `text` | `event_data` |
 * | a user's or an app's `revision` | `update_time` of the row |
 * | `floor` | a row of `adk_internal_metadata` that Python ignores, or of a table of our own |
 *
 * - Every write raises `update_time`, if only by a microsecond. Python tells by it that a session which it
 *   holds is stale. It equals `lastUpdateTime` if that is later than every time before.
 * - Python orders events by the column, so `timestamp` grows with each append of ours, whatever the event's
 *   own time. On SQLite events are read in the order of their rows: an event of a Python whose clock is
 *   behind stands where it was appended. On servers it stands earlier, as it does for Python. A handle that
 *   merges gets it last, in append order.
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
  StoragePageRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from '../storage/adapter.js';
import type { Deleted, Listing, PageRows, Rows, StorageKey } from '../storage/rows.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { ownMembers } from '../members/own.js';
import { requireNotAborted } from '../call/call.js';
import type { StorageCall } from '../model/diagnostic.js';
import {
  NO_ROWS,
  type OwnAdapter,
  type OwnListAfterRequest,
  type OwnListRequest,
  type OwnRows,
  type OwnWriteRequest,
} from '../storage/own_adapter.js';
import type { Connected } from './connections/connect.js';
import { deleteStatements, remove, removeUnchanged } from './verbs/delete.js';
import { describe, describeStatements } from './verbs/describe.js';
import type { Engine } from './engines/engine.js';
import { databaseError, failureKind } from './engines/failure.js';
import { readFloor } from './verbs/current_rows.js';
import { currentRowsStatements } from './verbs/current_rows_statements.js';
import { checkIds, fitsKey } from './tables/limits.js';
import type { Layout } from './tables/layout.js';
import { list, listStatements } from './verbs/list.js';
import type { OpenedTables } from './tables/opening.js';
import type { Steps } from './transactions/prepared.js';
import { read, readPage, readParsed, readStatements } from './verbs/read.js';
import { Revisions } from './tables/revisions.js';
import { KnownFailure } from './engines/failure.js';
import type { Waits } from './transactions/waits.js';
import { type Key, sessionStatements } from './verbs/session_statements.js';
import { addTerms, termStatements } from './verbs/terms.js';
import type { Database } from './tables/tables.js';
import { type Mode, retried, type Runner } from './transactions/transaction.js';
import { write } from './verbs/write.js';
import type { WriteContext } from './verbs/write_context.js';
import { writeStatements } from './verbs/write_statements.js';

/** The parts that an adapter is made of. */
export interface DatabaseParts {
  readonly engine: Engine;
  readonly durable: boolean;
  /** Connects, or makes the pool that will connect. Called again after a failure. */
  readonly connect: (onLost: (error: unknown) => void) => Promise<Connected>;
  /** Checks and creates the tables of the connected database. */
  readonly openTables: (database: Database, engine: Engine) => Promise<OpenedTables>;
  /** Whether closing the adapter closes the connection. */
  readonly owns: boolean;
  readonly clock: () => number;
  readonly waits: Waits;
}

/** A connected database whose tables were accepted. */
interface Opened extends WriteContext {
  readonly run: Runner;
  readonly statements: ReturnType<typeof allStatements>;
  /** The reason why the database can only be read; `undefined` if it can be written. */
  readonly refusal: SessionError | undefined;
  /** Whether all titles and labels have their terms. */
  hasTerms: boolean;
}

/** The sessions that get their terms in one transaction, so that writers wait for few. */
const TERMS_AT_ONCE = 50;

function allStatements(database: Database, usual: Engine, layout: Layout) {
  const engine = layout.engineOf(usual);
  return {
    ...sessionStatements(database, engine, layout),
    ...currentRowsStatements(database, engine, layout),
    ...readStatements(database, engine, layout),
    ...writeStatements(database, engine),
    ...deleteStatements(database, engine, layout),
    ...listStatements(database, engine),
    ...describeStatements(database, engine),
    ...termStatements(database, engine, layout),
  };
}

/** The storage adapter of a database. Connects and opens the tables at its first verb. */
export class DatabaseAdapter implements OwnAdapter {
  readonly kind: string;
  readonly durable: boolean;
  readonly truncates = true;
  onConnectionLost: OwnAdapter['onConnectionLost'];
  readonly #parts: DatabaseParts;
  readonly #revisions = new Revisions();
  #connected: Promise<Connected> | undefined;
  #opening: Promise<void> | undefined;
  #building: Promise<void> | undefined;
  #canGroup = true;
  #isClosing = false;
  /** Set once opening has succeeded. The verbs then run without waiting. */
  #opened: Opened | undefined;

  constructor(parts: DatabaseParts) {
    this.#parts = parts;
    this.kind = parts.engine.kind;
    this.durable = parts.durable;
  }

  create(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#run('write', request, (opened) => write(opened, [{ request, decide }], true));
  }

  append(request: OwnWriteRequest, decide: Decide): void | Promise<void> {
    const mode = request.changedLimit === undefined ? 'write' : 'read';
    return this.#run(mode, request, (opened) => write(opened, [{ request, decide }], false));
  }

  /** Absent once the server has refused the statements of a group. Each append then runs alone. */
  get appendMany(): OwnAdapter['appendMany'] {
    if (!this.#canGroup) return undefined;
    return (writes) => {
      const isCounted = writes.some(({ request }) => request.onRetry !== undefined);
      const onRetry = (): void => writes.forEach(({ request }) => request.onRetry?.());
      const call = isCounted ? { onRetry } : {};
      const written = this.#run('write', call, (opened) => write(opened, writes, false));
      if (!(written instanceof Promise)) return written;
      return written.catch((error: unknown) => {
        const { cause } = Object(error) as { cause?: unknown };
        if (failureKind(this.#parts.engine, cause) === 'unsupported') this.#canGroup = false;
        throw error;
      });
    };
  }

  read(request: StorageReadRequest): Rows | Promise<Rows> {
    if (!fitsKey(this.#parts.engine, request.key)) return NO_ROWS;
    return this.#run('read', request, ({ statements }) =>
      read(statements, this.#revisions, request),
    );
  }

  async readParsed(request: StorageReadRequest): Promise<OwnRows> {
    if (!fitsKey(this.#parts.engine, request.key)) return NO_ROWS;
    const found = await this.#run('read', request, ({ statements }) =>
      readParsed(statements, this.#revisions, request),
    );
    return found ?? this.read(request);
  }

  readPage(request: StoragePageRequest): PageRows | Promise<PageRows> {
    const { engine } = this.#parts;
    const { key, eventId } = request;
    if (!fitsKey(engine, key)) return {};
    if (eventId !== undefined) checkIds(engine, { key, eventIds: [eventId] });
    return this.#run('read', request, ({ statements }) =>
      readPage(statements, this.#revisions, request),
    );
  }

  list(request: OwnListRequest): Listing | Promise<Listing> {
    const { engine } = this.#parts;
    if (!fitsKey(engine, request)) return { sessions: [], users: [], app: undefined, total: 0 };
    return this.#run('read', request, ({ statements, layout, hasTerms }) =>
      list(statements, layout, hasTerms, request),
    );
  }

  listAfter(request: OwnListAfterRequest): Listing | Promise<Listing> {
    return this.list(ownMembers({ ...request, offset: 0 }));
  }

  describe(request: StorageDescribeRequest): boolean | Promise<boolean> {
    const { engine } = this.#parts;
    if (!fitsKey(engine, request.key)) return false;
    return this.#run('write', request, ({ statements }) => describe(engine, statements, request));
  }

  delete(request: StorageDeleteRequest): Deleted | void | Promise<Deleted | void> {
    const { engine } = this.#parts;
    if (!fitsKey(engine, request.key)) return;
    return this.#run('write', request, (opened) => {
      opened.lastWrites?.clear();
      return remove(opened, request);
    });
  }

  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): boolean | Deleted | Promise<boolean | Deleted> {
    const { engine } = this.#parts;
    if (!fitsKey(engine, request.key)) return false;
    return this.#run('write', request, (opened) => {
      opened.lastWrites?.clear();
      return removeUnchanged(opened, request);
    });
  }

  /** Deletes a session and creates another in its place, in one transaction. */
  replace(
    request: StorageWriteRequest & { readonly key: Required<StorageKey> },
    decide: Decide,
  ): void | Promise<void> {
    return this.#run('write', request, function* (opened) {
      opened.lastWrites?.clear();
      yield* remove(opened, { what: 'session', key: request.key });
      yield* write(opened, [{ request, decide }], true);
    });
  }

  /** Adds to a `stale_session` the markers by which Python tells whether a session was changed. */
  explain(error: SessionError, key: Required<StorageKey>): SessionError {
    const { code, message, expectedRevision, actualRevision, cause } = error;
    if (expectedRevision === undefined || actualRevision === undefined) return error;
    return new SessionError(code, message, {
      expectedRevision,
      actualRevision,
      expectedMarker: this.#revisions.markerOf(key, expectedRevision),
      actualMarker: this.#revisions.markerOf(key, actualRevision),
      cause,
    });
  }

  closing(timeoutMs?: number): void {
    this.#parts.waits.shorten(timeoutMs);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    // A failed connection needs no closing.
    const connected = await this.#connected?.catch(() => undefined);
    await this.#building;
    const { owns, waits } = this.#parts;
    if (!owns || connected === undefined) return;
    // The drivers also wait for connections that are being made, which may take the whole limit on a frozen
    // server.
    const late = new KnownFailure('the connections have not ended', 'lost');
    await waits
      .until(connected.database.destroy(), () => late)
      .catch((error: unknown) => {
        if (error !== late) throw error;
      });
  }

  /**
   * Connects and checks the tables now, to learn whether they can be used. Otherwise the first verb does so.
   */
  async open(call: StorageCall = {}): Promise<void> {
    const wasOpened = this.#opened !== undefined;
    await this.#untilOpened(call.signal);
    if (!wasOpened) return;
    // The server may have stopped since, or only this connection may be lost.
    const ask = async () => this.#run('read', call, ({ statements }) => readFloor(statements));
    await ask().catch((error: unknown) => {
      if (!isSessionError(error, 'connection_lost')) throw error;
      call.onRetry?.();
      return ask();
    });
  }

  #run<T>(mode: Mode, call: StorageCall, work: (opened: Opened) => Steps<T>): T | Promise<T> {
    const opened = this.#opened;
    const { signal } = call;
    if (opened === undefined) {
      return this.#untilOpened(signal).then(() => this.#run(mode, call, work));
    }
    if (mode === 'write' && opened.refusal !== undefined) {
      return this.#openToWrite(signal).then(() => this.#run(mode, call, work));
    }
    const { engine, waits } = this.#parts;
    const attempt = () => opened.run(mode, () => work(opened), call);
    return retried(engine, attempt, waits, call);
  }

  /**
   * Waits until the database is opened. Opening continues if this call is aborted, since others may wait for
   * it.
   */
  async #untilOpened(signal: AbortSignal | undefined): Promise<void> {
    const { engine, waits } = this.#parts;
    requireNotAborted(signal);
    try {
      await waits.until(
        this.#open(),
        (ms) => new KnownFailure(`it was not opened within ${ms} ms`, 'unreachable'),
        // Each statement has the same limit. Its error comes first and says more.
        { signal, factor: 2 },
      );
    } catch (error) {
      throw databaseError(engine, error);
    }
  }

  /** Opens tables again that could only be read, since missing tables may exist now. */
  async #openToWrite(signal: AbortSignal | undefined): Promise<void> {
    this.#opening = undefined;
    await this.#untilOpened(signal);
    const refusal = this.#opened?.refusal;
    if (refusal !== undefined) throw refusal;
  }

  /** Opens the database once. A failure is not kept: the server may be back at the next call. */
  #open(): Promise<void> {
    this.#opening ??= this.#openNow().then(
      (opened) => {
        this.#opened = opened;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw databaseError(this.#parts.engine, error);
      },
    );
    return this.#opening;
  }

  async #openNow(): Promise<Opened> {
    const { connect, engine, clock } = this.#parts;
    this.#connected ??= connect((error) => this.onConnectionLost?.(error)).catch(
      (error: unknown) => {
        this.#connected = undefined;
        throw error;
      },
    );
    const { database, run, lastWrites, useWriteAheadLog } = ownMembers(await this.#connected);
    const tables = await this.#parts.openTables(database, engine);
    const { layout, refusal, hasTerms = false, buildIndices } = ownMembers(tables);
    if (refusal === undefined) await useWriteAheadLog?.();
    const statements = allStatements(tables.database, engine, layout);
    const revisions = this.#revisions;
    const opened = {
      engine,
      clock,
      run,
      lastWrites,
      layout,
      revisions,
      statements,
      refusal,
      hasTerms,
    };
    // Only `close` waits for this, since it may take minutes.
    this.#building ??= this.#complete(opened, buildIndices);
    return opened;
  }

  /**
   * Builds missing indices, and stores the terms of sessions that an earlier version of this package has
   * described. Never rejects: until that succeeds, lists are correct but slower.
   */
  async #complete(opened: Opened, buildIndices: OpenedTables['buildIndices']): Promise<void> {
    await buildIndices?.();
    if (opened.hasTerms || opened.refusal !== undefined) return;
    try {
      await this.#completeTerms(opened);
    } catch {
      // The next opening tries again.
    }
  }

  async #completeTerms(opened: Opened): Promise<void> {
    const { engine, statements } = opened;
    const run = <T>(mode: Mode, work: () => Steps<T>): T | Promise<T> =>
      retried(engine, () => opened.run(mode, work, {}), this.#parts.waits, {});
    let last: Key | undefined = { app: '', user: '', session: '' };
    while (last !== undefined) {
      if (this.#isClosing) return;
      const next: Key & { most: number } = { ...last, most: TERMS_AT_ONCE };
      const keys: readonly Key[] = await run('read', () => statements.described.run(next));
      await run('write', () => addTerms(engine, statements, keys));
      last = keys.at(-1);
    }
    await run('write', () => statements.noteTerms.run({}));
    opened.hasTerms = true;
  }
}
