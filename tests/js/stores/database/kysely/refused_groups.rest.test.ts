// A server that does not support the statements of a group: an older version, or another product.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { eventOf, numbers } from '../cases/concurrency.js';
import { emptied, type Server, startPostgres } from '../servers.js';

const USER = { appName: 'app', userId: 'user' };

let server: Server;
before(async () => (server = await startPostgres()));
after(() => server.remove());

it('a service appends one by one after its server has refused the statements of a group', async () => {
  const pool = new pg.Pool({ connectionString: await emptied('postgresql', server) });
  let refused = 0;
  const clients = new WeakSet<object>();
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect();
    if (clients.has(client)) return client;
    clients.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    client.query = ((...args: unknown[]) => {
      if (!String(args[0]).includes('skip locked')) return query(...args);
      refused += 1;
      const error = new Error('syntax error at or near "skip"');
      return Promise.reject(Object.assign(error, { code: '42601', severity: 'ERROR' }));
    }) as typeof client.query;
    return client;
  };
  const kysely = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end() } }),
  });
  const service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
  const sessions = await Promise.all(
    numbers(8).map((n) => service.createSession({ ...USER, sessionId: `s${n}` })),
  );
  for (const round of numbers(3)) {
    await Promise.all(
      sessions.map((session, n) =>
        service.appendEvent({ session, event: eventOf(`e${round}`, { [`app:k${n}`]: round }) }),
      ),
    );
  }
  assert.equal(refused, 1);
  const state = await service.getAppState({ appName: 'app' });
  assert.deepEqual(state, Object.fromEntries(numbers(8).map((n) => [`k${n}`, 2])));
  await service.close();
  await kysely.destroy();
});
