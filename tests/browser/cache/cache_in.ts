// The cache in one of the browsers, over the handler of sessions in this process.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createEvent } from 'adk-session-wasm';
import { type Browser, type BrowserName, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import type { Tab } from '../tab.js';
import { type ChatSite, serveChat } from './chat_site.js';
import { damage } from './damage.js';
import { loss } from './loss.js';
import type { ChatScenarios } from './page/main.js';

type ChatTab = Tab<ChatScenarios>;

const APP = { appName: 'chat' };
const DATABASE = 'adk-session-wasm cache';

export function cacheIn(browserName: BrowserName): void {
  describe(`A cache in ${browserName}`, () => {
    let site: ChatSite;
    let browser: Browser;
    before(async () => {
      site = await serveChat();
      browser = await openBrowser(browserName);
    });
    after(async () => {
      await browser.close();
      await site.close();
    });

    const inPages = (count: number, run: (...tabs: ChatTab[]) => Promise<void>) =>
      inTabs<ChatScenarios>(browser, Array<string>(count).fill(site.origin), (tabs) =>
        run(...tabs),
      );
    const stored = async (userId: string, sessionId: string): Promise<string[] | undefined> => {
      const session = await site.sessions.service.getSession({ ...APP, userId, sessionId });
      return session?.events.map(({ content }) => String(content?.parts?.[0]?.text));
    };
    /** Writes as another program does, on the server. */
    const writeThere = async (userId: string, sessionId: string, texts: readonly string[]) => {
      const { service } = site.sessions;
      const session = await service.getOrCreateSession({ ...APP, userId, sessionId });
      const events = texts.map((text) =>
        createEvent({ author: 'bot', invocationId: 'i', content: { parts: [{ text }] } }),
      );
      await service.appendEvents({ session, events });
    };

    it('lists, opens and writes', () =>
      inPages(1, async (page) => {
        await writeThere('ada', 's1', ['hello', 'tea?']);
        await page.call('open', site.sessions.url, 'ada');
        assert.deepEqual(await page.call('list'), ['s1']);
        assert.deepEqual(await page.call('read', 's1'), ['hello', 'tea?']);
        await page.call('write', 's1', ['green']);
        await page.call('untilSent');
        assert.deepEqual(await stored('ada', 's1'), ['hello', 'tea?', 'green']);
        await page.call('close');
      }));

    it('has everything after a reload without the server, and sends it once when the server is back', () =>
      inPages(1, async (page) => {
        await writeThere('eva', 's1', ['hello']);
        await page.call('open', site.sessions.url, 'eva');
        assert.deepEqual(await page.call('list'), ['s1']);
        assert.deepEqual(await page.call('read', 's1'), ['hello']);
        await site.sessions.stop();
        try {
          await page.call('write', 's1', ['one', 'two']);
          await page.call('write', 'made offline', ['three']);
          await page.open(site.origin);
          await page.call('open', site.sessions.url, 'eva');
          assert.deepEqual(await page.call('list'), ['made offline', 's1']);
          assert.deepEqual(await page.call('read', 's1'), ['hello', 'one', 'two']);
          assert.deepEqual(await page.call('read', 'made offline'), ['three']);
          await page.call('write', 's1', ['four']);
          await writeThere('eva', 's1', ['meanwhile']);
        } finally {
          await site.sessions.start();
        }
        await page.call('untilSent');
        const all = ['hello', 'meanwhile', 'one', 'two', 'four'];
        assert.deepEqual(await stored('eva', 's1'), all);
        assert.deepEqual(await stored('eva', 'made offline'), ['three']);
        assert.deepEqual(await page.call('untilRead', 's1', all.length), all);
        await page.call('close');
      }));

    it('sends from another tab when the sender is closed', () =>
      inPages(2, async (first, second) => {
        await first.call('open', site.sessions.url, 'kim');
        await first.call('write', 's1', ['zero']);
        await first.call('untilSent');
        await second.call('open', site.sessions.url, 'kim');
        await site.sessions.stop();
        try {
          await first.call('write', 's1', ['one', 'two']);
          await second.call('write', 's1', ['three']);
          await first.call('write', 's1', ['four']);
          await first.close();
        } finally {
          await site.sessions.start();
        }
        await second.call('untilSent');
        assert.deepEqual(await stored('kim', 's1'), ['zero', 'one', 'two', 'three', 'four']);
        await second.call('close');
      }));

    it('gives each message that was asked offline in two tabs one run, also if the sender is closed', () =>
      inPages(2, async (first, second) => {
        await first.call('open', site.sessions.url, 'ina');
        await first.call('ask', 's1', ['zero']);
        await first.call('untilSent');
        await second.call('open', site.sessions.url, 'ina');
        assert.ok((await second.call('read', 's1'))?.includes('zero'));
        await site.sessions.stop();
        try {
          await first.call('ask', 's1', ['one', 'two']);
          await second.call('ask', 's1', ['three']);
          await first.call('ask', 'made offline', ['four']);
          await first.close();
        } finally {
          await site.sessions.start();
        }
        await second.call('untilSent');
        const all = ['zero', 'zero!', 'one', 'one!', 'two', 'two!', 'three', 'three!'];
        assert.deepEqual(await second.call('untilRead', 's1', all.length), all);
        assert.deepEqual(await stored('ina', 's1'), all);
        assert.deepEqual(await second.call('untilRead', 'made offline', 2), ['four', 'four!']);
        await second.call('close');
      }));

    it('shows its status in other tabs, and forgets in all', () =>
      inPages(2, async (first, second) => {
        await first.call('open', site.sessions.url, 'mia');
        await first.call('write', 's1', ['one']);
        await first.call('untilSent');
        await second.call('open', site.sessions.url, 'mia');
        assert.deepEqual(await second.call('read', 's1'), ['one']);
        await site.sessions.stop();
        try {
          await first.call('write', 's1', ['two']);
          await second.call('untilOffline');
          // It reads what waits from the local storage.
          await second.call('untilPending', 1);
          await first.call('forget');
          await second.call('untilEmpty');
        } finally {
          await site.sessions.start();
        }
        assert.deepEqual(await second.call('read', 's1'), ['one']);
        await first.call('close');
        await second.call('close');
      }));

    // Only Chromium's driver freezes a page.
    if (browserName === 'chromium') {
      it('sends from another tab when the sender is frozen, and once when it wakes', () =>
        inPages(2, async (first, second) => {
          await first.call('open', site.sessions.url, 'lia');
          await first.call('write', 's1', ['zero']);
          await first.call('untilSent');
          await second.call('open', site.sessions.url, 'lia');
          assert.deepEqual(await second.call('read', 's1'), ['zero']);
          await site.sessions.stop();
          try {
            await second.call('write', 's1', ['one']);
            await first.call('write', 's1', ['two']);
            await browser.debug('Page.setWebLifecycleState', { state: 'frozen' });
          } finally {
            await site.sessions.start();
          }
          await second.call('untilSent');
          assert.deepEqual(await stored('lia', 's1'), ['zero', 'one', 'two']);
          await first.focus();
          await browser.debug('Page.setWebLifecycleState', { state: 'active' });
          await first.call('write', 's1', ['three']);
          await first.call('untilSent');
          assert.deepEqual(await stored('lia', 's1'), ['zero', 'one', 'two', 'three']);
        }));

      it('a tab that was frozen, and has missed the message of forget, forgets when it wakes', () =>
        inPages(2, async (first, second) => {
          // A browser may also deliver the message when the page wakes.
          await first.evaluate(
            "void Object.defineProperty(BroadcastChannel.prototype, 'onmessage', { value: null, writable: true })",
          );
          await first.call('open', site.sessions.url, 'liv');
          await first.call('write', 's1', ['zero']);
          await first.call('untilSent');
          await second.call('open', site.sessions.url, 'liv');
          assert.deepEqual(await second.call('read', 's1'), ['zero']);
          await site.sessions.stop();
          try {
            await first.call('write', 's1', ['private']);
            await first.call('untilMarked', 'liv', true);
            assert.equal(await first.call('pending'), 1);
            await browser.debug('Page.setWebLifecycleState', { state: 'frozen' });
            await second.call('forget');
            await first.focus();
            await browser.debug('Page.setWebLifecycleState', { state: 'active' });
            await first.call('untilEmpty');
            assert.equal(await first.call('isLost'), false);
            assert.doesNotMatch(JSON.stringify(await first.call('contentOf')), /private/);
          } finally {
            await site.sessions.start();
          }
          await second.call('untilMarked', 'liv', false);
          await first.call('sync');
          assert.deepEqual(await stored('liv', 's1'), ['zero']);
        }));
    }

    it('shows nothing to another owner, also without the server', () =>
      inPages(1, async (page) => {
        await writeThere('lea', 's1', ['secret']);
        await page.call('open', site.sessions.url, 'lea');
        assert.deepEqual(await page.call('read', 's1'), ['secret']);
        await page.call('close');
        await site.sessions.stop();
        try {
          await page.call('open', site.sessions.url, 'mia', 'lea');
          await assert.rejects(page.call('read', 's1'), /connection_lost/);
          await page.call('close');
        } finally {
          await site.sessions.start();
        }
      }));

    it('forgets what an owner forgets, in each tab', () =>
      inPages(2, async (first, second) => {
        await writeThere('noa', 's1', ['secret']);
        for (const page of [first, second]) {
          await page.call('open', site.sessions.url, 'noa');
          assert.deepEqual(await page.call('read', 's1'), ['secret']);
        }
        await site.sessions.stop();
        try {
          await first.call('forget');
          // `aborted`: the message of the other tab arrives during the read.
          await assert.rejects(second.call('read', 's1'), /connection_lost|closed|aborted/);
          await second.open(site.origin);
          await second.call('open', site.sessions.url, 'noa');
          await assert.rejects(second.call('read', 's1'), /connection_lost/);
        } finally {
          await site.sessions.start();
        }
        assert.deepEqual(await second.call('read', 's1'), ['secret']);
      }));

    it('holds up no other tab when its page is left during a transaction', () =>
      inPages(2, async (first, second) => {
        await writeThere('pat', 's1', ['hello']);
        for (const page of [first, second]) {
          await page.call('open', site.sessions.url, 'pat');
          assert.deepEqual(await page.call('read', 's1'), ['hello']);
        }
        await first.call('readOn', 's1');
        // Its page is kept for a way back.
        await first.open(`${site.origin}?other`);
        await second.call('write', 's1', ['tea?']);
        await second.call('untilSent');
        await second.call('deleteDatabase');
        await second.call('close');
      }));

    it('leaves no record and no name of an owner who forgets', () =>
      inPages(1, async (page) => {
        const names = await page.call('databaseNames');
        await page.call('untilMarked', 'a private owner', false);
        await page.call('open', site.sessions.url, 'a private owner');
        await page.call('write', 's1', ['a private text']);
        await page.call('untilSent');
        await site.sessions.stop();
        try {
          await page.call('write', 's1', ['unsent, private']);
          assert.match(JSON.stringify(await page.call('contentOf')), /unsent, private/);
          await page.call('untilMarked', 'a private owner', true);
          await page.call('forget');
          await page.call('close');
        } finally {
          await site.sessions.start();
        }
        assert.doesNotMatch(JSON.stringify(await page.call('contentOf')), /private/);
        await page.call('untilMarked', 'a private owner', false);
        assert.deepEqual(new Set(await page.call('databaseNames')), new Set([...names, DATABASE]));
      }));

    it('sends 1,000 writes that waited', () =>
      inPages(1, async (page) => {
        await site.sessions.stop();
        try {
          await page.call('open', site.sessions.url, 'max');
          await page.call('writeMany', 20, 50);
          assert.equal(await page.call('pending'), 1000);
        } finally {
          await site.sessions.start();
        }
        // Otherwise the pause after so many failures could last half a minute.
        await page.evaluate("dispatchEvent(new Event('online'))");
        await page.call('untilSent');
        for (let number = 0; number < 20; number += 1) {
          const texts = Array.from({ length: 50 }, (_, place) => `${number}:${place}`);
          assert.deepEqual(await stored('max', `many ${number}`), texts);
        }
        await page.call('close');
      }));

    loss({ sessions: () => site.sessions, origin: () => site.origin, inPages, stored });
    damage({ sessions: () => site.sessions, inPage: (run) => inPages(1, run), stored, writeThere });
  });
}
