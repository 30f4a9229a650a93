import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type BrowserName, openBrowser } from '../../browser.js';
import { type Context, inTab, newName, type PageTab } from '../context.js';
import type { QuotaResult } from '../page/writes/quota.js';
import { serveSite } from '../site.js';

/** Bytes; Firefox has no smaller quota than this one. */
const QUOTA = 10 * 1024 * 1024;

interface Way {
  /** A separate browser, if the quota is a setting of the browser. */
  preferences?: Record<string, number>;
  take: (context: Context, tab: PageTab) => Promise<void>;
  give: (context: Context, tab: PageTab) => Promise<void>;
}

const WAYS: Record<BrowserName, Way> = {
  chromium: {
    async take({ browser, site: { origin } }) {
      await browser.debug('Storage.overrideQuotaForOrigin', { origin, quotaSize: QUOTA });
    },
    async give({ browser, site: { origin } }) {
      await browser.debug('Storage.overrideQuotaForOrigin', { origin });
    },
  },
  firefox: {
    preferences: { 'dom.quotaManager.temporaryStorage.fixedLimit': QUOTA / 1024 },
    take: async () => undefined,
    // Deleting data frees space.
    give: async () => undefined,
  },
  // WebKitGTK has a quota, but nothing by which a test could set it.
  webkit: {
    take: (_, tab) => tab.call('refuseRoom', 10),
    give: (_, tab) => tab.call('giveRoomAgain'),
  },
};

export function quota(context: Context, browserName: BrowserName): void {
  it('an append beyond the quota is refused, and changes no stored data', async () => {
    const { preferences, take, give } = WAYS[browserName];
    // A separate origin, because Chromium caches an origin's free space for half a minute.
    const site = await serveSite();
    const browser = preferences ? await openBrowser(browserName, { preferences }) : context.browser;
    const own: Context = { browser, site };
    try {
      await inTab(own, async (tab) => {
        await take(own, tab);
        assertRefused(await tab.call('fill', newName()));
        await give(own, tab);
        const { small, sessions } = await tab.call('goOnWithRoom');
        assert.deepEqual(small, [...SMALL, 'after']);
        assert.equal(sessions, 1);
      });
    } finally {
      if (browser !== context.browser) await browser.close();
      await site.close();
    }
  });
}

const SMALL = ['00000', '00001', '00002'];

function assertRefused({ failed, handle, together, small, big, stored }: QuotaResult): void {
  assert.equal(failed.code, 'quota_exceeded');
  assert.equal(handle[1], handle[0], 'the handle is as it was');
  // Firefox finds room for another one now and then.
  const others = together.filter((code) => code !== 'stored' && code !== 'quota_exceeded');
  assert.deepEqual(others, [], 'several at once are stored or refused for the same reason');
  assert.deepEqual(small, SMALL, 'earlier data is read');
  assert.ok(stored.length > 0, 'some was stored before');
  assert.deepEqual(big, stored, 'what was acknowledged is read, and nothing else');
}
