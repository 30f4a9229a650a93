// Each host with the packed package: installed, built and run, with no warning, and with no configuration but what
// docs/entries.md names. Prints the result of each host at the end.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Browser, openBrowser } from '../../browser/browser.js';
import { serve } from '../../browser/server.js';
import { BUNDLERS } from './bundlers.js';
import { FRAMEWORKS } from './frameworks.js';
import { HERMES_HOST } from './hermes.js';
import type { Pages } from './host.js';
import { NEXT_EXAMPLE } from './next_example.js';
import { NODES } from './node_versions.js';
import { PAGES } from './pages.js';
import { RUNTIMES } from './runtimes.js';
import { SESSION_HANDLERS } from './servers/session_handlers.js';
import { TEST_RUNNERS } from './test_runners.js';
import { TYPESCRIPT } from './typescript.js';

const hosts = [
  ...NODES,
  ...BUNDLERS,
  ...PAGES,
  ...FRAMEWORKS,
  NEXT_EXAMPLE,
  ...TEST_RUNNERS,
  ...RUNTIMES,
  ...SESSION_HANDLERS,
  HERMES_HOST,
  ...TYPESCRIPT,
];

describe('The packed package works in', { concurrency: 2 }, () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser('chromium')));
  after(() => browser.close());

  /** The browser shows one page at a time. */
  let lastVisit: Promise<unknown> = Promise.resolve();
  const pages: Pages = {
    visit<T>(url: string) {
      const visit = lastVisit.then(() => browser.value<T>(url));
      lastVisit = visit.catch(() => undefined);
      return visit;
    },
    async serve<T>(routes: Parameters<Pages['serve']>[0]) {
      const server = await serve(routes);
      try {
        const value = await pages.visit<T>(`${server.origin}/`);
        assert.deepEqual(server.missed, []);
        return value;
      } finally {
        await server.close();
      }
    },
  };

  const results = new Map<string, string>();
  after(() => {
    for (const [name, result] of results) console.log(`${name.padEnd(36)}${result}`);
  });

  for (const { name, check } of hosts) {
    it(name, async () => {
      results.set(name, 'FAILED');
      const note = await check(pages);
      results.set(name, note === undefined ? 'works' : `works: ${note}`);
    });
  }
});
