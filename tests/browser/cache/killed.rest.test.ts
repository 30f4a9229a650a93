// Chromium is killed while its cache has a full outbox, and in the middle of sending. Each start finds what was
// acknowledged, and in the end the server has it once.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openBrowser } from '../browser.js';
import { startChromium } from '../indexed_db/loss/chromium_process.js';
import { type ChatSite, serveChat } from './chat_site.js';
import type { ChatScenarios } from './page/main.js';

const KILLS = Number(process.env.SOAK_CACHE_KILLS ?? 10);

/** How often Chromium itself may abandon all databases before the test fails; see `indexed_db/loss/kills.ts`. */
const MAX_GIVEN_UP = 2;

interface Report {
  readonly error?: string;
  /** The reason why Chromium has abandoned all databases of the page. */
  readonly givenUp?: string;
  readonly sessions?: Readonly<Record<string, readonly string[]>>;
}

describe('A leading tab that is killed', () => {
  it('leaves its outbox to another tab, which sends it once', async () => {
    const site = await serveChat();
    const browser = await openBrowser('chromium');
    const key = { appName: 'chat', userId: 'ada', sessionId: 'one' };
    try {
      const first = await browser.openTab<ChatScenarios>(site.origin);
      const second = await browser.openTab<ChatScenarios>(site.origin);
      await first.call('open', site.sessions.url, 'ada');
      await first.call('write', 'one', ['zero']);
      await first.call('untilSent');
      await second.call('open', site.sessions.url, 'ada');
      await site.sessions.stop();
      await first.call('write', 'one', ['one', 'two']);
      await second.call('write', 'one', ['three']);
      await first.focus();
      // The renderer is gone, so there is no answer.
      await assert.rejects(browser.debug('Page.crash'), /crash/);
      await site.sessions.start();
      await second.call('untilSent');
      const session = await site.sessions.service.getSession(key);
      const texts = session!.events.map(({ content }) => content?.parts?.[0]?.text);
      assert.deepEqual(texts, ['zero', 'one', 'two', 'three']);
    } finally {
      await browser.close();
      await site.close();
    }
  });
});

describe('A leading tab that is killed while messages wait for the agent', () => {
  it('leaves them to another tab, and each runs once', async () => {
    const site = await serveChat();
    const browser = await openBrowser('chromium');
    try {
      const first = await browser.openTab<ChatScenarios>(site.origin);
      const second = await browser.openTab<ChatScenarios>(site.origin);
      await first.call('open', site.sessions.url, 'ada');
      await first.call('ask', 'one', ['zero']);
      await first.call('untilSent');
      await second.call('open', site.sessions.url, 'ada');
      await site.sessions.stop();
      await first.call('ask', 'one', ['one', 'two']);
      await first.focus();
      // The renderer is gone, so there is no answer.
      await assert.rejects(browser.debug('Page.crash'), /crash/);
      await site.sessions.start();
      await second.call('untilSent');
      const all = ['zero', 'zero!', 'one', 'one!', 'two', 'two!'];
      assert.deepEqual(await second.call('untilRead', 'one', all.length), all);
    } finally {
      await browser.close();
      await site.close();
    }
  });
});

describe('A Chromium that is killed', () => {
  it(`loses and doubles nothing, ${KILLS} times with a full outbox and ${KILLS} times while it sends`, async () => {
    const givenUp: string[] = [];
    for (;;) {
      const reason = await killOneProfile();
      if (reason === undefined) return;
      givenUp.push(reason);
      assert.ok(givenUp.length <= MAX_GIVEN_UP, `Chromium gave up: ${givenUp.join('; ')}`);
      console.log(`# Chromium abandoned its databases: ${reason}; starting again`);
    }
  });
});

/** Returns why Chromium has abandoned all databases of the page, if it has. */
async function killOneProfile(): Promise<string | undefined> {
  const site = await serveChat();
  const profile = await mkdtemp(join(tmpdir(), 'killed-cache-'));
  const start = (query: Record<string, string>) =>
    startChromium(profile, `${site.origin}/killed?${new URLSearchParams({ ...query, server: site.sessions.url })}`); // prettier-ignore
  const reported = async (): Promise<Report> => {
    await site.found.atLeast(1);
    const report = JSON.parse(site.found.take()[0]!) as Report;
    assert.equal(report.error, undefined);
    return report;
  };
  try {
    const told: string[] = [];
    for (let run = 0; run < 2 * KILLS; run += 1) {
      await site.sessions.stop();
      const browser = start({ run: `run-${run}` });
      try {
        const { sessions = {}, givenUp } = await reported();
        if (givenUp !== undefined) return givenUp;
        requireWhole(sessions, told);
        await site.acknowledged.atLeast(20 + ((run * 17) % 40));
        if (run >= KILLS) {
          const appended = untilAppended(site, 1 + (run % 4));
          await site.sessions.start();
          await appended;
        }
      } finally {
        await browser.kill();
      }
      told.push(...site.acknowledged.take());
    }
    await site.sessions.stop();
    await site.sessions.start();
    const browser = start({ drain: '' });
    try {
      const { givenUp } = await reported();
      if (givenUp !== undefined) return givenUp;
    } finally {
      await browser.kill();
    }
    const sessions: Record<string, string[]> = {};
    for (const sessionId of ['one', 'two']) {
      const key = { appName: 'chat', userId: 'ada', sessionId };
      const session = await site.sessions.service.getSession(key);
      sessions[sessionId] = session!.events.map(({ content }) => String(content?.parts?.[0]?.text));
    }
    requireWhole(sessions, told);
    return undefined;
  } finally {
    await site.close();
    await rm(profile, { recursive: true, force: true });
  }
}

/** Resolves when the server has stored this many appends from now on. */
async function untilAppended({ sessions }: ChatSite, count: number): Promise<void> {
  const notices = sessions.service.watch({ appName: 'chat', userId: 'ada' });
  for (let left = count; left > 0;) {
    const { value } = await notices.next();
    if (value?.type === 'appended') left -= 1;
  }
  await notices.return();
}

/** Everything that was acknowledged is there once, and in its order. */
function requireWhole(
  sessions: Readonly<Record<string, readonly string[]>>,
  told: readonly string[],
): void {
  const found = Object.values(sessions).flat();
  const stored = new Set(found);
  assert.equal(stored.size, found.length, 'no text is there twice');
  assert.deepEqual(
    told.filter((text) => !stored.has(text)),
    [],
    'acknowledged texts are there',
  );
  for (const [sessionId, texts] of Object.entries(sessions)) {
    const acknowledged = told.filter((text) => text.split(':')[1] === sessionId);
    const order = texts.filter((text) => acknowledged.includes(text));
    assert.deepEqual(order, acknowledged, `the texts of ${sessionId} are in their order`);
  }
}
