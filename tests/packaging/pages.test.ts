// A page with the default entry, in all the ways that pages are made.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createServer } from 'vite';
import { type Browser, ENGINES, openBrowser } from '../browser/engine.js';
import { html, type Routes, serve } from '../browser/server.js';
import { bundleWithEsbuild, bundleWithVite, viteConfig, wasmCopies } from './bundles.js';
import { assertOutcome, consumer, type Outcome, page } from './consumer.js';
import { install, write } from './installed.js';

const ONE_INLINED = { files: 0, inlined: 1 };

async function assertPage(browser: Browser, routes: Routes): Promise<void> {
  const server = await serve(routes);
  try {
    assertOutcome(await browser.value<Outcome>(`${server.origin}/`));
    assert.deepEqual(server.missed, []);
  } finally {
    await server.close();
  }
}

describe('The package in a page of Chromium', () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser('chromium')));
  after(() => browser.close());

  it('works if the page is built with Vite', async () => {
    const folder = write('vite', { 'index.html': page('/main.js'), 'main.js': consumer() });
    const out = await bundleWithVite(folder);
    assert.deepEqual(wasmCopies(out), ONE_INLINED);
    await assertPage(browser, { '/': out });
  });

  it("works if Vite's development server serves the page", async () => {
    const folder = write('vite-dev', { 'index.html': page('/main.js'), 'main.js': consumer() });
    const warnings: string[] = [];
    const server = await createServer({
      ...viteConfig(folder, warnings),
      server: { host: '127.0.0.1', port: 0, hmr: false, ws: false },
    });
    try {
      await server.listen();
      assertOutcome(await browser.value<Outcome>(server.resolvedUrls?.local[0] ?? ''));
    } finally {
      await server.close();
    }
    assert.deepEqual(warnings, []);
  });

  it('works if the page is bundled with esbuild', async () => {
    const folder = write('esbuild', { 'main.js': consumer() });
    const out = await bundleWithEsbuild(folder);
    assert.deepEqual(wasmCopies(out), ONE_INLINED);
    await assertPage(browser, { '/': html(page('/out/main.js')), '/out/': out });
  });

  it('works with only the URL of one file', async () => {
    const main = consumer('/package/js/dist/browser.js');
    await assertPage(browser, {
      '/': html(page('/main.js')),
      '/main.js': { body: main },
      '/package/': install().folder,
    });
  });

  it('works with an import map', async () => {
    const imports = { 'adk-session-wasm': '/package/js/dist/browser.js' };
    const head = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
    await assertPage(browser, {
      '/': html(page('/main.js', head)),
      '/main.js': { body: consumer() },
      '/package/': install().folder,
    });
  });
});

for (const engine of ENGINES.filter((name) => name !== 'chromium')) {
  it(`the package works in a page of ${engine}, built with Vite`, async () => {
    const folder = write(`vite-${engine}`, {
      'index.html': page('/main.js'),
      'main.js': consumer(),
    });
    const out = await bundleWithVite(folder);
    const browser = await openBrowser(engine);
    try {
      await assertPage(browser, { '/': out });
    } finally {
      await browser.close();
    }
  });
}
