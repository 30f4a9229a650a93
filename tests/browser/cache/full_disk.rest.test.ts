// Messages that have filled the quota of their origin offline.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Browser, type BrowserName, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { serveChat } from './chat_site.js';
import type { ChatScenarios } from './page/main.js';

/** Bytes; Firefox has no smaller quota than this one. */
const QUOTA = 10 * 1024 * 1024;

const LIMITS: Partial<
  Record<
    BrowserName,
    { preferences?: Record<string, number>; limit: (browser: Browser, origin: string) => unknown }
  >
> = {
  firefox: {
    preferences: { 'dom.quotaManager.temporaryStorage.fixedLimit': QUOTA / 1024 },
    limit: () => undefined,
  },
  chromium: {
    limit: (browser, origin) =>
      browser.debug('Storage.overrideQuotaForOrigin', { origin, quotaSize: QUOTA }),
  },
};

for (const [name, { preferences = {}, limit }] of Object.entries(LIMITS)) {
  it(`in ${name}, messages that have filled the quota are sent after a reload, and read`, async () => {
    const site = await serveChat();
    const browser = await openBrowser(name as BrowserName, { preferences });
    const { sessions, origin } = site;
    try {
      await inTabs<ChatScenarios>(browser, [origin], async (pages) => {
        const page = pages[0]!;
        await limit(browser, origin);
        await page.call('open', sessions.url, 'ada');
        await page.call('write', 's1', ['zero']);
        await page.call('untilSent');
        await sessions.stop();
        const { stored, code } = await page.call('fill', 's1');
        assert.equal(code, 'quota_exceeded');
        assert.ok(stored.length > 5, `${stored.length} had room`);
        await page.open(origin);
        await page.call('open', sessions.url, 'ada');
        await sessions.start();
        assert.equal(await page.call('syncCode'), 'sent');
        const key = { appName: 'chat', userId: 'ada', sessionId: 's1' };
        const { events } = (await sessions.service.getSession(key))!;
        const named = (texts: readonly string[]) => texts.map((text) => text.split(':')[0]);
        const sent = events.map(({ content }) => String(content?.parts?.[0]?.text));
        assert.deepEqual(named(sent), ['zero', ...stored]);
        assert.deepEqual(named((await page.call('read', 's1')) ?? []), ['zero', ...stored]);
        await page.call('close');
      });
    } finally {
      await browser.close();
      await site.close();
    }
  });
}
