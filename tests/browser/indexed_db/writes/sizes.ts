import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, newName, withSqliteStore } from '../context.js';
import type { RefusalResult, Script, TooLarge } from '../page/writes/sizes.js';

/** Characters of a page: more of them stand in one record only if they are one event's. */
const PAGE_TEXT = 512 * 1024;

interface Way {
  what: string;
  script: Script;
  count: number;
  length: number;
  isBatch: boolean;
}

/** The number of large events. In Chromium they are together more than one record holds: 133,169,152 bytes. */
const COUNTS: Record<BrowserName, number> = { chromium: 131, firefox: 20, webkit: 20 };

const waysIn = (browserName: BrowserName): Way[] => [
  {
    what: 'events of 1.05 MB, appended one by one',
    script: 'latin',
    count: COUNTS[browserName],
    length: 1_050_000,
    isBatch: false,
  },
  {
    what: 'events of 600,000 Korean letters, appended one by one',
    script: 'korean',
    count: COUNTS[browserName],
    length: 600_000,
    isBatch: false,
  },
  {
    what: 'events of 1.05 MB, appended as a batch',
    script: 'latin',
    count: COUNTS[browserName],
    length: 1_050_000,
    isBatch: true,
  },
  {
    what: 'events of 20 kB, appended one by one',
    script: 'latin',
    count: 600,
    length: 20_000,
    isBatch: false,
  },
];

const TOO_LARGE: TooLarge[] = ['event', 'last event of a batch', 'Korean event'];

export function sizes(given: Context, browserName: BrowserName): void {
  // Its records have the lower limit.
  const context = browserName === 'chromium' ? withSqliteStore(given) : given;

  for (const { what, script, count, length, isBatch } of waysIn(browserName)) {
    it(`IndexedDB stores ${count} ${what}, and reads them completely`, async () => {
      await inTab(context, async (tab) => {
        const values = [newName(), script, count, length, isBatch] as const;
        const { acknowledged, held } = await tab.call('appendLarge', ...values);
        assert.deepEqual(held.events, acknowledged);
        assert.deepEqual(held.keys, acknowledged);
        assert.equal(held.areWhole, true);
        assert.deepEqual(held.latest, acknowledged.slice(-3));
        assert.ok(held.longestPage <= PAGE_TEXT, `${held.longestPage} characters in a page`);
      });
    });
  }

  for (const what of TOO_LARGE) {
    it(`IndexedDB refuses an append whose ${what} exceeds a record's limit, and continues`, async () => {
      await inTab(context, async (tab) => {
        const refused = await tab.call('appendTooLarge', newName(), what);
        assertRefused(refused, /event "big"/);
        assert.deepEqual(refused.events, ['after']);
        assert.deepEqual(refused.keys, ['after']);
      });
    });
  }

  for (const [prefix, owner] of [
    ['', /session "large"/],
    ['app:', /app "shop"/],
  ] as const) {
    it(`IndexedDB refuses an append that makes the state of ${prefix || 'session:'} exceed a record's limit`, async () => {
      await inTab(context, async (tab) => {
        const refused = await tab.call('growState', newName(), prefix);
        assertRefused(refused, owner);
        assert.deepEqual(refused.events, ['after']);
        assert.deepEqual(refused.keys.sort(), ['after', `${prefix}one`].sort());
      });
    });
  }

  it("IndexedDB refuses a session whose state and initial state exceed a record's limit", async () => {
    await inTab(context, async (tab) => {
      const { failed, stored } = await tab.call('createTooLarge', newName());
      assert.equal(failed.code, 'quota_exceeded');
      assert.match(failed.message, /session "large"/);
      assert.equal(stored, 0);
    });
  });

  it('IndexedDB refuses an append that makes the state of a scope exceed what a session can show', async () => {
    await inTab(context, async (tab) => {
      // Fewer characters than a record holds, and more bytes than the core takes.
      const refused = await tab.call('growState', newName(), 'user:', 'korean');
      assertRefused(refused, /171 MB/);
      assert.deepEqual(refused.events, ['after']);
      assert.deepEqual(refused.keys.sort(), ['after', 'user:one']);
    });
  });

  it('an event in a page can be replaced by a large one, which splits the page', async () => {
    await inTab(context, async (tab) => {
      const { before, held, appended } = await tab.call('replaceByLarge', newName());
      assert.deepEqual(held.events, before);
      assert.equal(held.areWhole, true);
      assert.ok(held.longestPage <= PAGE_TEXT, `${held.longestPage} characters in a page`);
      assert.deepEqual(appended, [...before, 'after']);
    });
  });

  it('a batch needs as many requests in any session, and its retry reads each page once', async () => {
    await inTab(context, async (tab) => {
      const { appended, retried } = await tab.call('countReads', newName(), 12, 500);
      // The first one also opens the database.
      const [, second, ...later] = appended;
      for (const counts of later) assert.deepEqual(counts, second);
      for (const counts of retried) assert.deepEqual(counts, retried[0]);
      // 500 events lie in four pages of at most 128.
      assert.equal(retried[0]?.['IDBObjectStore.getAll'], 4);
    });
  });
}

function assertRefused({ failed, handle }: RefusalResult, name: RegExp): void {
  assert.equal(failed.code, 'quota_exceeded');
  assert.match(failed.message, name);
  assert.equal(handle[1], handle[0], 'the handle is as it was');
}
