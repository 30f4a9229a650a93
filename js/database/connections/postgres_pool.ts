/** Runs queries on PostgreSQL through `pg` itself. Kysely does not name statements, and waits for each. */
import { memberOf, ownMembers } from '../../members/own.js';
import { Prepared, type Query, type Statement } from '../transactions/prepared.js';
import type { ServerConnection, ServerPool } from '../transactions/lease.js';
import { sendCancel } from './postgres_cancel.js';
import type { PgClient, PgPool, PgQuery, PgRowsClass } from './postgres_types.js';
import { Sockets } from './sockets.js';

/**
 * The driver collects the rows of a query that has a callback. They are discarded once there are this many.
 */
const KEPT_ROWS = 64;

/**
 * The codes of a server that lacks the named statement, has another of that name, or expects other values. They
 * come from a pooler in between, which runs each transaction on another of its connections.
 */
const NAMES_FAILED = ['26000', '42P05', '08P01'];

/** The code of a named statement that would return other columns, since a table was altered after its first use. */
const COLUMNS_CHANGED = '0A000';

/**
 * Returns a pool whose connections send the queries of a request without waiting in between, if the pool has
 * the option `pipeline: true`. A request then takes one round trip. After an error the server turns the
 * commit into a rollback.
 *
 * Statements are named, so the server parses and plans each only once per connection. The name is a hash of
 * the SQL. Behind a pooler several programs share a server's connection, and one name must never stand for
 * two statements there.
 *
 * After a table was altered, each connection that knows its old columns is closed, and the transaction runs again
 * on another one. If a new connection fails too, names do not work here, and are used no more.
 *
 * @param onLost called when a connection is lost outside of a query
 */
export function postgresPool(
  pool: PgPool,
  Rows: PgRowsClass,
  onLost: (error: unknown) => void,
): ServerPool {
  const names = new Map<Statement, string>();
  const sockets = new Sockets();
  let isNamed = true;
  /** The connections that have run a transaction. */
  const used = new WeakSet<PgClient>();
  // Unhandled error events would end the program. An idle connection that breaks is replaced by the next one.
  // If a connection breaks during a query, the query fails.
  pool.on('error', onLost);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    sockets.add(client.connection.stream);
  });

  const pgQuery = ({ statement, values }: Query): PgQuery => {
    const text = statement.query.sql;
    if (!isNamed || !(statement instanceof Prepared)) return ownMembers({ text, values });
    let name = names.get(statement);
    if (name === undefined) names.set(statement, (name = `adk_session_wasm_${textHash(text)}`));
    return ownMembers({ name, text, values });
  };

  return {
    async connect(): Promise<ServerConnection> {
      const client = await pool.connect();
      const isNew = !used.has(client);
      used.add(client);
      let hasSentNames = false;
      let isStale = false;
      return {
        async query(query) {
          const sent = pgQuery(query);
          hasSentNames ||= 'name' in sent;
          const take = memberOf(query, 'take');
          if (take === undefined) return (await client.query(sent)).rows ?? [];
          return new Promise((resolve, reject) => {
            const rows = new Rows(sent, (error) => (error ? reject(error) : resolve([])));
            rows.on('row', (row, { rows: kept }) => {
              take(row);
              if (kept.length === KEPT_ROWS) kept.length = 0;
            });
            client.query(rows);
          });
        },
        pipelines: client.pipeline === true,
        received: () => client.connection.stream.bytesRead ?? 0,
        cancel: () => sendCancel(client),
        fallsBack(error) {
          if (!hasSentNames) return false;
          const { code } = Object(error) as { code?: unknown };
          isStale = code === COLUMNS_CHANGED;
          if (isStale && !isNew) return true;
          if (!isStale && !NAMES_FAILED.includes(String(code))) return false;
          isNamed = false;
          return true;
        },
        release: () => client.release(isStale),
        destroy() {
          client.release(true);
          // Otherwise the driver waits for the pending answers first.
          client.connection.stream.destroy();
        },
      };
    },
    end: () => sockets.end(pool),
  };
}

/**
 * Returns a hash of 106 bits in base 36. It gives names that are the same in every program; it is not for
 * secrets.
 */
function textHash(text: string): string {
  return `${hash53(text, 0)}_${hash53(text, 0x9e3779b9)}`;
}

/** The function cyrb53, which is in the public domain. */
function hash53(text: string, seed: number): string {
  let one = 0xdeadbeef ^ seed;
  let other = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 2654435761);
    other = Math.imul(other ^ unit, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (4294967296 * (2097151 & other) + (one >>> 0)).toString(36);
}
