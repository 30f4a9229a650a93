// The inspector over caches, in pages of one of the browsers.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import type { BrowserName } from '../browser.js';
import { serveSessions, type SessionServer } from '../cache/session_server.js';
import { inspectorPages } from './inspector_pages.js';

export function cachesIn(name: BrowserName): void {
  describe(`The inspector over a cache in ${name}`, () => {
    const { context, inPage, inTwoTabs } = inspectorPages(name);
    let sessions: SessionServer;
    before(async () => {
      sessions = await serveSessions(context.site.origin, true);
    });
    after(() => sessions.stop());

    it('shows what a cache has not sent, and that it is sent', () =>
      inPage(async (page) => {
        await page.call('openCache', sessions.url);
        await page.call('click', 'Storage');
        await page.call('see', 'Online, 0 waiting');
        await sessions.stop();
        try {
          await page.call('append', 'e1', 'written offline');
          await page.call('see', 'written offline');
          await page.call('see', 'Offline');
          await page.call('see', '1 waiting');
          assert.deepEqual(await page.call('options', 'Events'), ['user waiting written offline']);
          await page.call('see', 'tea-talk');
        } finally {
          await sessions.start();
        }
        await page.call('click', 'Refresh');
        await page.call('see', '0 waiting');
      }));

    it('shows nothing in any tab of what a cache has forgotten, and reads nothing until the user asks', () =>
      inTwoTabs(async (first, second) => {
        for (const page of [first, second]) await page.call('openCache', sessions.url, 'indexeddb');
        await first.call('append', 'private', 'a private text', { secret: 'a private value' });
        for (const page of [first, second]) await page.call('see', 'a private text');
        await second.call('click', 'Template');
        await second.call('type', 'Instruction template', 'a private draft');
        await second.call('see', 'a private draft');
        await first.call('forget');
        for (const page of [first, second]) {
          await page.call('see', 'The cache has forgotten its local data.');
          for (const text of ['private', 'tea-talk']) await page.call('seeNot', text);
          const [appName, userId, sessionId] = await page.call('properties');
          assert.deepEqual([appName, userId, sessionId ?? 'none'], ['shop', 'ada', 'none']);
          assert.equal(await page.call('records'), 0);
        }
        await second.call('click', 'Show again');
        await second.call('choose', 'Sessions', 'tea-talk');
        await second.call('see', 'a private text');
        await second.call('click', 'Template');
        await second.call('seeNot', 'a private draft');
        await first.call('see', 'The cache has forgotten its local data.');
      }));

    it('shows that the browser has lost the local data of a cache', () =>
      inPage(async (page) => {
        await page.call('openCache', sessions.url, 'indexeddb');
        await page.call('see', 'tea-talk');
        await page.call('loseDatabase');
        await page.call('click', 'Storage');
        await page.call('see', 'gave up the local data of the cache');
      }));
  });
}
