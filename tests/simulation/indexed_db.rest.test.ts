// Seeds over IndexedDB, in the three browsers.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Plugin } from 'esbuild';
import { type Browser, ALL_BROWSERS, openBrowser } from '../browser/browser.js';
import { pageScript } from '../browser/page_script.js';
import { html, serve, type Server } from '../browser/server.js';
import type { Tab } from '../browser/tab.js';
import { indexedDbBoundary } from './boundaries/indexed_db.js';
import { type Listen, report, runSeed } from './run/run_seed.js';
import { FIRST_SEED } from './run/seeds.js';

export const page = () => ({ simulate });

/** The number of concurrent seeds in one page. Each has its own database. */
const AT_ONCE = 40;

const listen: Listen = (onError) => {
  const listener = (event: PromiseRejectionEvent | ErrorEvent): void =>
    onError('reason' in event ? event.reason : event.error);
  addEventListener('unhandledrejection', listener);
  addEventListener('error', listener);
  return () => {
    removeEventListener('unhandledrejection', listener);
    removeEventListener('error', listener);
  };
};

/** Runs seeds concurrently. @returns reports of the failed ones */
async function simulate(first: number, count: number): Promise<string[]> {
  const seeds = Array.from({ length: count }, (_, number) => first + number);
  const results = await Promise.all(seeds.map((seed) => runSeed(indexedDbBoundary, seed, listen)));
  const failed = results.filter(({ problem }) => problem !== undefined);
  return failed.map((result) => report(indexedDbBoundary, result));
}

/** Bundles the package as a program would. */
const asInstalled: Plugin = {
  name: 'as installed',
  setup(build) {
    build.onResolve({ filter: /\/js\/index\.js$/ }, ({ resolveDir, kind }) =>
      build.resolve('adk-session-wasm', { resolveDir, kind }),
    );
  },
};

describe('IndexedDB whose requests fail', () => {
  const { SEED, BOUNDARY } = process.env;
  if (SEED !== undefined && BOUNDARY !== 'indexeddb') return;
  const first = Number(SEED ?? FIRST_SEED);
  const end = first + (SEED === undefined ? 200 : 1);
  let site: Server;
  before(async () => {
    site = await serve({
      '/': html(
        '<!doctype html><meta charset="utf-8"><script type="module" src="/page.js"></script>',
      ),
      '/page.js': { body: await pageScript(import.meta.url, { plugins: [asInstalled] }) },
    });
  });
  after(() => site.close());

  for (const browserName of ALL_BROWSERS) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      let tab: Tab<ReturnType<typeof page>>;
      before(async () => {
        browser = await openBrowser(browserName);
        tab = await browser.openTab<ReturnType<typeof page>>(`${site.origin}/`);
      });
      after(() => browser.close());

      for (let from = first; from < end; from += AT_ONCE) {
        const count = Math.min(AT_ONCE, end - from);
        it(`keeps the contract with the seeds from ${from} to ${from + count - 1}`, async () => {
          const reports = await tab.call('simulate', from, count);
          assert.equal(reports.length, 0, reports.join('\n\n'));
        });
      }
    });
  }
});
