import { after, before } from 'node:test';

import { emptied, type Server, startPostgres } from '../../stores/database/servers.js';
import { runsOnce } from './one_run.js';

let postgres: Server;
before(async () => (postgres = await startPostgres()));
after(() => postgres.remove());

runsOnce('SQLite', (log) => log.sqliteUrl, 5);
runsOnce('PostgreSQL', () => emptied('postgresql', postgres), 5);
