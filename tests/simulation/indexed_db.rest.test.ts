// Seeds over IndexedDB, in the three browsers.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build, type Plugin } from 'esbuild';
import { type Browser, ALL_BROWSERS, openBrowser } from '../browser/browser.js';
import { html, serve, type Server } from '../browser/server.js';
import type { Tab } from '../browser/tab.js';
import { root } from '../toolchain/environment.mjs';
import type { SimulationPage } from './indexed_db/page.js';
import { FIRST_SEED } from './run/seeds.js';

const { SEED, BOUNDARY } = process.env;
const isAlone = SEED !== undefined;
const SEEDS = isAlone ? 1 : 200;
const FIRST = Number(SEED ?? FIRST_SEED);
/** The number of concurrent seeds in one page. Each has its own database. */
const AT_ONCE = 40;

/** Bundles the package as a program would. */
const asInstalled: Plugin = {
  name: 'as installed',
  setup(build) {
    build.onResolve({ filter: /\/js\/index\.js$/ }, ({ resolveDir, kind }) =>
      build.resolve('adk-session-wasm', { resolveDir, kind }),
    );
  },
};

describe('IndexedDB whose requests fail', { skip: isAlone && BOUNDARY !== 'indexeddb' }, () => {
  let site: Server;
  before(async () => {
    const { outputFiles } = await build({
      entryPoints: [join(root, 'tests/simulation/indexed_db/page.ts')],
      bundle: true,
      plugins: [asInstalled],
      format: 'iife',
      target: 'es2022',
      write: false,
      logLevel: 'silent',
    });
    site = await serve({
      '/': html('<!doctype html><meta charset="utf-8"><script src="/page.js"></script>'),
      '/page.js': { body: outputFiles[0]!.text },
    });
  });
  after(() => site.close());

  for (const browserName of ALL_BROWSERS) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      let tab: Tab<SimulationPage>;
      before(async () => {
        browser = await openBrowser(browserName);
        tab = await browser.openTab<SimulationPage>(`${site.origin}/`);
      });
      after(() => browser.close());

      for (let from = FIRST; from < FIRST + SEEDS; from += AT_ONCE) {
        const count = Math.min(AT_ONCE, FIRST + SEEDS - from);
        it(`keeps the contract with the seeds from ${from} to ${from + count - 1}`, async () => {
          const reports = await tab.call('simulate', from, count);
          assert.equal(reports.length, 0, reports.join('\n\n'));
        });
      }
    });
  }
});
