/** Runs verbs on a database without transactions across calls: reads, decides, and writes if nothing has changed. */
import { requireNotAborted } from '../../../core/call/call.js';
import { isSessionError } from '../../../values/errors/errors.js';
import { isEqualJson } from '../../../values/json/equal.js';
import type { StorageCall } from '../../../values/model/diagnostic.js';
import type { AttemptPolicy, Connection, Mode } from '../engine/connection.js';
import type { Engine } from '../engine/engine.js';
import { commitFailure, isRefusal, OwnFailure, driverReason } from '../engine/failure.js';
import type { OptimisticDriver, SqlStatement } from '../engine/optimistic_driver.js';
import {
  type Query,
  type QueryResults,
  readsNul,
  type Request,
  returnsRows,
  type Steps,
  withoutNul,
} from '../engine/prepared.js';
import type { Waits } from '../engine/waits.js';
import { Attempts, type Pauses } from './transaction.js';

/** Returns the engine for a driver that takes lists of statements: its reads lock nothing, and have guards instead. */
export function optimisticEngine(engine: Engine): Engine {
  const { transactions, queries, indexes } = engine;
  return {
    ...engine,
    isFile: false,
    transactions: {
      ...transactions,
      locksRows: true,
      locksByInsert: false,
      lock: (query) => query,
      locksSessionsAlone: false,
      creationLock: undefined,
    },
    // A guard is that of one row.
    queries: { ...queries, hasJsonRows: false },
    indexes: { ...indexes, buildOnline: undefined },
  };
}

/** What the services of one driver share. No promises: a Worker ends those of a request. */
interface DriverFacts {
  readsNul?: boolean;
  readonly turns: Turns;
}

/** The most milliseconds of a turn. A Worker may end the request that has it. */
const TURN_MS = 5000;

/** Lets only one write of this program at a time repeat itself over the same rows, or all would hinder each other. */
class Turns {
  /** When each turn ends at the latest, by the rows. */
  readonly #ends = new Map<string, number>();

