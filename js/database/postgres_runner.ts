/** Runs verbs on PostgreSQL with `pg` itself: Kysely names no statement, and waits for each. */
import type { Engine } from './engine.js';
import type { Query, Statement, Steps } from './prepared.js';
import type { Runner } from './runner.js';
import { textHash } from './text_hash.js';
import { type Mode, retried } from './transaction.js';

/** What of a pool of `pg` is used. */
export interface PgPool {
  connect(): Promise<PgClient>;
}

interface PgClient {
  /** Whether it sends a query while others are under way. Older versions never do. */
  readonly pipeline?: boolean;
  query(query: string | PgQuery): Promise<{ rows: unknown[] }>;
  query(query: PgRows): unknown;
  release(): void;
}

/** `Query` of `pg`: tells of each row when it comes. */
export type PgRowsClass = new (
  query: PgQuery,
  done: (error: Error | null | undefined) => void,
) => PgRows;

interface PgRows {
  on(event: 'row', listener: (row: unknown, result: { rows: unknown[] }) => void): unknown;
}

/** Rows that the driver keeps, which does so for whoever is told of the end. */
const KEPT_ROWS = 64;

interface PgQuery {
  name?: string;
  text: string;
  values: readonly unknown[];
}

/**
 * The codes of a server that lacks the named statement, has one of that name already, has one that takes
 * other values, or would now have to give other columns. All but the last come of a pooler in between,
 * which gives each transaction another of its connections.
 */
const NAMES_FAILED = ['26000', '42P05', '08P01', '0A000'];

/**
 * Sends the queries of a request without waiting in between, the begin with the first and the commit with
 * the last: with a pool whose option is `pipeline: true` that is one way to the server and back.
 *
 * Statements have names, by which the server parses and plans each only once for a connection. A name is a
 * hash of the SQL: behind a pooler several programs share a server's connection, where one name must never
 * stand for two statements.
 *
 * @param beginWrite what begins a transaction that writes
 */
export function postgresRunner(
  pool: PgPool,
  Rows: PgRowsClass,
  engine: Engine,
  beginWrite: readonly string[],
): Runner {
  const names = new Map<Statement, string>();
  let isNamed = true;

  const pgQuery = ({ statement, values }: Query): PgQuery => {
    const text = statement.query.sql;
    if (!isNamed) return { text, values };
    let name = names.get(statement);
    if (name === undefined) names.set(statement, (name = `adk_session_wasm_${textHash(text)}`));
    return { name, text, values };
  };

  const rowsOf = async (
    client: PgClient,
    query: Query | string | undefined,
  ): Promise<readonly unknown[]> => {
    if (query === undefined) return [];
    if (typeof query === 'string') return (await client.query(query)).rows;
    if (query.take === undefined) return (await client.query(pgQuery(query))).rows;
    return new Promise((resolve, reject) => {
      const rows = new Rows(pgQuery(query), (error) => (error ? reject(error) : resolve([])));
      rows.on('row', (row, { rows: kept }) => {
        query.take?.(row);
        if (kept.length === KEPT_ROWS) kept.length = 0;
      });
      client.query(rows);
    });
  };

  /** The rows of each. The first query to fail is the one whose error says why: the others fail by it. */
  const send = async (
    client: PgClient,
    queries: readonly (Query | string | undefined)[],
  ): Promise<(readonly unknown[])[]> => {
    if (client.pipeline === true) {
      const settled = await Promise.allSettled(queries.map((query) => rowsOf(client, query)));
      return settled.map((result) => {
        if (result.status === 'rejected') throw result.reason;
        return result.value;
      });
    }
    const rows: (readonly unknown[])[] = [];
    for (const query of queries) rows.push(await rowsOf(client, query));
    return rows;
  };

  const once = async <T>(mode: Mode, work: () => Steps<T>): Promise<T> => {
    const client = await pool.connect();
    try {
      return await onClient(client, mode, work);
    } catch (error) {
      // Where the connection is gone there is nothing to take back, and `error` is the one that tells.
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      client.release();
    }
  };

  const onClient = async <T>(client: PgClient, mode: Mode, work: () => Steps<T>): Promise<T> => {
    let begin = mode === 'write' ? beginWrite : engine.beginRead;
    let isEnded = true;
    const steps = work();
    let step = steps.next();
    while (step.done !== true) {
      const { queries, isLast } = step.value;
      // After an error a server takes the commit for a rollback.
      const results = await send(client, [...begin, ...queries, ...(isLast ? ['commit'] : [])]);
      const rows = results.slice(begin.length, begin.length + queries.length);
      begin = [];
      isEnded = isLast;
      step = steps.next(rows);
    }
    if (!isEnded) await client.query('commit');
    return step.value;
  };

  return (mode, work) =>
    retried(engine, () => {
      const wasNamed = isNamed;
      return once(mode, work).catch((error: unknown) => {
        const { code } = Object(error) as { code?: unknown };
        if (!wasNamed || !NAMES_FAILED.includes(String(code))) throw error;
        isNamed = false;
        return once(mode, work);
      });
    });
}
