// Pages under a Content-Security-Policy, in all browsers: each has its own words for what it forbids.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Browser, ALL_BROWSERS, openBrowser } from '../../browser/browser.js';
import type { Report } from '../../browser/report.js';
import { html, serve } from '../../browser/server.js';
import { bundleWithEsbuild } from '../bundles.js';
import { assertOutcome, consumer, type Outcome, page } from '../consumer.js';
import { write } from '../installed.js';

/** The first call of a page. Each of the two ways to load has its own message. */
const FIRST = {
  'an asynchronous call': '',
  'a synchronous call':
    "new InMemorySessionService().createSessionSync({ appName: 'a', userId: 'u' });",
};

describe('Under a content security policy', () => {
  const bundles = new Map<string, string>();
  before(async () => {
    for (const [first, before] of Object.entries(FIRST)) {
      const main = consumer(undefined, before);
      const folder = write(`policy-${bundles.size}`, { 'main.js': main });
      bundles.set(first, await bundleWithEsbuild(folder));
    }
  });

  for (const browserName of ALL_BROWSERS) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(browserName)));
      after(() => browser.close());

      async function visit(first: string, policy: string): Promise<Report<Outcome>> {
        const headers = { 'content-security-policy': policy };
        const bundle = bundles.get(first)!;
        const server = await serve({ '/': html(page('/out/main.js'), headers), '/out/': bundle });
        try {
          return await browser.report<Outcome>(`${server.origin}/`);
        } finally {
          await server.close();
        }
      }

      for (const first of Object.keys(FIRST)) {
        it(`that forbids WebAssembly, the error of ${first} names the missing permission`, async () => {
          const { error } = await visit(first, "default-src 'self'; script-src 'self'");
          assert.equal(error?.code, 'wasm_unavailable', error?.message);
          assert.match(error.message, /allow it with 'wasm-unsafe-eval'/);
        });

        it(`that allows 'wasm-unsafe-eval', ${first} works`, async () => {
          const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
          const { value, error } = await visit(first, policy);
          assert.equal(error, undefined, error?.message);
          assertOutcome(value!);
        });
      }
    });
  }
});
