import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import {
  mysqlPool,
  type MysqlPromisePool,
} from '../../../../../../js/stores/database/engines/mysql/mysql_pool.js';

/** Returns a pool of one connection to a server, which notes the queries that reach it. */
function poolTo(hostname: string | undefined, threadId: number, queries: string[]) {
  const answer = (query: string): unknown[] => {
    queries.push(query);
    return query.startsWith('select') ? [{ hostname }] : [];
  };
  const announced = Object.assign(new EventEmitter(), {
    threadId,
    query(query: string, done: (error: unknown, rows: unknown) => void) {
      if (hostname === undefined) done(new Error('not supported by this proxy'), undefined);
      else done(null, answer(query));
    },
  });
  const pool = Object.assign(new EventEmitter(), {
    getConnection() {
      pool.emit('connection', announced);
      const query = (text: string) => Promise.resolve([answer(text)] as const);
      const connection = { connection: announced, query, execute: query };
      return Promise.resolve({ ...connection, release: () => undefined, destroy: () => undefined });
    },
    end: () => Promise.resolve(),
  });
  return pool as unknown as MysqlPromisePool;
}

for (const [title, first, second, isSent] of [
  ['ends a connection on its server', 'db1', 'db1', true],
  ['spares the connection with its number on another server', 'db1', 'db2', false],
  ['spares all connections if the first server is unknown', undefined, undefined, false],
] as const) {
  it(`a kill ${title}`, async () => {
    const queries: string[] = [];
    const createPool = () => poolTo(second, 8, queries);
    const pool = mysqlPool(poolTo(first, 7, []), createPool, () => undefined);
    const connection = await pool.connect(() => undefined);
    connection.cancel?.();
    await turn();
    assert.equal(queries.includes('kill 7'), isSent);
  });
}
