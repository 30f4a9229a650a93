// The real `adk api_server` from pages of another origin, which the server allows.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { transform } from 'esbuild';
import { type ApiServer, startApiServer } from '../../interop/api_server/api_server.js';
import { freePort } from '../../js/database/servers.js';
import { SHARED_ENGINES } from '../../interop/database/shared_databases.js';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { type Answer, html, serve, type Server } from '../server.js';
import type { CachedConversation } from './page/cached.js';
import type { Conversation } from './page/main.js';

const IMPORTS = {
  'adk-session-wasm/remote': '/package/js/dist/remote/index.js',
  'adk-session-wasm/cache': '/package/js/dist/cache/index.js',
};

async function servePages(): Promise<Server> {
  const script = async (name: string): Promise<Answer> => {
    const source = readFileSync(join(root, `tests/browser/remote/page/${name}.ts`), 'utf8');
    return { body: (await transform(source, { loader: 'ts' })).code };
  };
  return serve({
    '/': html(packagePage('/main.js', IMPORTS)),
    '/main.js': await script('main'),
    '/cached': html(packagePage('/cached.js', IMPORTS)),
    '/cached.js': await script('cached'),
    ...PACKAGE_ROUTES,
  });
}

describe('A page over adk api_server', () => {
  const databases = SHARED_ENGINES.map(([title, start]) => ({ title, newDatabase: start() }));
  let site: Server;
  let servers: ApiServer[];
  before(async () => {
    site = await servePages();
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

        it(`has a copy after a reload without the server, and goes on with it on ${title}`, async () => {
          const server = servers[number]!;
          const path = `/apps/script/users/eva/sessions/${browserName}`;
          assert.equal((await server.ask(path, { body: { topic: 'tea' } })).status, 200);
          const converse = (url: string) => {
            const query = new URLSearchParams({ server: url, session: browserName, owner: title });
            return browser.value<CachedConversation>(`${site.origin}/cached?${query}`);
          };
          const listed = BROWSERS.slice(0, position + 1);
          const run = [
            ['Green', true],
            ['Green tea.', false],
          ];
          const first = ['…', 'Green tea.'];
          const begun = { listed, after: first, state: { topic: 'tea', n: 0 } };
          assert.deepEqual(await converse(server.url), { ...begun, before: [], run });
          const nobody = `http://127.0.0.1:${await freePort()}`;
          const offline = { ...begun, before: first, run: 'connection_lost' };
          assert.deepEqual(await converse(nobody), offline);
          const body = { stateDelta: { meanwhile: true } };
          assert.equal((await server.ask(path, { method: 'PATCH', body })).status, 200);
          assert.deepEqual(await converse(server.url), {
            listed,
            before: [...first, '…'],
            run,
            after: [...first, '…', ...first],
            state: { topic: 'tea', n: 3, meanwhile: true },
          });
          assert.deepEqual(site.missed, []);
        });
      }
    });
  }
});
