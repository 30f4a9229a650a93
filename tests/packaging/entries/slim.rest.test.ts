// The slim entry: the wasm is a file of the page's, fetched from its server.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Browser, openBrowser } from '../../browser/browser.js';
import type { Report } from '../../browser/report.js';
import { type Answer, html, serve } from '../../browser/server.js';
import { bundleWithEsbuild, bundleWithVite, filesBelow, wasmCopies } from '../bundles.js';
import { assertOutcome, consumer, type Outcome, page } from '../consumer.js';
import { install, write } from '../installed.js';

const SLIM = 'adk-session-wasm/slim';
const ONE_FILE = { files: 1, inlined: 0, rules: 0 };

const slim = (before: string): string =>
  `import { loadWasm, isSessionError } from '${SLIM}';\n${consumer(SLIM, before)}`;

describe('the slim entry', () => {
  let browser: Browser;
  let bundle: string;
  before(async () => {
    browser = await openBrowser('chromium');
    const main = slim("await loadWasm(new URL('/adk.wasm', location.href));");
    bundle = await bundleWithEsbuild(write('slim', { 'main.js': main }));
  });
  after(() => browser.close());

  const wasm = (): Buffer => readFileSync(join(install().folder, 'pkg/adk_session_wasm_bg.wasm'));

  async function visit(answer: Answer): Promise<Report<Outcome>> {
    const server = await serve({
      '/': html(page('/out/main.js')),
      '/out/': bundle,
      '/adk.wasm': answer,
    });
    try {
      return await browser.report<Outcome>(`${server.origin}/`);
    } finally {
      await server.close();
    }
  }

  async function assertWorks(answer: Answer): Promise<void> {
    const { value, error } = await visit(answer);
    assert.equal(error, undefined);
    assertOutcome(value!);
  }

  it('has no wasm in its JavaScript', () => {
    assert.deepEqual(wasmCopies(bundle), { files: 0, inlined: 0, rules: 0 });
  });

  it('loads a file', () => assertWorks({ body: wasm() }));

  it('loads a file with another content type', async () => {
    await assertWorks({ body: wasm(), type: 'text/plain' });
    await assertWorks({ body: wasm(), type: 'application/octet-stream' });
  });

  it('names URL, status and content type of a response without wasm', async () => {
    const { error } = await visit({
      body: '<!doctype html>Not found',
      type: 'text/html',
      status: 404,
    });
    assert.equal(error?.code, 'wasm_unavailable');
    assert.match(error.message, /http:\S+\/adk\.wasm is not the wasm file: HTTP 404, text\/html/);
  });

  it('names an HTML page in the place of the wasm', async () => {
    // Servers of single-page applications return such a page for any unknown path.
    const { error } = await visit({ body: '<!doctype html>', type: 'text/html' });
    assert.equal(error?.code, 'wasm_unavailable');
    assert.match(error.message, /HTTP 200, text\/html/);
  });

  it('fetches again after a failure, and reports `not_loaded` to synchronous calls', async () => {
    const program = `
      let asked = 0;
      const realFetch = globalThis.fetch;
      globalThis.fetch = (url) => realFetch(asked++ === 0 ? '/missing.wasm' : url);
      const sync = () => new InMemorySessionService().createSessionSync({ appName: 'a', userId: 'u' });
      const code = async (run) => { try { await run(); } catch (error) { return error.code; } };
      const codes = [await code(() => loadWasm('/adk.wasm')), await code(sync)];
      await new Promise((resolve) => setTimeout(resolve, 1000));
      sync();
      if (codes.join() !== 'wasm_unavailable,not_loaded') throw new Error(codes.join());`;
    const out = await bundleWithEsbuild(write('slim-retry', { 'main.js': slim(program) }));
    const server = await serve({
      '/': html(page('/out/main.js')),
      '/out/': out,
      '/adk.wasm': { body: wasm() },
    });
    try {
      assertOutcome(await browser.value<Outcome>(`${server.origin}/`));
    } finally {
      await server.close();
    }
  });

  it('loads the file that Vite emits once for adk-session-wasm/wasm', async () => {
    const main = `import wasm from 'adk-session-wasm/wasm?url';\n${slim('await loadWasm(wasm);')}`;
    const folder = write('slim-vite', { 'index.html': page('/main.js'), 'main.js': main });
    const out = await bundleWithVite(folder);
    assert.deepEqual(wasmCopies(out), ONE_FILE);
    const server = await serve({ '/': out });
    try {
      assertOutcome(await browser.value<Outcome>(`${server.origin}/`));
    } finally {
      await server.close();
    }
  });

  it('loads the file that esbuild emits once', async () => {
    const main = `import wasm from 'adk-session-wasm/wasm';\n${slim('await loadWasm(wasm);')}`;
    const folder = write('slim-esbuild', { 'main.js': main });
    const out = await bundleWithEsbuild(folder, {
      loader: { '.wasm': 'file' },
      publicPath: '/out/',
    });
    assert.deepEqual(wasmCopies(out), ONE_FILE);
    assert.equal(filesBelow(out).length, 2);
    const server = await serve({ '/': html(page('/out/main.js')), '/out/': out });
    try {
      assertOutcome(await browser.value<Outcome>(`${server.origin}/`));
    } finally {
      await server.close();
    }
  });
});
