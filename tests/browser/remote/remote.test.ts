// The real `adk api_server` from pages of another origin, which the server allows.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { transform } from 'esbuild';
import { type ApiServer, startApiServer } from '../../interop/api_server.js';
import { SHARED_ENGINES } from '../../interop/shared_databases.js';
import { root } from '../../toolchain/environment.mjs';
import { BROWSERS, openBrowser } from '../browser.js';
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

for (const [title, start] of SHARED_ENGINES) {
  describe(`A page over adk api_server on ${title}`, () => {
    const newDatabase = start();
    let site: Server;
    let server: ApiServer;
    before(async () => {
      site = await servePage();
      server = await startApiServer((await newDatabase()).python, site.origin);
    });
    after(() => Promise.all([site.close(), server.end()]));

    const opened: string[] = [];
    for (const browserName of BROWSERS) {
      it(`lists, opens and runs in ${browserName}`, async () => {
        const browser = await openBrowser(browserName);
        opened.push(browserName);
        try {
          const query = new URLSearchParams({ server: server.url, session: browserName });
          const conversation = await browser.value<Conversation>(`${site.origin}/?${query}`);
          assert.deepEqual(conversation, {
            listed: opened,
            run: [
              ['Green', true],
              ['Green tea.', false],
            ],
            authors: ['user', 'script'],
            state: { n: 1 },
            isCurrent: true,
            aborted: 'aborted',
          });
        } finally {
          await browser.close();
        }
        assert.deepEqual(site.missed, []);
      });
    }
  });
}
