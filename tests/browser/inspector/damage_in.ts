// A session that cannot be read, in the inspector in one of the browsers.

import { describe, it } from 'node:test';

import type { BrowserName } from '../browser.js';
import { inspectorPages } from './inspector_pages.js';

export function damageIn(name: BrowserName): void {
  describe(`A damaged session in the inspector in ${name}`, () => {
    const { inPage } = inspectorPages(name);

    it('gets a new title, keeps its labels, and is deleted', () =>
      inPage(async (page) => {
        await page.call('openDamaged');
        await page.call('click', 'Session');
        await page.call('type', 'Title of the session', 'Green tea');
        await page.call('click', 'Save');
        await page.call('seeTexts', '.session-title', ['Green tea']);
        await page.call('see', 'team=a');
        await page.call('click', 'Delete session');
        await page.call('click', 'Delete session');
        await page.call('see', '0 sessions');
      }));
  });
}
