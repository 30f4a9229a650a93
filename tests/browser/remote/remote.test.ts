// The real `adk api_server` from pages of another origin, which the server allows.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { transform } from 'esbuild';
import { type ApiServer, startApiServer } from '../../interop/api_server.js';
import { SHARED_ENGINES } from '../../interop/shared_databases.js';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { html, serve, type Server } from '../server.js';
import type { Conversation } from './page/main.js';

const IMPORTS = { 'adk-session-wasm/remote': '/package/js/dist/remote/index.js' };

async function servePage(): Promise<Server> {
  const source = readFileSync(join(root, 'tests/browser/remote/page/main.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts' });
  return serve({
    '/': html(packagePage('/main.js', IMPORTS)),
    '/main.js': { body: code },
    ...PACKAGE_ROUTES,
  });
}

describe('A page over adk api_server', () => {
  const databases = SHARED_ENGINES.map(([title, start]) => ({ title, newDatabase: start() }));
  let site: Server;
  let servers: ApiServer[];
  before(async () => {
    site = await servePage();
    const started = databases.map(async ({ newDatabase }) => {
      return startApiServer((await newDatabase()).python, site.origin);
    });
    servers = await Promise.all(started);
  });
  after(() => Promise.all([site.close(), ...servers.map((server) => server.end())]));

  for (const [position, browserName] of BROWSERS.entries()) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(browserName)));
      after(() => browser.close());

      for (const [number, { title }] of databases.entries()) {
        it(`lists, opens and runs on ${title}`, async () => {
          const query = new URLSearchParams({ server: servers[number]!.url, session: browserName });
          const conversation = await browser.value<Conversation>(`${site.origin}/?${query}`);
          assert.deepEqual(conversation, {
            listed: BROWSERS.slice(0, position + 1),
            run: [
              ['Green', true],
              ['Green tea.', false],
            ],
            authors: ['user', 'script'],
            state: { n: 1 },
            isCurrent: true,
            aborted: 'aborted',
          });
          assert.deepEqual(site.missed, []);
        });
      }
    });
  }
});
