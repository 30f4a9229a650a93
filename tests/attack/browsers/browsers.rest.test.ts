// IndexedDB in three browsers.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';

import {
  type Browser,
  type BrowserName,
  ALL_BROWSERS,
  openBrowser,
} from '../../browser/browser.js';
import { html, serve, type Server } from '../../browser/server.js';
import { root } from '../../toolchain/environment.mjs';
import { runs } from '../../properties.js';

/** The share of field cases that each browser runs: the first case, and the step to the next. */
const SHARES = {
  chromium: [0, 1],
  firefox: [0, 4],
  webkit: [2, 4],
} as const satisfies Record<BrowserName, unknown>;

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

for (const browserName of ALL_BROWSERS) {
  describe(`IndexedDB in ${browserName}`, () => {
    let browser: Browser;
    before(async () => (browser = await openBrowser(browserName)));
    after(() => browser.close());

    it('withstands the attacks on 35 pairs of sessions', async () => {
      const given = encodeURIComponent(JSON.stringify(runs(35, true)));
      const failure = await browser.value<string>(`${site.origin}/?runs=${given}`);
      assert.equal(failure, '', failure);
    });

    // The message names the record, the field and the damage.
    it('names each damaged field, and keeps all undamaged data', async () => {
      const [first, step] = SHARES[browserName];
      const wrong = await browser.value<string>(`${site.origin}/?first=${first}&step=${step}`);
      assert.equal(wrong, '', wrong);
    });
  });
}
