// Vertex AI from a page: its server is of another origin, and a page has no credentials but those that it is given.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { transform } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { type BrowserName, ALL_BROWSERS, openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { html, serve, type Server } from '../server.js';
import type { Conversation } from './page/main.js';

const IMPORTS = {
  'adk-session-wasm': '/package/js/dist/index.js',
  'adk-session-wasm/vertex': '/package/js/dist/vertex/index.js',
};

const PAGE = packagePage('/main.js', IMPORTS);

async function servePage(): Promise<Server> {
  const source = readFileSync(join(root, 'tests/browser/vertex/page/main.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts' });
  return serve({
    '/': html(PAGE),
    '/main.js': { body: code },
    ...PACKAGE_ROUTES,
  });
}

describe('Vertex AI', () => {
  let site: Server;
  let server: VertexServer;
  before(async () => {
    [site, server] = await Promise.all([servePage(), startVertexServer({ pageSize: 2 })]);
  });
  after(() => Promise.all([site.close(), server.end()]));

  // To a browser a name that it does not know as its own machine's is no secure context.
  const pages: [browserName: BrowserName, host: string][] = [
    ...ALL_BROWSERS.map((browserName): [BrowserName, string] => [browserName, '127.0.0.1']),
    ['chromium', 'shop.test'],
  ];
  for (const [browserName, host] of pages) {
    it(`stores the sessions of a page of http://${host} in ${browserName}`, async () => {
      server.forget();
      const resolve = host === '127.0.0.1' ? [] : [`--host-resolver-rules=MAP ${host} 127.0.0.1`];
      const browser = await openBrowser(browserName, { arguments: resolve });
      try {
        const origin = site.origin.replace('127.0.0.1', host);
        const url = `${origin}/?server=${encodeURIComponent(server.url)}`;
        const { ids, ...conversation } = await browser.value<Conversation>(url);
        const state = { n: 3, 'user:name': 'Ada' };
        assert.deepEqual(conversation, {
          texts: ['message 1', 'message 2', 'message 3'],
          last: ['message 3'],
          state,
          handleState: state,
          withoutCredentials: 'storage_unavailable',
          isSecure: host === '127.0.0.1',
        });
        assert.match(ids.join(), /^[a-f][\da-f-]{35}$/);
      } finally {
        await browser.close();
      }
      const tokens = new Set(server.requests.map(({ headers }) => headers.authorization));
      assert.deepEqual([...tokens], ['Bearer a-token']);
      assert.equal(server.calls.at(-1), 'sessions.delete');
      assert.deepEqual(site.missed, []);
    });
  }
});
