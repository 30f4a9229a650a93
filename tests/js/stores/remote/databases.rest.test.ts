// The conformance suite through a handler over databases.

import { after, before } from 'node:test';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { POSTGRESQL_EXPECTATIONS } from '../database/cases/refusals.js';
import { cleared, type Server, startPostgres } from '../database/servers.js';
import { conforms } from './conforms.js';

let server: Server;
before(async () => (server = await startPostgres()));
after(() => server.remove());

conforms('SQLite', (options) => new DatabaseSessionService('sqlite::memory:', options));
conforms(
  'PostgreSQL',
  async (options) => {
    const url = await cleared('postgresql', server);
    return new DatabaseSessionService(url, { ...options, durability: 'relaxed' });
  },
  POSTGRESQL_EXPECTATIONS,
);
