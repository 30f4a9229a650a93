// The first calls of a page, in the three browsers: each page is a new one.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { html, serve, type Server } from '../server.js';
import type { PageCases } from './page.js';

const PAGE = `<!doctype html><meta charset="utf-8"><title>A cold page</title>
  <script src="/page.js"></script>`;

async function servePages(): Promise<Server> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'tests/browser/loading/page.ts')],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  return serve({ '/': html(PAGE), '/page.js': { body: outputFiles[0]!.text } });
}

describe('The first calls of a page', () => {
  let server: Server;
  before(async () => (server = await servePages()));
  after(() => server.close());

  for (const browserName of BROWSERS) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(browserName)));
      after(() => browser.close());

      function visit<Name extends keyof PageCases>(
        name: Name,
      ): Promise<Awaited<ReturnType<PageCases[Name]>>> {
        return browser.value(`${server.origin}/?case=${name}`);
      }

      it('let the browser compile the wasm in the background if they can wait', async () => {
        const { isStored, compiled } = await visit('inDatabase');
        assert.equal(isStored, true);
        assert.deepEqual(compiled, ['compile']);
      });

      it('return immediately in memory', async () => {
        const { isStored, compiled } = await visit('inMemory');
        assert.equal(isStored, true);
        assert.deepEqual(compiled, ['Module']);
      });

      it('share one instance if only some of them wait for it', async () => {
        const { compiled, ...stored } = await visit('bothWays');
        assert.deepEqual(stored, { inDatabase: true, inMemory: true });
        assert.deepEqual(compiled.sort(), ['Module', 'compile']);
      });
    });
  }
});