  /** Returns what ends the turn, or `undefined` if another write has it. */
  take(reads: readonly Query[]): (() => void) | undefined {
    const locked = reads.find(({ guard }) => guard !== undefined) ?? reads[0];
    const rows = JSON.stringify(locked?.values);
    const now = performance.now();
    if ((this.#ends.get(rows) ?? 0) > now) return undefined;
    const end = now + TURN_MS;
    this.#ends.set(rows, end);
    return () => {
      if (this.#ends.get(rows) === end) this.#ends.delete(rows);
    };
  }
}

const factsByDriver = new WeakMap<OptimisticDriver, DriverFacts>();

function factsOf(driver: OptimisticDriver): DriverFacts {
  const facts: DriverFacts = factsByDriver.get(driver) ?? { turns: new Turns() };
  factsByDriver.set(driver, facts);
  return facts;
}

/** Returns the connection over a driver, which needs no closing. @param engine an {@link optimisticEngine} */
export async function connectOptimistic(
  driver: OptimisticDriver,
  engine: Engine,
  waits: Waits,
): Promise<Connection> {
  const { run } = new OptimisticRunner(driver, engine, waits);
  const facts = factsOf(driver);
  facts.readsNul ??= engine.tables.limitsIds || (await run('autocommit', readsNul, {}));
  return {
    run: facts.readsNul ? run : new OptimisticRunner(driver, engine, waits, withoutNul).run,
    limits: driver.limits,
    close: () => Promise.resolve(),
  };
}

/** An attempt takes at least two round trips. */
const PAUSES: Pauses = { first: 8, longest: 200 };

class OptimisticRunner {
  readonly #driver: OptimisticDriver;
  readonly #engine: Engine;
  readonly #waits: Waits;
  readonly #turns: Turns;
  readonly #check: (values: readonly unknown[]) => readonly unknown[];

  /** @param check returns the values that are sent in place of those of a statement */
  constructor(
    driver: OptimisticDriver,
    engine: Engine,
    waits: Waits,
    check = (values: readonly unknown[]) => values,
  ) {
    this.#driver = driver;
    this.#engine = engine;
    this.#waits = waits;
    this.#check = check;
    this.#turns = factsOf(driver).turns;
  }

  readonly run = async <T>(
    mode: Mode,
    work: () => Steps<T>,
    call: StorageCall,
    attempts: AttemptPolicy = new Attempts(this.#engine, this.#waits, call, PAUSES),
  ): Promise<T> => {
    let reads: Query[] = [];
    let endTurn: (() => void) | undefined;
    try {
      for (;;) {
        try {
          return await this.#attempt(work(), call, (reads = []));
        } catch (error) {
          do await attempts.pause(error, mode);
          while ((endTurn ??= this.#turns.take(reads)) === undefined);
        }
      }
    } finally {
      endTurn?.();
    }
  };

  /**
   * Sends the reads of a request, and keeps the changes for one commit behind the last read. Each read repeats all
   * earlier ones, so that all of them see one state, unless the request is independent.
   *
   * @param reads gets the queries that were sent
   */
  async #attempt<T>(steps: Steps<T>, { signal }: StorageCall, reads: Query[]): Promise<T> {
    let rows: QueryResults = [];
    let changes: Query[] = [];
    let step = steps.next();
    while (step.done !== true) {
      requireNotAborted(signal);
      const { queries, isLast, isIndependent = false } = step.value;
      const asked = queries.filter(isRead);
      if (isIndependent) reads.length = 0;
      const { length: earlier } = reads;
      if (asked.length > 0) {
        reads.push(...asked);
        const seen = await this.#read(reads, step.value, signal);
        if (!isIndependent && !isEqualJson(seen.slice(0, earlier), rows)) throw changed();
        rows = seen;
      }
      changes.push(...queries.filter((query) => query !== undefined && !isRead(query)));
      if (isLast) {
        await this.#commit(reads, rows, changes);
        changes = [];
      }
      const fresh = rows.slice(earlier).values();
      step = steps.next(queries.map((query) => (isRead(query) ? fresh.next().value! : [])));
    }
    await this.#commit(reads, rows, changes);
    return step.value;
  }

  async #read(
    queries: readonly Query[],
    { factor }: Request,
    signal: AbortSignal | undefined,
  ): Promise<QueryResults> {
    const statements = queries.map((query) => this.#statement(query));
    try {
      return await this.#waits.until(this.#driver.read(statements), silent, { signal, factor });
    } catch (error) {
      if (isSessionError(error) || isRefusal(this.#engine, error)) throw error;
      throw new OwnFailure(driverReason(error), 'lost', error);
    }
  }

  async #commit(
    reads: readonly Query[],
    rows: QueryResults,
    changes: readonly Query[],
  ): Promise<void> {
    if (changes.length === 0) return;
    const guards = reads.flatMap(({ guard }, at) => guard?.(rows[at] ?? []) ?? []);
    const [first, then] = [guards, changes].map((queries) =>
      queries.map((query) => this.#statement(query)),
    );
    let isStored: boolean;
    try {
      // A signal does not end the wait: the write may be stored.
      isStored = await this.#waits.until(this.#driver.commit(first!, then!), silent);
    } catch (error) {
      throw commitFailure(this.#engine, error, false);
    }
    if (!isStored) throw changed();
  }

  #statement({ statement, values }: Query): SqlStatement {
    return { sql: statement.query.sql, values: this.#check(values) as SqlStatement['values'] };
  }
}

function isRead(query: Query | undefined): query is Query {
  return query !== undefined && returnsRows(query.statement.query.sql);
}

function changed(): OwnFailure {
  return new OwnFailure('others have changed what the call had read', 'conflict');
}

function silent(milliseconds: number): OwnFailure {
  return new OwnFailure(`it sent no response for ${milliseconds} ms`, 'lost');
}
