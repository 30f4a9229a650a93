// The database service in a page: the conformance suite through a Kysely of the page's own, over PGlite.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { transform } from 'esbuild';

import { POSTGRESQL_REFUSALS } from '../../js/database/cases/refusals.js';
import { root } from '../../toolchain/environment.mjs';
import { openBrowser } from '../browser.js';
import { type Answer, html, serve, type Server } from '../server.js';
import type { Outcomes } from './page/main.js';

const IMPORTS = {
  'adk-session-wasm/database': '/package/js/dist/database/index.js',
  'adk-session-wasm/testing': '/package/js/dist/testing/index.js',
  'adk-session-wasm/internal/glue': '/package/pkg/adk_session_wasm.js',
  'adk-session-wasm/internal/wasm-source': '/package/js/dist/wasm/loader/inline.js',
  '@electric-sql/pglite': '/pglite/index.js',
  kysely: '/kysely/index.js',
};

const PAGE = `<!doctype html><meta charset="utf-8"><body>
<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>
<script type="module" src="/main.js"></script>`;

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
    '/package/js/dist/': join(root, 'js/dist'),
    '/package/pkg/': join(root, 'pkg'),
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
