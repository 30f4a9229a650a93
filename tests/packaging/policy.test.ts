// Pages under a Content-Security-Policy, in all engines: each has its own words for what it forbids.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Browser, ENGINES, openBrowser } from '../browser/engine.js';
import type { Report } from '../browser/report.js';
import { html, serve } from '../browser/server.js';
import { bundleWithEsbuild } from './bundles.js';
import { assertOutcome, consumer, type Outcome, page } from './consumer.js';
import { write } from './installed.js';

describe('under a policy', () => {
  let bundle: string;
  before(async () => {
    bundle = await bundleWithEsbuild(write('policy', { 'main.js': consumer() }));
  });

  for (const engine of ENGINES) {
    describe(`in ${engine}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(engine)));
      after(() => browser.close());

      async function visit(policy: string): Promise<Report<Outcome>> {
        const headers = { 'content-security-policy': policy };
        const server = await serve({ '/': html(page('/out/main.js'), headers), '/out/': bundle });
        try {
          return await browser.report<Outcome>(`${server.origin}/`);
        } finally {
          await server.close();
        }
      }

      it('that forbids WebAssembly, the error names what would allow it', async () => {
        const { error } = await visit("default-src 'self'; script-src 'self'");
        assert.equal(error?.code, 'wasm_unavailable', error?.message);
        assert.match(error.message, /allow it with 'wasm-unsafe-eval'/);
      });

      it("that says 'wasm-unsafe-eval', it works", async () => {
        const { value, error } = await visit(
          "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
        );
        assert.equal(error, undefined, error?.message);
        assertOutcome(value!);
      });
    });
  }
});
