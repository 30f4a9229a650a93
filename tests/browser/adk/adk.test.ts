// The real @google/adk in a page of each browser, on the services of this package. One bundle, one browser an browser.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { RENDEZVOUS_PATH, rendezvous } from '../rendezvous.js';
import { html, serve, type Server } from '../server.js';
import { type Bundle, bundlePage } from './bundle.js';
import { conversations } from './conversations.js';
import { frameworkScenarios } from './framework_scenarios.js';

describe('@google/adk in a page', () => {
  let bundle: Bundle;
  let server: Server;
  before(async () => {
    bundle = await bundlePage(join(root, 'tests/browser/adk/page/main.ts'));
    server = await serve({
      '/': html(
        '<!doctype html><meta charset="utf-8"><script type="module" src="/page.js"></script>',
      ),
      '/page.js': { body: bundle.code },
      [RENDEZVOUS_PATH]: rendezvous(),
    });
  });
  after(() => server.close());

  it('is loaded once, and so is the package', (test) => {
    test.diagnostic(`the framework is ${bundle.isRepaired ? 'repaired' : 'as published'}`);
    const modules = bundle.files.map(moduleOf).filter((name) => name !== undefined);
    const copies = modules.filter((name, place) => modules.indexOf(name) !== place);
    // It holds nothing but constants, and scenarios import it from the sources.
    assert.deepEqual(
      copies.filter((name) => name !== 'ours: values/state/scope'),
      [],
    );
    for (const name of ['framework: sessions/base_session_service', 'ours: service/adk/index']) {
      assert.ok(modules.includes(name), name);
    }
  });

  for (const browserName of BROWSERS) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(browserName)));
      after(() => browser.close());

      const context = {
        get browser() {
          return browser;
        },
        get url() {
          return `${server.origin}/`;
        },
      };
      describe('a conversation', () => conversations(context));
      describe("every way to run agents, as with the framework's own service,", () =>
        frameworkScenarios(context));
    });
  }
});

/** Returns the module of the framework or of this package that a file is, in any build or installation. */
function moduleOf(file: string): string | undefined {
  const framework = /\/@google\/adk\/dist\/\w+\/(.*)\.js$/.exec(file)?.[1];
  if (framework !== undefined) return `framework: ${framework}`;
  const ours = /^js\/(?:dist\/)?(.*)\.[jt]s$/.exec(file)?.[1];
  return ours === undefined ? undefined : `ours: ${ours}`;
}
