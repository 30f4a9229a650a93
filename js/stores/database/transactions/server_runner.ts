/** Runs verbs on a server, each in one transaction on a connection of its own. */
import { requireNotAborted } from '../../../core/call/call.js';
import { isSessionError } from '../../../values/errors/errors.js';
import type { StorageCall } from '../../../values/model/diagnostic.js';
import type { Connection, Mode, AttemptPolicy } from '../engine/connection.js';
import type { Engine, Failure } from '../engine/engine.js';
import {
  commitFailure,
  failureKind,
  isRefusal,
  OwnFailure,
  driverReason,
} from '../engine/failure.js';
import type { Steps, Query, QueryResults, Request } from '../engine/prepared.js';
import type { Waits } from '../engine/waits.js';
import {
  Attempts,
  type BeginQueries,
  beginQueries,
  inTransaction,
  COMMIT,
  ROLLBACK,
} from './transaction.js';

/** Returns the connection over a pool. @param begin the queries that begin a transaction on it */
export function serverConnection(
  pool: ServerPool,
  engine: Engine,
  waits: Waits,
  begin: BeginQueries = beginQueries(engine, engine.transactions.begin),
): Connection {
  async function run<T>(
    mode: Mode,
    work: () => Steps<T>,
    call: StorageCall,
    attempts: AttemptPolicy = new Attempts(engine, waits, call),
  ): Promise<T> {
    const { signal } = call;
    let lease: Lease | undefined;
    let result: T;
    try {
      lease = await Lease.open(pool, engine, waits, signal);
      const steps = inTransaction(begin[mode], work());
      let step = steps.next();
      while (step.done !== true) {
        const { queries, factor } = step.value;
        step = steps.next(await lease.send(queries, { signal, factor }));
      }
      result = step.value;
    } catch (error) {
      const isInDoubt = mode !== 'read' && lease?.isCommitSent === true;
      const fallsBack = lease?.fallsBack(error) === true;
      await lease?.rollBack();
      if (fallsBack) call.onRetry?.();
      else {
        const isBroken = !lease?.isUsable;
        await attempts.pause(isInDoubt ? commitFailure(engine, error, isBroken) : error, mode);
      }
      return run(mode, work, call, attempts);
    }
    await lease.release();
    return result;
  }
  return { run, close: () => pool.end() };
}

// A connection to a server for one transaction. Every wait has a limit, and a broken connection is never used
// again.

/** A driver's connection. */
export interface ServerConnection {
  /** Runs a query, and returns its rows. */
  query(query: Query): Promise<readonly unknown[]>;
  /**
   * Whether it sends a statement without waiting for the answers to earlier ones. After an error the server then
   * turns the commit into a rollback.
   */
  readonly pipelines?: boolean;
  /** A number that grows with everything that arrives. */
  received(): number;
  /** Asks the server to stop the statement of this connection. Does not wait for the answer. */
  cancel?(): void;
  /**
   * Whether the error says that a prepared statement cannot be run. The transaction is then run again, on another
   * connection or without prepared statements.
   */
  fallsBack?(error: unknown): boolean;
  /** Gives the connection back to the pool. */
  release(): void;
  /**
   * Closes the connection instead. A connection that cannot be closed is given back once it has run these queries.
   */
  destroy(undo: readonly Query[]): void;
}

/** A driver's pool of connections. */
export interface ServerPool {
  /** @param onQueue called if the call has to wait for a connection, since all are in use */
  connect(onQueue: () => void): Promise<ServerConnection>;
  end(): Promise<void>;
}

/** How long a request may take, and the signal that ends the wait. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** Multiplies the limit. */
  readonly factor?: number | undefined;
}

const NO_RESULT: Promise<readonly unknown[]> = Promise.resolve([]);

/** A connection taken from a pool for one transaction. */
class Lease {
  readonly #connection: ServerConnection;
  readonly #engine: Engine;
  readonly #waits: Waits;
  #isUsable = true;
  #isCommitSent = false;
  /** See {@link Query.undo}. */
  readonly #undo: Query[] = [];

