// A session that cannot be read, in the inspector in one of the browsers.

import { describe, it } from 'node:test';

import type { BrowserName } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { opened } from '../opened.js';
import { serveInspector } from './inspector_site.js';
import type { InspectorScenarios } from './page/main.js';

export function damageIn(name: BrowserName): void {
  describe(`A damaged session in the inspector in ${name}`, () => {
    const context = opened(name, serveInspector);

    it('gets a new title, keeps its labels, and is deleted', () =>
      inTabs<InspectorScenarios>(context.browser, [`${context.site.origin}/`], async ([page]) => {
        await page!.call('openDamaged');
        await page!.call('click', 'Session');
        await page!.call('type', 'Title of the session', 'Green tea');
        await page!.call('click', 'Save');
        await page!.call('seeTexts', '.session-title', ['Green tea']);
        await page!.call('see', 'team=a');
        await page!.call('click', 'Delete session');
        await page!.call('click', 'Delete session');
        await page!.call('see', '0 sessions');
      }));
  });
}
