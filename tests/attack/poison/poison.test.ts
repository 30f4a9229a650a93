// Prototypes that a page or a library has changed, before or after the package is loaded. Each realm is a thread.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { memberNames } from './names.js';
import { inThread, type Poison, POISONS, withstands } from './withstands.js';

const example = readFileSync(join(root, 'examples/map_adapter.ts'), 'utf8');
const adapter = transformSync(example, { loader: 'ts' }).code;

const NAMES = memberNames((file) => !file.startsWith('vertex/'));
const EXCEPT_SQL = memberNames((file) => !/^(?:database|python|uri|vertex)\//.test(file));
const OPENING_NAMES = memberNames((file) =>
  /^database\/(?:\w+\/)?(?:address|connect|database_\w+|opening|runner|schema|sqlite_file|table\w*)\.ts$/.test(file),
); // prettier-ignore

for (const poison of Object.keys(POISONS) as Poison[]) {
  for (const storage of ['memory', 'adapter']) {
    withstands(storage, poison, EXCEPT_SQL, (names) =>
      inThread({ storage, poison, names, adapter, isReopened: true }),
    );
  }
  withstands('sqlite', poison, NAMES, (names) => inThread({ storage: 'sqlite', poison, names }));
}
for (const poison of ['data', 'setter'] as const) {
  withstands('sqlite, while it is subject,', poison, OPENING_NAMES, (names) =>
    inThread({ storage: 'sqlite', poison, names, isReopened: true }),
  );
}
