// Feeds over HTTP/1.1, where a browser opens six connections to a host, for all tabs together.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createEvent } from 'adk-session-wasm';
import { transform } from 'esbuild';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { serveSessions, type SessionServer } from '../cache/session_server.js';
import { inTabs } from '../in_tabs.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { html, serve, type Server } from '../server.js';

const IMPORTS = { 'adk-session-wasm/remote': '/package/js/dist/service/remote/index.js' };
/** WebKit's driver comes back before the page's module has run. */
const LOADED = `new Promise((resolve) => {
  if (document.readyState === 'complete') resolve();
  else addEventListener('load', () => resolve());
})`;
const SESSIONS = Array.from({ length: 10 }, (_, number) => `s${number}`);

for (const browserName of BROWSERS) {
  describe(`Ten sessions that are watched in three tabs of ${browserName}`, () => {
    let site: Server;
    let sessions: SessionServer;
    let browser: Browser;
    before(async () => {
      const source = readFileSync(join(root, 'tests/browser/remote/page/feeds.ts'), 'utf8');
      site = await serve({
        '/': html(packagePage('/feeds.js', IMPORTS)),
        '/feeds.js': { body: (await transform(source, { loader: 'ts' })).code },
        ...PACKAGE_ROUTES,
      });
      sessions = await serveSessions(site.origin);
      browser = await openBrowser(browserName);
    });
    after(() => Promise.all([browser.close(), sessions.stop(), site.close()]));

    it('leave connections for reads, and each of them hears of changes', async () => {
      const { service, url } = sessions;
      const handles = await Promise.all(
        SESSIONS.map((sessionId) =>
          service.createSession({ appName: 'shop', userId: 'ada', sessionId }),
        ),
      );
      const address = `${site.origin}/?${new URLSearchParams({ server: url })}`;
      await inTabs(browser, [address, address, address], async (tabs) => {
        const all = <T>(value: T): T[] => SESSIONS.map(() => value);
        for (const tab of tabs) await tab.evaluate(LOADED);
        for (const tab of tabs) assert.deepEqual(await tab.evaluate('types()'), all('resync'));
        for (const tab of tabs) assert.deepEqual(await tab.evaluate('read()'), all(0));
        for (const session of handles) {
          await service.appendEvent({ session, event: createEvent({ author: 'user' }) });
        }
        for (const tab of tabs) assert.deepEqual(await tab.evaluate('types()'), all('appended'));
        for (const tab of tabs) assert.deepEqual(await tab.evaluate('read()'), all(1));
      });
      assert.deepEqual(site.missed, []);
    });
  });
}