  private constructor(connection: ServerConnection, engine: Engine, waits: Waits) {
    this.#connection = connection;
    this.#engine = engine;
    this.#waits = waits;
  }

  /**
   * Takes a connection from the pool. A lost connection or an unknown error means here that the server is
   * unreachable.
   */
  static async open(
    pool: ServerPool,
    engine: Engine,
    waits: Waits,
    signal?: AbortSignal,
  ): Promise<Lease> {
    requireNotAborted(signal);
    let lateness: Failure = 'unreachable';
    const connecting = pool.connect(() => (lateness = 'exhausted'));
    try {
      const connection = await waits.until(
        connecting,
        (milliseconds) =>
          new OwnFailure(`there was no connection within ${milliseconds} ms`, lateness),
        { signal },
      );
      return new Lease(connection, engine, waits);
    } catch (error) {
      // The pool may still deliver the connection later.
      connecting.then((late) => late.release()).catch(() => undefined);
      const failure = failureKind(engine, error);
      if (isSessionError(error) || (failure !== 'lost' && failure !== 'other')) throw error;
      throw new OwnFailure(driverReason(error), 'unreachable', error);
    }
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  get isCommitSent(): boolean {
    return this.#isCommitSent;
  }

  /** Runs queries in order, and returns the rows of each. Rejects with the error of the first that fails. */
  async send(queries: Request['queries'], options: SendOptions = {}): Promise<QueryResults> {
    requireNotAborted(options.signal);
    const connection = this.#connection;
    if (!this.#isUsable) throw new OwnFailure('the connection is broken', 'lost');
    try {
      return await this.#waits.until(
        this.#results(queries),
        (milliseconds) => new OwnFailure(`it sent no response for ${milliseconds} ms`, 'lost'),
        {
          ...options,
          isAbortable: () => !this.#isCommitSent,
          received: () => connection.received(),
        },
      );
    } catch (error) {
      if (!isRefusal(this.#engine, error)) this.#isUsable = false;
      // The server no longer accepts writes, for instance after a failover; the next transaction needs
      // another connection.
      if (failureKind(this.#engine, error) === 'readonly') this.#isUsable = false;
      if (isSessionError(error) || error instanceof OwnFailure) connection.cancel?.();
      throw error;
    }
  }

  async #results(queries: Request['queries']): Promise<QueryResults> {
    if (this.#connection.pipelines === true) {
      const sent = queries.map((query) => this.#query(query));
      // Awaits all answers, and throws the first error: that statement makes the others fail.
      const settled = await Promise.allSettled(sent);
      return settled.map((result) => {
        if (result.status === 'rejected') throw result.reason;
        return result.value;
      });
    }
    const results: (readonly unknown[])[] = [];
    for (const query of queries) {
      // Nobody waits for the results any more.
      if (!this.#isUsable) break;
      // Throws the first error. It need not end the transaction, so a later commit would keep the changes before it.
      results.push(await this.#query(query));
    }
    return results;
  }

  #query(query: Query | undefined): Promise<readonly unknown[]> {
    if (query === undefined) return NO_RESULT;
    if (query === COMMIT) this.#isCommitSent = true;
    const undo = query.undo;
    if (undo !== undefined) this.#undo.push(undo);
    return this.#connection.query(query);
  }

  fallsBack(error: unknown): boolean {
    return this.#connection.fallsBack?.(error) === true;
  }

  /**
   * Rolls back a failed transaction and waits for that, since it frees the locks. Releases the connection.
   */
  async rollBack(): Promise<void> {
    await this.#sendLast([ROLLBACK]);
    await this.release();
  }

  /** Returns the connection to the pool, or closes it if its state is unknown. */
  async release(): Promise<void> {
    if (this.#undo.length > 0) await this.#sendLast(this.#undo);
    if (this.#isUsable) this.#connection.release();
    else this.#connection.destroy(this.#undo);
  }

  /** Sends queries after the transaction. If one fails, the state of the connection is unknown. */
  async #sendLast(queries: readonly Query[]): Promise<void> {
    if (this.#isUsable) await this.send(queries).catch(() => (this.#isUsable = false));
  }
}
