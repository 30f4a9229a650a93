// SQLite: the conformance suite, and concurrent writers.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { choosesByTime, FOREIGN_TEXT } from './cases/after_timestamp.js';
import { letsProgramsEnd, losesNothing } from './cases/concurrency.js';
import { conforms } from '../../conforms.js';
import { hearsOthers } from './cases/foreign_changes.js';
import { listsAsModels } from './cases/list_order.js';
import { readsLongSessions } from './cases/long_reads.js';
import { knowsRetries } from './cases/retries.js';
import { searches } from './cases/searches.js';
import { newFolder } from '../../../new_folder.js';

const folder = newFolder();

let count = 0;
const newUrl = () => `sqlite:${join(folder, `${++count}.db`)}`;

conforms('a SQLite file', (options) => {
  return new DatabaseSessionService(newUrl(), { ...options, durability: 'relaxed' });
});
const open = (url: string) => new DatabaseSessionService(url);
const run = (url: string, statement: string) => {
  const database = new Sqlite(url.slice('sqlite:'.length));
  database.exec(statement);
  database.close();
};
losesNothing('a SQLite file', newUrl, open);
listsAsModels('a SQLite file', newUrl, run);
knowsRetries('a SQLite file', newUrl, open);
hearsOthers('a SQLite file', newUrl, open);
choosesByTime('a SQLite file', newUrl, open, run, FOREIGN_TEXT);
readsLongSessions('a SQLite file', newUrl, open, run);
letsProgramsEnd('a SQLite file', newUrl);
searches('a SQLite file', newUrl, async (url, statement) => {
  const database = new Sqlite(url.slice('sqlite:'.length));
  const prepared = database.prepare(statement);
  const rows = prepared.reader ? prepared.all() : [prepared.run()];
  database.close();
  return Promise.resolve(rows);
});

for (const [durability, pragma] of [
  [undefined, 'full'],
  ['relaxed', 'normal'],
] as const) {
  it(`a SQLite file is written with synchronous = ${pragma} if durability is ${durability}`, async () => {
    const statements: string[] = [];
    const verbose = (statement: string) => statements.push(statement);
    const service = new DatabaseSessionService(newUrl(), {
      durability,
      driverOptions: { verbose },
    });
    await service.ping();
    await service.close();
    const set = statements.filter((statement) => statement.startsWith('pragma synchronous'));
    assert.deepEqual(set, [`pragma synchronous = ${pragma}`]);
  });
}
