// Private windows: IndexedDB works there today, for as long as the window is open.

import { describe, it } from 'node:test';
import { type BrowserOptions, openBrowser } from '../../browser.js';
import { type Context, inTab, newName } from '../context.js';
import { assertDurable, type inPage } from './fallback.js';
import { serveSite } from '../site.js';

const PRIVATE: [browserName: 'chromium' | 'firefox', options: BrowserOptions][] = [
  ['chromium', { arguments: ['--incognito'] }],
  ['firefox', { preferences: { 'browser.privatebrowsing.autostart': true } }],
];

describe('In private mode', () => {
  for (const [browserName, options] of PRIVATE) {
    it(`'auto' uses IndexedDB in ${browserName}, where it works`, async () => {
      const site = await serveSite();
      const browser = await openBrowser(browserName, options);
      const context: Context = { browser, site };
      try {
        const name = newName();
        for (const events of [['event-0'], ['event-0', 'event-1']]) {
          await inTab<typeof inPage>(context, async (tab) => {
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
