/** Connects to a database and opens its tables at the first transaction. */
import { isSessionError, type SessionError } from '../errors/errors.js';
import { requireNotAborted } from '../call/call.js';
import type { HostAbortSignal } from '../model/host.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { Connection, Mode, Runner } from './engine/connection.js';
import { databaseError, OwnFailure } from './engine/failure.js';
import { FirstEvents } from './tables/first_events.js';
import { openTables, type TablesToOpen } from './tables/opening.js';
import { Revisions } from './tables/revisions.js';
import type { Database } from './tables/tables.js';
import { plainQuery, type Steps, together } from './engine/prepared.js';
import type { Waits } from './engine/waits.js';
import { statementsOver, type VerbContext } from './statements/verb_context.js';

/** The parts that a database is opened with. */
export interface DatabaseParts extends TablesToOpen {
  readonly durable: boolean;
  /** Builds queries. */
  readonly database: Database;
  /** Connects, or makes the pool that will connect. Called again after a failure. */
  readonly connect: (onLost: (error: unknown) => void) => Promise<Connection>;
  readonly clock: () => number;
  readonly waits: Waits;
}

/** Finds out whether the database answers. */
const PROBE = plainQuery('select 1');

/** A database that is opened when it is needed. */
export class LazyDatabase {
  readonly revisions = new Revisions();
  readonly firstEvents = new FirstEvents();
  readonly #parts: DatabaseParts;
  readonly #onLost: (error: unknown) => void;
  #connected: Promise<Connection> | undefined;
  /** Pending while the database is opened. */
  #opening: Promise<void> | undefined;
  #building: Promise<void> | undefined;
  #opened: VerbContext | undefined;
  /** The reason why the database can only be read; `undefined` if it can be written. */
  #refusal: SessionError | undefined;
  #isClosing = false;

  /** @param onLost called if a pool loses a connection that no call uses */
  constructor(parts: DatabaseParts, onLost: (error: unknown) => void) {
    this.#parts = parts;
    this.#onLost = onLost;
  }

  /** Opens the database first. Once it is open, this is the connection's own runner. */
  #run: Runner = (mode, work, call) =>
    this.#untilOpened(call.signal).then(() => this.#run(mode, work, call));

  /** Runs a verb in one transaction. Opens the database first. */
  run<T>(mode: Mode, verb: (context: VerbContext) => Steps<T>, call: StorageCall): T | Promise<T> {
    return this.#run(mode, () => verb(this.#opened!), call);
  }

  /** Opens the database now. If it is open already, asks whether it answers. */
  async open(call: StorageCall): Promise<void> {
    if (this.#opened === undefined) return this.#untilOpened(call.signal);
    requireNotAborted(call.signal);
    // The server may have stopped since, or only this connection may be lost.
    const ask = async () => this.run('read', () => together([PROBE], true), call);
    await ask().catch((error: unknown) => {
      if (!isSessionError(error, 'connection_lost')) throw error;
      call.onRetry?.();
      return ask();
    });
    const connected = await this.#connected;
    connected?.requireFile?.();
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
    await this.#parts.waits
      .until(connected.close(), () => late)
      .catch((error: unknown) => {
        if (error !== late) throw error;
      });
  }

  /**
   * Waits until the database is opened, once for all calls. After a failure the server may be back at the next call.
   * Opening continues if this call is aborted, since others may wait for
   * it.
   */
  async #untilOpened(signal: HostAbortSignal | undefined): Promise<void> {
    const { engine, waits } = this.#parts;
    requireNotAborted(signal);
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    try {
      await waits.until(
        this.#opening,
        (ms) => new OwnFailure(`it was not opened within ${ms} ms`, 'unreachable'),
        // Each statement has the same limit. Its error comes first and says more.
        { signal, factor: 2 },
      );
    } catch (error) {
      throw databaseError(engine, error);
    }
  }

  /** Opens tables again that could only be read, since missing tables may exist now. */
  async #openToWrite(signal: HostAbortSignal | undefined): Promise<void> {
    await this.#untilOpened(signal);
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  async #open(): Promise<void> {
    const { connect, database: unnamed, engine, clock } = this.#parts;
    this.#connected ??= connect(this.#onLost).catch((error: unknown) => {
      this.#connected = undefined;
      throw error;
    });
    const { run, useWriteAheadLog } = await this.#connected;
    const tables = await openTables(run, unnamed, this.#parts);
    const { database, layout, refusal, buildIndices } = tables;
    if (refusal === undefined) await useWriteAheadLog?.();
    const statements = statementsOver(database, engine, layout);
    const { firstEvents, revisions } = this;
    this.#opened = { engine, clock, layout, database, firstEvents, revisions, statements };
    this.#refusal = refusal;
    this.#run =
      refusal === undefined
        ? run
        : (mode, work, call) =>
            mode === 'read'
              ? run(mode, work, call)
              : this.#openToWrite(call.signal).then(() => this.#run(mode, work, call));
    // Only `close` waits for this, since it may take minutes.
    if (refusal === undefined) this.#building ??= buildIndices?.(() => this.#isClosing);
  }
}
