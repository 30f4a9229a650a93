import { after, before } from 'node:test';

import { emptied, type Server, startPostgres } from '../../stores/database/servers.js';
import { endsElsewhere } from './cancelled_elsewhere.js';

let postgres: Server;
before(async () => (postgres = await startPostgres()));
after(() => postgres.remove());

endsElsewhere('SQLite', (log) => log.sqliteUrl);
endsElsewhere('PostgreSQL', () => emptied('postgresql', postgres));
