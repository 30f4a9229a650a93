// The conformance suite through a cache over a remote service on a handler over databases.

import { after, before } from 'node:test';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { POSTGRESQL_REFUSALS } from '../../database/cases/refusals.js';
import { cleared, type Server, startPostgres } from '../../database/servers.js';
import { conforms } from './conforms.js';

let server: Server;
before(async () => (server = await startPostgres()));
after(() => server.remove());

conforms('SQLite', (options) => new DatabaseSessionService('sqlite::memory:', options), {
  reads: 'network-first',
  write: 'through',
});
conforms(
  'SQLite of the same process',
  (options) => new DatabaseSessionService('sqlite::memory:', options),
  { reads: 'network-first', write: 'through' },
  { isInProcess: true },
);
conforms(
  'PostgreSQL',
  async (options) => {
    const url = await cleared('postgresql', server);
    return new DatabaseSessionService(url, { ...options, durability: 'relaxed' });
  },
  { reads: 'network-first', write: 'through' },
  // A copy keeps the order of its keys, so only what PostgreSQL refuses to store differs.
  { expectations: POSTGRESQL_REFUSALS },
);
