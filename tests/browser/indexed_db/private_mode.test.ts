// Private windows: IndexedDB works there today, for as long as the window is open.

import { describe, it } from 'node:test';
import { type BrowserOptions, openBrowser } from '../engine.js';
import { type Context, inTab, newName } from './context.js';
import { assertDurable } from './fallback.js';
import { serveSite } from './site.js';

const PRIVATE: [engine: 'chromium' | 'firefox', options: BrowserOptions][] = [
  ['chromium', { arguments: ['--incognito'] }],
  ['firefox', { preferences: { 'browser.privatebrowsing.autostart': true } }],
];

describe('In private mode', () => {
  for (const [engine, options] of PRIVATE) {
    it(`'auto' uses IndexedDB in ${engine}, where it works`, async () => {
      const site = await serveSite();
      const browser = await openBrowser(engine, options);
      const context: Context = { browser, site };
      try {
        const name = newName();
        for (const events of [['event-0'], ['event-0', 'event-1']]) {
          await inTab(context, async (tab) => {
            assertDurable(await tab.call('openAuto', name), events);
          });
        }
      } finally {
        await browser.close();
        await site.close();
      }
    });
  }
});
