// SQLite in memory and in a file.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { attack } from '../run.js';

const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-attack-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

attack(
  {
    name: 'sqlite',
    refusesNul: true,
    open: () => Promise.resolve(new DatabaseSessionService('sqlite::memory:')),
  },
  170,
);
attack(
  {
    name: 'sqlite-file',
    refusesNul: true,
    open() {
      const url = `sqlite:${join(folder, `${(files += 1)}.db`)}`;
      return Promise.resolve(new DatabaseSessionService(url, { durability: 'relaxed' }));
    },
  },
  80,
);
