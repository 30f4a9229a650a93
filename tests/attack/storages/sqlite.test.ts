// SQLite in memory and in a file.

import { join } from 'node:path';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { attack } from '../run.js';
import { newFolder } from '../../new_folder.js';

const folder = newFolder();
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
