/** PostgreSQL by `pg` itself: Kysely names no statement, and waits for each. */
import { memberOf, ownMembers } from '../../members/own.js';
import { Prepared, type Query, type Statement } from '../transactions/prepared.js';
import type { Sendable, ServerConnection, ServerPool } from '../transactions/lease.js';
import { sendCancel } from './postgres_cancel.js';
import type { PgClient, PgPool, PgQuery, PgRowsClass } from './postgres_driver.js';
import { oneByOne } from '../transactions/server_runner.js';
import { textHash } from './text_hash.js';

/** Rows that the driver keeps, which does so for whoever is told of the end. */
const KEPT_ROWS = 64;

/**
 * The codes of a server that lacks the named statement, has one of that name already, has one that takes
 * other values, or would now have to give other columns. All but the last come of a pooler in between,
 * which gives each transaction another of its connections.
 */
const NAMES_FAILED = ['26000', '42P05', '08P01', '0A000'];

/** How long a server has to close its side of a connection after the pool's end. */
const END_MS = 2000;

/**
 * Connections send the queries of a request without waiting in between: with a pool whose option is
 * `pipeline: true` a request is one way to the server and back. After an error the server takes a commit
 * for a rollback.
 *
 * Statements have names, by which the server parses and plans each only once for a connection. A name is a
 * hash of the SQL: behind a pooler several programs share a server's connection, where one name must never
 * stand for two statements.
 */
export function postgresPool(pool: PgPool, Rows: PgRowsClass): ServerPool {
  const names = new Map<Statement, string>();
  const clients = new Set<PgClient>();
  let isNamed = true;
  // Unheard, these would end the program. A connection that breaks while nobody uses it is replaced by
  // the next one; where one breaks that is in use, its query fails and tells.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    clients.add(client);
    client.on('end', () => clients.delete(client));
  });

  const pgQuery = ({ statement, values }: Query): PgQuery => {
    const text = statement.query.sql;
    if (!isNamed || !(statement instanceof Prepared)) return ownMembers({ text, values });
    let name = names.get(statement);
    if (name === undefined) names.set(statement, (name = `adk_session_wasm_${textHash(text)}`));
    return ownMembers({ name, text, values });
  };

  const rowsOf = async (client: PgClient, query: Query | string): Promise<readonly unknown[]> => {
    // The driver would make an object of a text, and look in it for a name.
    if (typeof query === 'string') {
      return (await client.query(ownMembers({ text: query }))).rows ?? [];
    }
    const take = memberOf(query, 'take');
    if (take === undefined) return (await client.query(pgQuery(query))).rows ?? [];
    return new Promise((resolve, reject) => {
      const rows = new Rows(pgQuery(query), (error) => (error ? reject(error) : resolve([])));
      rows.on('row', (row, { rows: kept }) => {
        take(row);
        if (kept.length === KEPT_ROWS) kept.length = 0;
      });
      client.query(rows);
    });
  };

  /** The first query to fail is the one whose error says why: the others fail by it. */
  const pipelined = async (
    client: PgClient,
    statements: readonly Sendable[],
    onCommit: () => void,
  ): Promise<(readonly unknown[])[]> => {
    if (statements.includes('commit')) onCommit();
    const settled = await Promise.allSettled(
      statements.map((query) =>
        query === undefined ? Promise.resolve([]) : rowsOf(client, query),
      ),
    );
    return settled.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  };

  return {
    async connect(): Promise<ServerConnection> {
      const client = await pool.connect();
      const wasNamed = isNamed;
      return {
        send: (statements, onCommit) =>
          client.pipeline === true
            ? pipelined(client, statements, onCommit)
            : oneByOne(statements, onCommit, (query) => rowsOf(client, query)),
        received: () => client.connection.stream.bytesRead ?? 0,
        cancel: () => sendCancel(client),
        fallsBack(error) {
          const { code } = Object(error) as { code?: unknown };
          if (!wasNamed || !NAMES_FAILED.includes(String(code))) return false;
          isNamed = false;
          return true;
        },
        release: () => client.release(),
        destroy() {
          client.release(true);
          // The driver would first wait for the answers.
          client.connection.stream.destroy();
        },
      };
    },
    async end() {
      await pool.end();
      // A frozen server does not close its side, and the program could not end.
      if (clients.size === 0) return;
      const timer = setTimeout(() => {
        for (const { connection } of clients) connection.stream.destroy();
      }, END_MS);
      const onEnd = (): void => {
        if (clients.size === 0) clearTimeout(timer);
      };
      for (const client of clients) client.on('end', onEnd);
    },
  };
}
