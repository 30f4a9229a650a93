// PostgreSQL: concurrent writers, deadlocks, long lists and sessions, and a server that is suspended or killed.

import { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { letsProgramsEnd, losesNothing, survivesRestarts } from './cases/concurrency.js';
import { deletesUsersInUse, neverDeadlocks } from './cases/deadlocks.js';
import { listsAsModels } from './cases/list_order.js';
import { readsLongSessions } from './cases/long_reads.js';
import { retriesSerializationFailures } from './cases/serialization_failures.js';
import { endsWhileSuspended } from './cases/suspended_server.js';
import { emptied, postgresRows, type Server, startPostgres } from './servers.js';

let server: Server;
before(async () => (server = await startPostgres()));
after(() => server.remove());

const newUrl = () => emptied('postgresql', server);
const open = (url: string) => new DatabaseSessionService(url);

losesNothing('PostgreSQL', newUrl, open);
listsAsModels('PostgreSQL', newUrl, postgresRows);
readsLongSessions('PostgreSQL', newUrl, open, postgresRows);
readsLongSessions(
  'PostgreSQL, one query at a time',
  newUrl,
  (url) => new DatabaseSessionService(url, { driverOptions: { pipeline: false } }),
  postgresRows,
);
letsProgramsEnd('PostgreSQL', newUrl);
neverDeadlocks('PostgreSQL', newUrl, open, deadlocks);
deletesUsersInUse('PostgreSQL', newUrl, open);
retriesSerializationFailures(newUrl, open);
endsWhileSuspended('PostgreSQL', () => server, newUrl, (url, options) => new DatabaseSessionService(url, options)); // prettier-ignore
survivesRestarts('PostgreSQL', newUrl, open, async () => {
  await server.kill();
  await server.start();
});

/** The server counts a deadlock only when the connection that met it ends. */
async function deadlocks(): Promise<number> {
  const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'adk' });
  await client.connect();
  const rowOf = async (query: string) => {
    const { rows } = await client.query<{ count: string }>(query);
    return Number(rows[0]?.count);
  };
  const others = 'select count(*) from pg_stat_activity where datname = current_database()';
  while ((await rowOf(others)) > 1) await pause(20);
  const count = await rowOf(
    'select deadlocks as count from pg_stat_database where datname = current_database()',
  );
  await client.end();
  return count;
}
