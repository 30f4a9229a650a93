// The suites over variants: SQLite in memory, tables with a prefix, and the layout of google-adk's SqliteSessionService.

import { join } from 'node:path';
import { after, before } from 'node:test';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { letsProgramsEnd, losesNothing } from './cases/concurrency.js';
import { conforms } from '../../conforms.js';
import { listsAsModels, ordersAsJavaScript } from './cases/list_order.js';
import { POSTGRESQL_EXPECTATIONS } from './cases/refusals.js';
import { knowsRetries } from './cases/retries.js';
import { cleared, emptied, type Server, startPostgres } from './servers.js';
import { newSqliteServiceFile } from './tables/sqlite_service_tables.js';
import { newFolder } from '../../../new_folder.js';

const folder = newFolder();

let count = 0;
const newUrl = () => newSqliteServiceFile(join(folder, `${++count}.db`));
const open = (url: string) => new DatabaseSessionService(url);

const TITLE = "a file of google-adk's SqliteSessionService";

conforms('SQLite in memory', (options) => new DatabaseSessionService('sqlite::memory:', options));
conforms('SQLite with a prefix', (options) => {
  return new DatabaseSessionService('sqlite::memory:', { ...options, tablePrefix: 'p_' });
});

const NAMES = { schema: 'tenant_a', tablePrefix: 'Agents_' };
let postgres: Server;
before(async () => {
  postgres = await startPostgres();
  const client = new pg.Client({ connectionString: await emptied('postgresql', postgres) });
  await client.connect();
  await client.query(`drop schema if exists ${NAMES.schema} cascade`);
  await client.query(`create schema ${NAMES.schema}`);
  await client.end();
});
after(() => postgres.remove());
conforms(
  'PostgreSQL in a schema with a prefix',
  async (options) => {
    const url = await cleared('postgresql', postgres, NAMES.schema);
    return new DatabaseSessionService(url, { ...options, ...NAMES, durability: 'relaxed' });
  },
  { expectations: POSTGRESQL_EXPECTATIONS },
);

conforms(
  TITLE,
  (options) => new DatabaseSessionService(newUrl(), { ...options, durability: 'relaxed' }),
  {
    expectations: [
      [
        /ended with unserializable/,
        'state keys may hold any text',
        'text of any script and control characters are returned exactly',
      ],
    ],
  },
);
ordersAsJavaScript(TITLE, () => Promise.resolve(newUrl()));
listsAsModels(TITLE, newUrl);
losesNothing(TITLE, newUrl, open);
knowsRetries(TITLE, newUrl, open);
letsProgramsEnd(TITLE, newUrl);
