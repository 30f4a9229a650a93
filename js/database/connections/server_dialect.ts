/** Runs Kysely's queries over our own connections, which limit every wait. */
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import type { Engine } from '../engines/engine.js';
import { Lease, type ServerPool } from '../transactions/lease.js';
import type { Waits } from '../transactions/waits.js';

/** Multiplies the limit of a wait: an index on a large table takes longer than any other statement. */
const INDEX_FACTOR = 20;

/** Returns a dialect of Kysely over the pool. */
export function serverDialect(pool: ServerPool, engine: Engine, waits: Waits): Dialect {
  return {
    ...engine.dialect,
    createDriver: (): Driver => ({
      init: () => Promise.resolve(),
      acquireConnection: async () => new LeasedConnection(await Lease.open(pool, engine, waits)),
      releaseConnection(connection) {
        (connection as LeasedConnection).lease.release();
        return Promise.resolve();
      },
      beginTransaction: unused,
      commitTransaction: unused,
      rollbackTransaction: unused,
      destroy: () => pool.end(),
    }),
  };
}

class LeasedConnection implements DatabaseConnection {
  constructor(readonly lease: Lease) {}

  async executeQuery<Row>(query: {
    readonly sql: string;
    readonly parameters: readonly unknown[];
  }): Promise<QueryResult<Row>> {
    const { sql, parameters: values } = query;
    const factor = /^(?:create|drop) index|^alter table/i.test(sql) ? INDEX_FACTOR : 1;
    const sent = values.length === 0 ? sql : { statement: { query: query as never }, values };
    const [rows = []] = await this.lease.send([sent], { factor });
    // Trusts here that a query returns the rows that its builder promised.
    return { rows: rows as Row[] };
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    return unused();
  }
}

/** Rejects: our own statements begin and end transactions, and nothing streams. */
function unused(): Promise<never> {
  return Promise.reject(new TypeError('This driver runs single queries alone.'));
}
