import { after, before } from 'node:test';

import { emptied, type Server, startPostgres } from '../../stores/database/servers.js';
import { KILL_POINTS, killsWithin, losesNothing } from './killed_server.js';

let postgres: Server;
before(async () => (postgres = await startPostgres()));
after(() => postgres.remove());

losesNothing('SQLite', (log) => log.sqliteUrl, [...KILL_POINTS, ...killsWithin(0, 1)]);
losesNothing('PostgreSQL', () => emptied('postgresql', postgres), [
  ...KILL_POINTS,
  ...killsWithin(0, 1, 2, 4),
]);
