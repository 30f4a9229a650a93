// The guide "Chat", followed in Chromium where something is missing: the server, a second device's view, a secure context.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, openBrowser } from '../../browser/browser.js';
import { click, MANY_WORDS, say, shows, until } from '../../browser/chat_page.js';
import {
  ChatSite,
  lines,
  type Page,
  reopen,
  settled,
  SIGNED_OUT,
  untilLoaded,
} from './chat_site.js';

/** A name for the address of this machine. A page of it has no secure context, as one of another machine on http. */
const PLAIN_HOST = 'chat.example';

const ALERT = `(document.querySelector('[role=alert]')?.textContent ?? '')`;

describe('The page of the guide "Chat"', { timeout: 600_000 }, () => {
  let site: ChatSite;
  let browser: Browser;
  let other: Browser;

  before(async () => {
    site = await ChatSite.build();
    const resolve = { arguments: [`--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`] };
    [browser, other] = await Promise.all([
      openBrowser('chromium'),
      openBrowser('chromium', resolve),
    ]);
  });
  beforeEach(() => site.start());
  after(async () => {
    await Promise.all([browser.close(), other.close()]);
    await site.stop('SIGKILL');
  });

  /** Cuts or restores the network of a page. */
  async function setOffline(device: Browser, page: Page, offline: boolean): Promise<void> {
    await page.focus();
    await device.debug('Network.enable');
    const speed = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await device.debug('Network.emulateNetworkConditions', { offline, ...speed });
  }

  const isOffline = (page: Page) =>
    until(page, `document.querySelector('output').textContent.startsWith('offline')`);

  it('keeps a first message without a server over a reload at once', async () => {
    const page = await site.open(browser, 'ada');
    await site.stop('SIGKILL');
    await say(page, 'Hello');
    await until(page, `document.querySelector('output').textContent.includes('1 waiting')`);
    await reopen(page);
    await lines(page, 'user Hello');
    await shows(page, '.unsent', ['not sent yetDiscard']);
    await site.start();
    await lines(page, 'user Hello', 'guide You said: Hello');
    await settled(page);
    await shows(page, '.unsent', []);
  });

  it('shows a draft above a message that waits for it', async () => {
    const page = await site.open(browser, 'ben');
    await say(page, `${MANY_WORDS} ${MANY_WORDS}`);
    await until(page, `document.querySelector('.draft') !== null`);
    await say(page, 'And now?');
    await until(
      page,
      `[...document.querySelectorAll('li:has(.draft) ~ li')].some((item) => item.textContent.includes('And now?'))`,
    );
    await until(page, `document.body.textContent.includes('You said: And now?')`);
  });

  it('gives up a first message and a later one before they are sent', async () => {
    const page = await site.open(browser, 'cid');
    await site.stop('SIGKILL');
    await say(page, 'First');
    await lines(page, 'user First');
    await isOffline(page);
    await click(page, '.unsent button', 'Discard');
    await lines(page);
    await shows(page, '[role=alert]', []);
    await site.start();
    await say(page, 'Hello');
    const first = ['user Hello', 'guide You said: Hello'];
    await lines(page, ...first);
    await settled(page);

    await site.stop('SIGKILL');
    await say(page, 'Later');
    await lines(page, ...first, 'user Later');
    await isOffline(page);
    await click(page, '.unsent button', 'Discard');
    await lines(page, ...first);
    await site.start();
    await settled(page);
    await reopen(page);
    await lines(page, ...first);
    await shows(page, '.title', ['Hello']);
  });

  it('signs out without a server, and deletes the cookie once the server is back', async () => {
    const page = await site.open(browser, 'dan');
    await say(page, 'Hello');
    await lines(page, 'user Hello', 'guide You said: Hello');
    await settled(page);
    await site.stop('SIGKILL');
    await say(page, 'Lost');
    await isOffline(page);

    await page.evaluate(`void (globalThis.confirm = (text) => (globalThis.asked = text, false))`);
    await click(page, 'footer button', 'Sign out');
    await until(page, `globalThis.asked !== undefined`);
    await lines(page, 'user Hello', 'guide You said: Hello', 'user Lost');
    await page.evaluate(`void (globalThis.confirm = () => true)`);
    await click(page, 'footer button', 'Sign out');
    await untilLoaded(page, `document.querySelector('.leaving') !== null`);
    await reopen(page);
    await until(page, `document.querySelector('.leaving') !== null`);
    await shows(page, '.stored', []);

    await site.start();
    await untilLoaded(page, SIGNED_OUT);
    const sessions = `fetch('/api/apps/chat/users/dan/sessions').then(({ status }) => status)`;
    assert.equal(await page.evaluate(sessions), 401);
    const next = await site.open(browser, 'dan');
    await click(next, '.title', 'Hello');
    await lines(next, 'user Hello', 'guide You said: Hello');
  });

  it('shows why a message was refused, and sends the next one', async () => {
    const page = await site.open(browser, 'eve');
    await say(page, 'Hello');
    await lines(page, 'user Hello', 'guide You said: Hello');
    await page.evaluate(`void (document.querySelector('[name=text]').value = 'x'.repeat(9e6))`);
    await page.evaluate(`document.querySelector('form:has([name=text])').requestSubmit()`);
    await until(page, `document.querySelector('.unsent')?.textContent.includes('Retry')`);
    await say(page, 'Shorter');
    await until(page, `document.body.textContent.includes('You said: Shorter')`);
    await click(page, '.unsent button', 'Discard');
    const all = ['user Hello', 'guide You said: Hello', 'user Shorter', 'guide You said: Shorter'];
    await lines(page, ...all);
  });

  it('offers a new conversation in place of one that another device has deleted', async () => {
    const page = await site.open(browser, 'fay');
    await say(page, 'Hello');
    await lines(page, 'user Hello', 'guide You said: Hello');
    await settled(page);
    const second = await site.open(other, 'fay');
    await click(second, '.title', 'Hello');
    await lines(second, 'user Hello', 'guide You said: Hello');
    await setOffline(browser, page, true);
    await say(page, 'Are you there?');
    await isOffline(page);
    await lines(page, 'user Hello', 'guide You said: Hello', 'user Are you there?');

    await click(second, 'nav button', 'Delete');
    await until(second, `${ALERT}.includes('was deleted')`);
    // The page counts only events that wait, so it does not tell when the server has deleted the session.
    const stored = `fetch('/api/apps/chat/users/fay/sessions').then((answer) => answer.json())`;
    while ((await second.evaluate<unknown[]>(stored)).length > 0) await sleep(20);
    await setOffline(browser, page, false);
    await until(page, `document.querySelector('.unsent')?.textContent.includes('Retry')`);
    await click(page, '.unsent button', 'Discard');
    await until(page, `${ALERT}.includes('was deleted')`);
    for (const shown of [page, second]) {
      await click(shown, '[role=alert] a', 'New chat');
      await say(shown, 'Again');
      await lines(shown, 'user Again', 'guide You said: Again');
    }
  });

  it('works on plain http, and shows a question that another device has answered as answered', async () => {
    const page = await site.open(browser, 'gus');
    await say(page, 'order oolong');
    await until(page, `document.querySelector('.question') !== null`);
    const second = await site.open(other, 'gus', PLAIN_HOST);
    assert.equal(await second.evaluate('isSecureContext'), false);
    await click(second, '.title', 'order oolong');
    await click(second, '.question button', 'Yes');
    const all = ['user order oolong', 'user Yes', 'guide One oolong is on its way.'];
    for (const shown of [page, second]) {
      await lines(shown, ...all);
      await shows(shown, '.question', []);
    }
    await click(second, 'nav a', 'New chat');
    await say(second, 'Hello');
    await lines(second, 'user Hello', 'guide You said: Hello');
    await shows(page, '.title', ['Hello', 'order oolong']);
  });

  it('takes back an answer that comes after that of another device, and sends what waits behind it', async () => {
    const page = await site.open(browser, 'ida');
    await say(page, 'order oolong');
    await until(page, `document.querySelector('.question') !== null`);
    const second = await site.open(other, 'ida');
    await click(second, '.title', 'order oolong');
    await until(second, `document.querySelector('.question') !== null`);
    await settled(page);
    await setOffline(browser, page, true);
    await click(page, '.question button', 'No');
    await lines(page, 'user order oolong', 'user No');
    await say(page, 'Hello?');
    await lines(page, 'user order oolong', 'user No', 'user Hello?');
    await click(second, '.question button', 'Yes');
    const all = ['user order oolong', 'user Yes', 'guide One oolong is on its way.'];
    await lines(second, ...all);
    await settled(second);
    await setOffline(browser, page, false);
    for (const shown of [page, second]) {
      await lines(shown, ...all, 'user Hello?', 'guide You said: Hello?');
      await shows(shown, '.question', []);
    }
    await shows(page, '[role=alert]', []);
    await settled(page);
  });
});
