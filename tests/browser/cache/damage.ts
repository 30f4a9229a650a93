// Databases of a cache that were damaged between two visits.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Tab } from '../tab.js';
import type { ChatScenarios } from './page/main.js';
import type { SessionServer } from './session_server.js';

type ChatTab = Tab<ChatScenarios>;

export interface DamageContext {
  readonly sessions: () => SessionServer;
  readonly inPage: (run: (page: ChatTab) => Promise<void>) => Promise<void>;
  /** The texts of a session on the server. */
  readonly stored: (userId: string, sessionId: string) => Promise<string[] | undefined>;
  /** Writes as another program does, on the server. */
  readonly writeThere: (
    userId: string,
    sessionId: string,
    texts: readonly string[],
  ) => Promise<void>;
}

export function damage({ sessions, inPage, stored, writeThere }: DamageContext): void {
  const offline = (run: () => Promise<void>): Promise<void> => sessions().whileStopped(run);

  it('fetches a copy with a damaged event again, and keeps what was unsent', () =>
    inPage(async (page) => {
      await writeThere('rob', 's1', ['one', 'two', 'three']);
      await page.call('open', sessions().url, 'rob');
      assert.deepEqual(await page.call('read', 's1'), ['one', 'two', 'three']);
      await offline(async () => {
        await page.call('write', 's1', ['unsent']);
        await page.call('close');
        await page.call('damageEvent', 'rob', 'two');
        await page.call('open', sessions().url, 'rob');
        assert.equal(await page.call('tryToRead', 's1'), 'corrupt_record');
      });
      const all = ['one', 'two', 'three', 'unsent'];
      assert.deepEqual(await page.call('untilReadable', 's1', 4), all);
      await page.call('untilSent');
      assert.deepEqual(await stored('rob', 's1'), all);
      assert.deepEqual(await page.call('read', 's1'), all);
      await page.call('close');
    }));

  it('sets a session with a damaged unsent event aside, and sends the others', () =>
    inPage(async (page) => {
      await offline(async () => {
        await page.call('open', sessions().url, 'sue');
        await page.call('write', 's1', ['first', 'second']);
        await page.call('write', 's2', ['other']);
        await page.call('close');
        await page.call('damageUnsent', 'sue', 'second');
      });
      await page.call('open', sessions().url, 'sue');
      await page.call('untilRefused');
      assert.deepEqual(await stored('sue', 's2'), ['other']);
      assert.deepEqual(await stored('sue', 's1'), ['first']);
      assert.equal(await page.call('lastError'), 'corrupt_record');
      const waiting = { sessionId: 's1', events: 0, code: 'corrupt_record' };
      assert.deepEqual(await page.call('outbox'), [waiting]);
      await page.call('drop', 's1');
      assert.deepEqual(await page.call('outbox'), []);
      assert.deepEqual(await page.call('untilReadable', 's1', 1), ['first']);
      await page.call('close');
    }));

  it('reads a session whose copy is damaged from the remote, until the copy is dropped', () =>
    inPage(async (page) => {
      await writeThere('tom', 's1', ['one']);
      await writeThere('tom', 's2', ['two']);
      await page.call('open', sessions().url, 'tom');
      for (const id of ['s1', 's2']) await page.call('read', id);
      await page.call('close');
      await page.call('damageSession', 'tom');
      await page.call('open', sessions().url, 'tom');
      assert.deepEqual(await page.call('read', 's1'), ['one']);
      assert.deepEqual(await page.call('list'), ['s1', 's2']);
      assert.equal(await page.call('lastError'), 'corrupt_record');
      assert.equal(await page.call('tryToWrite', 's1', 'astray'), 'corrupt_record');
      assert.equal(await page.call('tryToWrite', 's2', 'more'), 'stored');
      await page.call('close');
      await page.call('open', sessions().url, 'tom');
      await page.call('drop', 's1');
      assert.equal(await page.call('tryToWrite', 's1', 'again'), 'stored');
      await page.call('untilSent');
      assert.deepEqual(await stored('tom', 's1'), ['one', 'again']);
      assert.deepEqual(await stored('tom', 's2'), ['two', 'more']);
      assert.deepEqual(await page.call('outbox'), []);
      await page.call('close');
    }));

  it('reads the remote beside local data of a newer version, and changes nothing in it', () =>
    inPage(async (page) => {
      await writeThere('uma', 's1', ['one']);
      await page.call('open', sessions().url, 'uma');
      await page.call('read', 's1');
      await page.call('close');
      await page.call('makeNewer', 'uma');
      const before = await page.call('contentOf');
      await page.call('open', sessions().url, 'uma');
      assert.deepEqual(await page.call('read', 's1'), ['one']);
      assert.deepEqual(await page.call('list'), ['s1']);
      assert.equal(await page.call('tryToWrite', 's1', 'more'), 'storage_newer');
      assert.equal(await page.call('lastError'), 'storage_newer');
      await page.call('close');
      assert.deepEqual(await page.call('contentOf'), before);
    }));

  it('reads the remote beside a database of a newer version, and writes nothing', () =>
    inPage(async (page) => {
      await writeThere('ute', 's1', ['one']);
      await page.call('open', sessions().url, 'ute');
      await page.call('read', 's1');
      await page.call('close');
      await page.call('raiseVersion');
      const before = await page.call('contentOf');
      await page.call('open', sessions().url, 'ute');
      assert.deepEqual(await page.call('read', 's1'), ['one']);
      assert.equal(await page.call('tryToWrite', 's1', 'more'), 'storage_newer');
      assert.equal(await page.call('lastError'), 'storage_newer');
      await page.call('close');
      assert.deepEqual(await page.call('contentOf'), before);
      await page.call('deleteDatabase');
    }));
}
