// Pages over the real `adk api_server` in several tabs: one run at a time, on the screen of all.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { RemoteSessionService } from '../../../js/service/remote/index.js';
import { liveSession } from '../../../js/ui/live/index.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { besideApiServer, lineOf } from './api_server_pages.js';

/** A tab that asks the agent `script`, whose messages say what it does. */
export function page() {
  const [url = '', sessionId = ''] = location.hash.slice(1).split(',');
  const paths: string[] = [];
  const service = new RemoteSessionService({
    url,
    fetch: (input, init) => {
      paths.push(new URL(input as string).pathname);
      return fetch(input, init);
    },
  });
  const store = liveSession(service, { appName: 'script', userId: 'ada', sessionId });
  const seen: string[] = [];
  store.subscribe((snapshot) => {
    const line = lineOf(snapshot);
    if (seen.at(-1) !== line) seen.push(line);
  });
  return {
    async waitFor(line: string): Promise<void> {
      for (let tries = 0; tries < 2000; tries += 1) {
        if (lineOf(store.getSnapshot()) === line) return;
        await new Promise((done) => setTimeout(done, 5));
      }
      throw new Error(`${line} was never shown; the page had ${seen.slice(-8).join(', ')}`);
    },
    /** Asks, and does not wait until the message is stored. */
    askSoon(text: string): void {
      void store.ask({ role: 'user', parts: [{ text }] });
    },
    cancel: () => store.cancel(),
    /** As the browser does when the user comes back. */
    focus(): void {
      window.dispatchEvent(new Event('focus'));
    },
    feeds: () => paths.filter((path) => path.endsWith('/changes')),
  };
}

const steps = (...all: readonly object[]): string => JSON.stringify(all);
const partial = { say: 'tea', partial: true };
const whole = { say: 'tea is asked' };

describe('Pages over adk api_server in several tabs', { timeout: 180_000 }, () => {
  const server = besideApiServer(import.meta.url);

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(name)));
      after(() => browser.close());

      const urls = (session: string) => [1, 2].map(() => server.addressOf(session));

      it('show a run in all of them, and take place one after the other', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('queue'), async ([one, other]) => {
          await one!.call('askSoon', steps(partial, { wait: 1.5 }, whole));
          await one!.call('waitFor', 'running|…|(tea)');
          await other!.call('askSoon', steps({ say: 'next' }));
          await one!.call('waitFor', 'idle|…|tea is asked');
          const all = 'idle|…|tea is asked|…|next';
          for (const tab of [one, other]) await tab!.call('waitFor', all);
          for (const tab of [one, other]) assert.deepEqual(await tab!.call('feeds'), []);
        });
      });

      it('show its drafts in another tab, which may stop it', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('stop'), async ([one, other]) => {
          await one!.call('askSoon', steps({ say: 'first' }));
          for (const tab of [one, other]) await tab!.call('waitFor', 'idle|…|first');
          await one!.call('askSoon', steps(partial, { wait: 20 }, whole));
          await one!.call('waitFor', 'running|…|first|…|(tea)');
          await other!.call('waitFor', 'running|…|first|(tea)');
          await other!.call('cancel');
          for (const tab of [one, other]) {
            await tab!.call('waitFor', 'cancelled|…|first|…|INVOCATION_ABORTED');
          }
        });
      });

      it('read what another device has done when the user comes back', async () => {
        await inTabs<ReturnType<typeof page>>(browser, urls('focus'), async ([one]) => {
          await one!.call('askSoon', steps({ say: 'first' }));
          await one!.call('waitFor', 'idle|…|first');
          const newMessage = { role: 'user', parts: [{ text: '[{"say":"elsewhere"}]' }] };
          const key = { appName: 'script', userId: 'ada', sessionId: 'focus' };
          await server.ask('/run', { body: { ...key, newMessage } });
          await one!.call('focus');
          await one!.call('waitFor', 'idle|…|first|…|elsewhere');
        });
      });
    });
  }
});
