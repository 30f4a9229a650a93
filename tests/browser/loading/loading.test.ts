// The first calls of a page, in the three engines: each page is a new one, and may lack what younger
// browsers have.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, ENGINES, openBrowser } from '../engine.js';
import { html, serve, type Server } from '../server.js';
import type { PageCases } from './page.js';

/** `?without=` names what this page's browser is too old for. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>A cold page</title><script>
  const missing = new URLSearchParams(location.search).get('without');
  if (missing === 'fromBase64') delete Uint8Array.fromBase64;
  else if (missing !== null) delete globalThis[missing];
</script><script src="/page.js"></script>`;

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

  for (const engine of ENGINES) {
    describe(`in ${engine}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(engine)));
      after(() => browser.close());

      function visit<Name extends keyof PageCases>(
        name: Name,
        without?: string,
      ): Promise<Awaited<ReturnType<PageCases[Name]>>> {
        const query = new URLSearchParams({ case: name, ...(without && { without }) });
        return browser.value(`${server.origin}/?${query.toString()}`);
      }

      it('have the wasm compiled beside the page where they can wait', async () => {
        const { isStored, compiled } = await visit('inDatabase');
        assert.equal(isStored, true);
        assert.deepEqual(compiled, ['compile']);
      });

      for (const missing of ['DecompressionStream', 'fromBase64', 'Response']) {
        it(`work where there is no ${missing}`, async () => {
          const { isStored } = await visit('inDatabase', missing);
          assert.equal(isStored, true);
        });
      }

      it('are answered at once in memory, also where there is no fromBase64', async () => {
        for (const missing of [undefined, 'fromBase64']) {
          const { isStored, compiled } = await visit('inMemory', missing);
          assert.equal(isStored, true);
          assert.deepEqual(compiled, ['Module']);
        }
      });

      it('share one instance if some wait for it and others do not', async () => {
        const { compiled, ...stored } = await visit('bothWays');
        assert.deepEqual(stored, { inDatabase: true, inMemory: true });
        assert.deepEqual(compiled.sort(), ['Module', 'compile']);
      });
    });
  }
});
