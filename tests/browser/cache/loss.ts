// Databases of a cache that the browser has deleted, under open tabs or between two visits.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Tab } from '../tab.js';
import type { ChatScenarios } from './page/main.js';
import type { SessionServer } from './session_server.js';

type ChatTab = Tab<ChatScenarios>;

export interface LossContext {
  readonly sessions: () => SessionServer;
  readonly origin: () => string;
  readonly inPages: (count: number, run: (...pages: ChatTab[]) => Promise<void>) => Promise<void>;
  /** The texts of a session on the server. */
  readonly stored: (userId: string, sessionId: string) => Promise<string[] | undefined>;
}

export function loss({ sessions, origin, inPages, stored }: LossContext): void {
  const offline = (run: () => Promise<void>): Promise<void> => sessions().whileStopped(run);

  it('two open tabs store what is unsent again, once, and it is sent once', () =>
    inPages(2, async (first, second) => {
      await first.call('open', sessions().url, 'ivy');
      await first.call('write', 's1', ['zero']);
      await first.call('untilSent');
      await second.call('open', sessions().url, 'ivy');
      assert.deepEqual(await second.call('read', 's1'), ['zero']);
      await offline(async () => {
        await first.call('write', 's1', ['one']);
        await second.call('write', 's1', ['two']);
        await first.call('write', 'made offline', ['three']);
        for (const page of [first, second]) await page.call('untilPending', 3);
        await second.call('untilNoted', 'ivy', 3);
        await second.call('deleteDatabase');
        for (const page of [first, second]) {
          const { when, message, events } = await page.call('untilLost');
          assert.equal(events, 0);
          assert.ok(when > 0);
          assert.match(message, /gave up the local data of the cache/);
          assert.deepEqual((await page.call('unsentTexts')).sort(), ['one', 'three', 'two']);
        }
        // A handle from before the loss.
        await first.call('write', 's1', ['four']);
        for (const page of [first, second]) await page.call('untilPending', 4);
      });
      await first.call('untilSent');
      assert.deepEqual(await stored('ivy', 's1'), ['zero', 'one', 'two', 'four']);
      assert.deepEqual(await stored('ivy', 'made offline'), ['three']);
      assert.deepEqual(await second.call('untilRead', 's1', 4), ['zero', 'one', 'two', 'four']);
      await first.call('close');
      await second.call('close');
    }));

  it('a loss is shown in all tabs and after a reload, until it is acknowledged', () =>
    inPages(2, async (first, second) => {
      for (const page of [first, second]) await page.call('open', sessions().url, 'ida');
      await first.call('write', 's1', ['one']);
      await first.call('untilSent');
      await first.call('untilMarked', 'ida', true);
      await second.call('deleteDatabase');
      for (const page of [first, second]) await page.call('untilLost');
      await second.open(origin());
      await second.call('open', sessions().url, 'ida');
      await second.call('untilLost');
      await first.call('acknowledgeLoss');
      for (const page of [first, second]) await page.call('untilAcknowledged');
      await second.open(origin());
      await second.call('open', sessions().url, 'ida');
      assert.equal(await second.call('isLost'), false);
      await first.call('close');
      await second.call('close');
    }));

  it('a visit after a loss knows how many unsent events are lost', () =>
    inPages(1, async (page) => {
      await page.call('open', sessions().url, 'joe');
      await page.call('write', 's1', ['zero']);
      await page.call('untilSent');
      await offline(async () => {
        await page.call('write', 's1', ['one', 'two']);
        await page.call('close');
        await page.call('deleteDatabase');
        await page.call('open', sessions().url, 'joe');
        assert.equal((await page.call('untilLost')).events, 2);
        assert.deepEqual(await page.call('unsentTexts'), []);
      });
      assert.deepEqual(await page.call('read', 's1'), ['zero']);
      await page.call('close');
    }));

  it('an owner without local data has lost nothing', () =>
    inPages(1, async (page) => {
      await page.call('deleteDatabase');
      await page.call('open', sessions().url, 'jan');
      assert.equal(await page.call('isLost'), false);
      await page.call('close');
    }));

  it('what was forgotten is no loss, and no open tab stores it again', () =>
    inPages(2, async (first, second) => {
      for (const page of [first, second]) await page.call('open', sessions().url, 'jil');
      await offline(async () => {
        await first.call('write', 's1', ['private']);
        for (const page of [first, second]) await page.call('untilPending', 1);
        await first.call('untilMarked', 'jil', true);
        await second.call('forget');
        await first.call('untilEmpty');
        for (const page of [first, second]) assert.equal(await page.call('isLost'), false);
        assert.doesNotMatch(JSON.stringify(await first.call('contentOf')), /private/);
      });
      await first.call('close');
      await second.call('close');
      await second.call('untilMarked', 'jil', false);
    }));

  it('a tab stores nothing again after the user has cleared the data of the site', () =>
    inPages(1, async (page) => {
      await page.call('open', sessions().url, 'kai');
      await offline(async () => {
        await page.call('write', 's1', ['private']);
        await page.call('untilNoted', 'kai', 1);
        await page.call('clearCaches');
        await page.call('deleteDatabase');
        await page.call('untilEmpty');
        assert.equal(await page.call('isLost'), false);
        assert.doesNotMatch(JSON.stringify(await page.call('contentOf')), /private/);
      });
      await page.call('close');
    }));
}
