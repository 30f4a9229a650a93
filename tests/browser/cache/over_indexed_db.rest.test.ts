// A cache over a service in IndexedDB of the same page: the conformance suite, with its histories.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { CachedSessionService, MemoryLocalStore } from 'adk-session-wasm/cache';
import { conformance } from 'adk-session-wasm/testing';

import { openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { pageScript } from '../page_script.js';
import { html, serve } from '../server.js';

export const page = () => ({ conform });

/** Returns the result of each case: empty, or its error. */
async function conform(): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  let databases = 0;
  const cases = conformance(({ clock, ...given }) => {
    const name = `remote-${++databases}`;
    const remote = new IndexedDbSessionService({ clock, name, durability: 'relaxed' });
    const cache = new CachedSessionService({
      ...given,
      clock,
      remote,
      local: new MemoryLocalStore(),
      owner: 'ada',
      reads: 'network-first',
      write: 'through',
    });
    const close = cache.close.bind(cache);
    cache.close = async () => {
      await close();
      await remote.close();
      await IndexedDbSessionService.deleteDatabase(name);
    };
    return cache;
  });
  for (const testCase of cases) {
    outcomes[testCase.name] = await testCase.run().then(
      () => '',
      (error: unknown) => String(error),
    );
  }
  return outcomes;
}

it('A cache over IndexedDB of the same page passes the conformance suite', async () => {
  const imports = {
    'adk-session-wasm': '/package/js/dist/index.js',
    'adk-session-wasm/cache': '/package/js/dist/service/cache/index.js',
    'adk-session-wasm/testing': '/package/js/dist/testing/index.js',
  };
  const site = await serve({
    '/': html(packagePage('/main.js', imports)),
    '/main.js': { body: await pageScript(import.meta.url, { packages: 'external' }) },
    ...PACKAGE_ROUTES,
  });
  const browser = await openBrowser('chromium', { patience: 180_000 });
  try {
    const tab = await browser.openTab<ReturnType<typeof page>>(`${site.origin}/`);
    const outcomes = await tab.call('conform');
    const wrong = Object.entries(outcomes).filter(([, outcome]) => outcome !== '');
    assert.deepEqual(wrong, []);
    assert.ok(Object.keys(outcomes).length > 50);
  } finally {
    await browser.close();
    await site.close();
  }
});
