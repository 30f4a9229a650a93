// The suites over variants of SQLite: in memory, and in the layout of google-adk's SqliteSessionService.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { letsProgramsEnd, losesNothing } from './cases/concurrency.js';
import { conforms } from './cases/conforms.js';
import { listsAsModels, ordersAsJavaScript } from './cases/list_order.js';
import { knowsRetries } from './cases/retries.js';
import { newSqliteServiceFile } from './tables/sqlite_service_tables.js';

const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-variants-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
const newUrl = () => newSqliteServiceFile(join(folder, `${++count}.db`));
const open = (url: string) => new DatabaseSessionService(url);

const TITLE = "a file of google-adk's SqliteSessionService";
const REFUSED_TEXT = /ended with unserializable/;

conforms('SQLite in memory', (options) => new DatabaseSessionService('sqlite::memory:', options));
conforms(
  TITLE,
  (options) => new DatabaseSessionService(newUrl(), { ...options, durability: 'relaxed' }),
  {
    'state keys may hold any text': REFUSED_TEXT,
    'text of any script and control characters are returned exactly': REFUSED_TEXT,
  },
);
ordersAsJavaScript(TITLE, () => Promise.resolve(newUrl()));
listsAsModels(TITLE, newUrl);
losesNothing(TITLE, newUrl, open);
knowsRetries(TITLE, newUrl, open);
letsProgramsEnd(TITLE, newUrl);
