// Prototypes that a page or a library has changed, before the package is loaded or after it. Each realm is a thread's own, or a page's.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { build, transformSync } from 'esbuild';
import { openBrowser } from '../../browser/engine.js';
import { html, serve } from '../../browser/server.js';
import { root } from '../../toolchain/environment.mjs';
import { memberNames } from './names.js';

const POISONS = {
  data: 'members of Object.prototype',
  setter: 'setters of Object.prototype',
  array: 'members of Array.prototype',
  frozen: 'prototypes that are frozen',
  frozenBefore: 'prototypes that were frozen before the package was loaded',
};
type Poison = keyof typeof POISONS;

/** Names under which a library below us fails. The error's message, or the name itself, points at the library. */
const BELOW: Partial<Record<string, Partial<Record<Poison, readonly string[]>>>> = {
  sqlite: {
    // better-sqlite3 assigns what `run()` and an iterator return.
    setter: ['changes', 'lastInsertRowid', 'done'],
  },
  'sqlite, while it is opened,': {
    data: [
      // Kysely's nodes lack what a query lacks, and its compiler looks it up.
      'collation', 'columns', 'explain', 'from', 'ifNotExists', 'limit', 'notNull', 'offset', 'onDelete', 'orderBy', 'output', 'plugins',
      'schema', 'top', 'unique', 'where',
      // better-sqlite3 refuses options of these names, inherited ones too.
      'memory', 'readOnly',
    ],
    setter: [
      // Kysely assigns the methods of its expression builder.
      'count', 'countAll', 'lit', 'max', 'min', 'or', 'ref', 'selectFrom', 'table', 'val',
      // better-sqlite3 assigns what `run()`, an iterator and `columns()` return, and the columns of rows.
      'changes', 'lastInsertRowid', 'done', 'name', 'database', 'type', 'known', 'id', 'memory', 'readOnly',
    ],
  },
}; // prettier-ignore

const example = readFileSync(join(root, 'js/examples/map_adapter.ts'), 'utf8');
const adapter = transformSync(example, { loader: 'ts' }).code;

const [onlyTarget] = (process.env.ATTACK ?? '').split(':');

function withstands(
  over: string,
  poison: Poison,
  names: readonly string[],
  run: (names: readonly string[], apart: readonly string[]) => Promise<string[]>,
): void {
  if (onlyTarget && onlyTarget !== 'poison') return;
  it(`a service over ${over} withstands ${POISONS[poison]}`, async () => {
    const below = BELOW[over]?.[poison] ?? [];
    const failures = await run(poison.startsWith('frozen') ? ['price'] : names, below);
    assert.deepEqual(
      failures.filter((failure) => !below.includes(failure.split(':')[0]!)),
      [],
    );
  });
}

async function inThread(workerData: object): Promise<string[]> {
  const worker = new Worker(new URL('worker.mjs', import.meta.url), { workerData, execArgv: [] });
  try {
    const [failures] = (await once(worker, 'message')) as [string[]];
    return failures;
  } finally {
    await worker.terminate();
  }
}

const NAMES = memberNames();
const EXCEPT_SQL = memberNames((file) => !/^(?:database|dialect|uri)\//.test(file));
const OF_INDEXED_DB = memberNames((file) =>
  /^(?:service|indexed_db|storage\/indexed_db|bindings)\/|^\w+\.ts$/.test(file),
);
const OF_OPENING = memberNames((file) =>
  /^database\/(?:address|connect|database_\w+|opening|runner|schema|sqlite_file|table\w*)\.ts$/.test(file),
); // prettier-ignore

for (const poison of Object.keys(POISONS) as Poison[]) {
  for (const storage of ['memory', 'adapter']) {
    withstands(storage, poison, EXCEPT_SQL, (names, apart) =>
      inThread({ storage, poison, names, adapter, isReopened: true, apart }),
    );
  }
  withstands('sqlite', poison, NAMES, (names, apart) =>
    inThread({ storage: 'sqlite', poison, names, adapter, isReopened: false, apart }),
  );
}
for (const poison of ['data', 'setter'] as const) {
  withstands('sqlite, while it is opened,', poison, OF_OPENING, (names, apart) =>
    inThread({ storage: 'sqlite', poison, names, adapter, isReopened: true, apart }),
  );
}
for (const poison of ['data', 'setter', 'frozen'] as const) {
  withstands('IndexedDB', poison, OF_INDEXED_DB, (names) => inPage(poison, names));
}

/** In Chromium, over IndexedDB. */
async function inPage(poison: Poison, names: readonly string[]): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'tests/attack/poison/page.ts')],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    define: { POISON: JSON.stringify(poison), NAMES: JSON.stringify(names) },
  });
  const site = await serve({
    '/': html('<!doctype html><meta charset="utf-8"><body><script src="/main.js"></script>'),
    '/main.js': { body: outputFiles[0]!.text },
  });
  try {
    const browser = await openBrowser('chromium');
    try {
      return await browser.value<string[]>(`${site.origin}/`);
    } finally {
      await browser.close();
    }
  } finally {
    await site.close();
  }
}
