// Realms whose prototypes are frozen, as hardened JavaScript (SES) has them. Each realm is a thread.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { transformSync } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';

const example = readFileSync(join(root, 'examples/map_storage.ts'), 'utf8');
const source = transformSync(example, { loader: 'ts' }).code;

for (const storage of ['memory', 'storage', 'sqlite']) {
  for (const frozen of ['before the package is loaded', 'while a service is used']) {
    it(`a service over ${storage} works with prototypes that are frozen ${frozen}`, async () => {
      const workerData = { storage, isFirst: frozen.startsWith('before'), source };
      const worker = new Worker(new URL('realm.mjs', import.meta.url), {
        workerData,
        execArgv: [],
      });
      try {
        assert.deepEqual(await once(worker, 'message'), ['done']);
      } finally {
        await worker.terminate();
      }
    });
  }
}
