// The database service in a page: the conformance suite through a Kysely of the page's own, over PGlite.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { transform } from 'esbuild';

import { POSTGRESQL_REFUSALS } from '../../js/database/cases/refusals.js';
import { root } from '../../toolchain/environment.mjs';
import { openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { type Answer, html, serve, type Server } from '../server.js';
import type { Outcomes } from './page/main.js';

const IMPORTS = {
  'adk-session-wasm/database': '/package/js/dist/database/index.js',
  'adk-session-wasm/testing': '/package/js/dist/testing/index.js',
  '@electric-sql/pglite': '/pglite/index.js',
  kysely: '/kysely/index.js',
};

const PAGE = packagePage('/main.js', IMPORTS);

const script = (name: string): Answer => ({
  body: readFileSync(join(root, 'tests/js/database/kysely', name)),
  type: 'text/javascript',
});

let site: Server;
before(async () => {
  const source = readFileSync(join(root, 'tests/browser/database/page/main.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts' });
  site = await serve({
    '/': html(PAGE),
    '/main.js': { body: code },
    '/pglite.mjs': script('pglite.mjs'),
    '/clearing.mjs': script('clearing.mjs'),
    ...PACKAGE_ROUTES,
    '/kysely/': join(root, 'node_modules/kysely/dist/esm'),
    '/pglite/': join(root, 'node_modules/@electric-sql/pglite/dist'),
  });
});
after(() => site.close());

it('a page over PGlite passes the conformance suite in chromium', async () => {
  const browser = await openBrowser('chromium', { patience: 180_000 });
  try {
    const outcomes = await browser.value<Outcomes>(`${site.origin}/`);
    const refusals: Readonly<Record<string, RegExp>> = POSTGRESQL_REFUSALS;
    const wrong = Object.entries(outcomes).filter(([name, outcome]) => {
      const refusal = refusals[name];
      return refusal === undefined ? outcome !== '' : !refusal.test(outcome);
    });
    assert.deepEqual(wrong, []);
    assert.ok(Object.keys(outcomes).length > 50);
    assert.deepEqual(site.missed, []);
  } finally {
    await browser.close();
  }
});
