// The database service in a page: the conformance suite through a Kysely of the page's own, over PGlite.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type DatabaseKyselyOptions, DatabaseSessionService } from 'adk-session-wasm/database';
import { conformance } from 'adk-session-wasm/testing';

import { POSTGRESQL_EXPECTATIONS } from '../../js/stores/database/cases/refusals.js';
import { root } from '../../toolchain/environment.mjs';
import { openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { pageScript } from '../page_script.js';
import { type Answer, html, serve, type Server } from '../server.js';

export const page = () => ({ conform });

interface Pglite {
  readonly kysely: DatabaseKyselyOptions['kysely'];
  clear(): Promise<void>;
}

/** The result of each case of the conformance suite: empty, or the message of its error. */
export type Outcomes = Record<string, string>;

async function conform(): Promise<Outcomes> {
  // This module is served separately. It imports PGlite and Kysely.
  const path = '/pglite.mjs';
  const { openPglite } = (await import(path)) as { openPglite: () => Promise<Pglite> };
  const pglite = await openPglite();
  const outcomes: Outcomes = {};
  const cases = conformance(async (options) => {
    await pglite.clear();
    return new DatabaseSessionService({ ...options, kysely: pglite.kysely, engine: 'postgresql' });
  });
  for (const testCase of cases) {
    outcomes[testCase.name] = await testCase.run().then(
      () => '',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  }
  return outcomes;
}

async function servePage(): Promise<Server> {
  const imports = {
    'adk-session-wasm/database': '/package/js/dist/service/database/index.js',
    'adk-session-wasm/testing': '/package/js/dist/testing/index.js',
    '@electric-sql/pglite': '/pglite/index.js',
    kysely: '/kysely/index.js',
  };
  const script = (name: string): Answer => ({
    body: readFileSync(join(root, 'tests/js/stores/database/kysely', name)),
    type: 'text/javascript',
  });
  return serve({
    '/': html(packagePage('/main.js', imports)),
    '/main.js': { body: await pageScript(import.meta.url, { packages: 'external' }) },
    '/pglite.mjs': script('pglite.mjs'),
    '/clearing.mjs': script('clearing.mjs'),
    ...PACKAGE_ROUTES,
    '/kysely/': join(root, 'node_modules/kysely/dist/esm'),
    '/pglite/': join(root, 'node_modules/@electric-sql/pglite/dist'),
  });
}

describe('A page over PGlite', () => {
  let site: Server;
  before(async () => (site = await servePage()));
  after(() => site.close());

  it('passes the conformance suite in chromium', async () => {
    const browser = await openBrowser('chromium', { patience: 180_000 });
    try {
      const tab = await browser.openTab<ReturnType<typeof page>>(`${site.origin}/`);
      const outcomes = await tab.call('conform');
      const wrong = Object.entries(outcomes).filter(([name, outcome]) => {
        const [refusal] =
          POSTGRESQL_EXPECTATIONS.find(([, ...names]) => names.includes(name)) ?? [];
        return refusal === undefined ? outcome !== '' : !refusal.test(outcome);
      });
      assert.deepEqual(wrong, []);
      assert.ok(Object.keys(outcomes).length > 50);
      assert.deepEqual(site.missed, []);
    } finally {
      await browser.close();
    }
  });
});
