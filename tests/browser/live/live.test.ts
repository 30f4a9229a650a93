// Live sessions over IndexedDB in two tabs: what one does is on the screen of the other.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { openSessionService } from '../../../js/index.js';
import { type LiveSessionSnapshot, liveSession } from '../../../js/ui/live/index.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { pageScript } from '../page_script.js';
import { serveModule, type Server } from '../server.js';

/** A tab shows a session on its screen, and changes it. */
export function page() {
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  const service = openSessionService({ storage: 'indexeddb', name: 'live' });
  const store = liveSession(service, key, { window: 20 });
  /** When each line was first on the screen, in milliseconds since 1970. */
  const shownAt = new Map<string, number>();
  store.subscribe((snapshot) => {
    document.body.innerText = linesOf(snapshot).join('\n');
    for (const line of linesOf(snapshot)) if (!shownAt.has(line)) shownAt.set(line, Date.now());
  });
  return {
    /** Waits until the line is on the screen. Returns when that was. */
    async waitFor(line: string): Promise<number> {
      for (let tries = 0; tries < 12_000; tries += 1) {
        const time = shownAt.get(line);
        if (time !== undefined) return time;
        await new Promise((done) => setTimeout(done, 5));
      }
      throw new Error(`${line} was never shown; the page has ${document.body.innerText}`);
    },
    /** Sends an event. Returns when the call began. */
    async send(id: string): Promise<number> {
      const now = Date.now();
      await store.send({ id, author: 'user', content: { role: 'user', parts: [{ text: id }] } });
      return now;
    },
    rename: (title: string) => store.rename(title),
    setName: (name: string) => store.updateState({ 'user:name': name }),
    remove: () => store.remove(),
    lines: () => linesOf(store.getSnapshot()),
  };
}

function linesOf({ status, title, events, scopes }: LiveSessionSnapshot): string[] {
  return [status, title ?? '', JSON.stringify(scopes.user), ...events.map(({ id }) => id)];
}

describe('Live sessions in two tabs', () => {
  let site: Server;
  before(async () => {
    site = await serveModule(await pageScript(import.meta.url));
  });
  after(() => site.close());

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(name)));
      after(() => browser.close());

      it('show what the other tab does', async (t) => {
        const urls = [`${site.origin}/`, `${site.origin}/`];
        await inTabs<ReturnType<typeof page>>(browser, urls, async ([one, other]) => {
          assert.ok(one !== undefined && other !== undefined);
          await one.call('waitFor', 'missing');
          await other.call('waitFor', 'missing');
          const delays: number[] = [];
          for (let turn = 1; turn <= 10; turn += 1) {
            const [from, to] = turn % 2 === 1 ? [one, other] : [other, one];
            const sent = await from.call('send', `e${turn}`);
            const shown = await to.call('waitFor', `e${turn}`);
            delays.push(shown - sent);
          }
          t.diagnostic(`from the call to the other screen: ${delays.join(', ')} ms`);
          await one.call('rename', 'Tea');
          await other.call('waitFor', 'Tea');
          await other.call('setName', 'Ada');
          for (const tab of [one, other]) await tab.call('waitFor', '{"user:name":"Ada"}');
          const lines = await one.call('lines');
          const ids = Array.from({ length: 10 }, (_, index) => `e${index + 1}`);
          // The state was set by an event of its own.
          assert.deepEqual(lines.slice(3, 13), ids);
          assert.deepEqual(await other.call('lines'), lines);
          await one.call('remove');
          await other.call('waitFor', 'deleted');
        });
      });
    });
  }
});
