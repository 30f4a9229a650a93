/** Runs verbs on PostgreSQL with `pg` itself: Kysely names no statement, and waits for each. */
import type { Engine } from './engine.js';
import type { Query, Statement, Steps } from './prepared.js';
import type { Runner } from './runner.js';
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
 * What a server says that does not have the statement which this connection gave it, has another one of
 * that name, or would now have to give other columns. The first two come of a pooler in between, which
 * gives each transaction another connection of its own.
 */
const NO_SUCH_STATEMENT = ['26000', '42P05', '0A000'];

/**
 * Sends the queries of a request without waiting in between, the begin with the first and the commit with
 * the last: with a pool whose option is `pipeline: true` that is one way to the server and back.
 *
 * Statements have names, by which the server parses and plans each only once for a connection.
 */
export function postgresRunner(pool: PgPool, Rows: PgRowsClass, engine: Engine): Runner {
  const names = new Map<Statement, string>();
  let isNamed = true;

  const pgQuery = ({ statement, values }: Query): PgQuery => {
    const text = statement.query.sql;
    if (!isNamed) return { text, values };
    let name = names.get(statement);
    if (name === undefined) names.set(statement, (name = `adk_session_wasm_${names.size}`));
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

  /** The rows of each; what fails first is what is thrown. */
  const send = async (
    client: PgClient,
    queries: readonly (Query | string | undefined)[],
  ): Promise<(readonly unknown[])[]> => {
    if (client.pipeline === true) return Promise.all(queries.map((query) => rowsOf(client, query)));
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
    let begin = mode === 'write' ? engine.beginWrite : engine.beginRead;
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
    retried(engine, () =>
      once(mode, work).catch((error: unknown) => {
        const { code } = Object(error) as { code?: unknown };
        if (!isNamed || !NO_SUCH_STATEMENT.includes(String(code))) throw error;
        isNamed = false;
        return once(mode, work);
      }),
    );
}
