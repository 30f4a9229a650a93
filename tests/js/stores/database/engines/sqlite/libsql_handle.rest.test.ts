// The conformance suite over a connection of npm's `libsql`, which the caller opens and closes.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import { DatabaseSessionService, type SqliteHandle } from '../../../../../../js/service/database/index.js'; // prettier-ignore
import { installPackages } from '../../../../../toolchain/npm_packages.mjs';
import { conforms } from '../../../../conforms.js';
import { newFolder } from '../../../../../new_folder.js';
import { NUL_REFUSALS } from '../../cases/refusals.js';

const require = createRequire(join(installPackages('libsql'), 'package.json'));
const Libsql = require('libsql') as new (path: string) => SqliteHandle;
const folder = newFolder();
let count = 0;

for (const [title, newPath] of [
  ['a file', () => join(folder, `${++count}.db`)],
  ['memory', () => ':memory:'],
] as const) {
  conforms(
    `a handle of libsql over ${title}`,
    (options) => new DatabaseSessionService({ ...options, sqlite: new Libsql(newPath()) }),
    { expectations: NUL_REFUSALS },
  );
}
