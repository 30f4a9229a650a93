// The conformance suite on SQLite, in memory and in a file.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { conforms } from './conforms.js';

const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-sqlite-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
conforms('SQLite in memory', (options) => new DatabaseSessionService('sqlite::memory:', options));
conforms('a SQLite file', (options) => {
  const url = `sqlite:${join(folder, `${++count}.db`)}`;
  return new DatabaseSessionService(url, { ...options, durability: 'relaxed' });
});
