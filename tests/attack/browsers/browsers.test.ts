// IndexedDB in three engines.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { build } from 'esbuild';

import { type EngineName, ENGINES, openBrowser } from '../../browser/engine.js';
import { html, serve, type Server } from '../../browser/server.js';
import { root } from '../../toolchain/environment.mjs';
import type { Failure } from './page/main.js';
import { onlyTarget, seedsOf } from '../run.js';

const CASES = 400;
const DAMAGED = 300;

let site: Server;
before(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'tests/attack/browsers/page/main.ts')],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    alias: { 'node:vm': join(root, 'tests/attack/browsers/page/vm.ts') },
  });
  site = await serve({
    '/': html('<!doctype html><meta charset="utf-8"><body><script src="/main.js"></script>'),
    '/main.js': { body: outputFiles[0]!.text },
  });
});
after(() => site.close());

for (const engine of ENGINES) {
  run(engine, engine, 'mixed', CASES);
  run(engine, `damaged-${engine}`, 'damaged', DAMAGED);
}

function run(engine: EngineName, name: string, kind: string, count: number): void {
  if (onlyTarget && onlyTarget !== name) return;
  const [from, to] = seedsOf(count);
  it(`IndexedDB, ${name}, withstands the attacks of seeds ${from} to ${to}`, async () => {
    const browser = await openBrowser(engine);
    try {
      const url = `${site.origin}/?kind=${kind}&from=${from}&to=${to}`;
      const failure = await browser.value<Failure | null>(url);
      const { seed, message } = failure ?? {};
      const repeat = `To repeat it: ATTACK=${name}:${seed} npm test -- attack\n${message}`;
      assert.equal(failure, null, repeat);
    } finally {
      await browser.close();
    }
  });
}
