// A service worker opens the cache of a page that is closed.

import { describe, it } from 'node:test';
import { openBrowser } from '../browser.js';
import { serveChat } from './chat_site.js';
import type { ChatScenarios } from './page/main.js';

describe('A cache in a service worker', { timeout: 60_000 }, () => {
  it('sends what a page has left that is closed', async () => {
    const site = await serveChat();
    const { url, service } = site.sessions;
    const browser = await openBrowser('chromium');
    try {
      const tab = await browser.openTab<ChatScenarios>(site.origin);
      await tab.call('open', url, 'ada');
      await tab.call('write', 'one', ['Hello']);
      await tab.call('untilSent');
      await tab.evaluate(`navigator.serviceWorker.register('/service_worker.js')
        .then(() => navigator.serviceWorker.ready).then(() => undefined)`);
      await site.sessions.stop();
      await tab.call('write', 'one', ['Are you there?']);
      await tab.close();
      await site.sessions.start();
      await browser.debug('ServiceWorker.enable');
      const event = {
        origin: site.origin,
        registrationId: '0',
        tag: `${url} ada`,
        lastChance: false,
      };
      await browser.debug('ServiceWorker.dispatchSyncEvent', event);
      const key = { appName: 'chat', userId: 'ada', sessionId: 'one' };
      for (let texts: unknown[] = []; !texts.includes('Are you there?');) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        const { events = [] } = (await service.getSession(key)) ?? {};
        texts = events.map(({ content }) => content?.parts?.[0]?.text);
      }
    } finally {
      await browser.close();
      await site.close();
    }
  });
});
