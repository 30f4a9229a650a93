// What axe-core finds in the inspector, wide and on a phone, in real pages of one of the browsers.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';

import { root } from '../../toolchain/environment.mjs';
import type { BrowserName } from '../browser.js';
import { inspectorPages, type Page } from './inspector_pages.js';

const PICTURES = join(root, 'target', 'inspector');

const PANES = ['Event', 'State', 'Template', 'Session', 'Storage'];
/** Each is a tab in a narrow inspector. */
const VIEWS = ['Sessions', 'Events', ...PANES];

const PHONE = { width: 375, height: 667, deviceScaleFactor: 2, mobile: true };
const COLORS = { light: 'rgb(27, 31, 36)', dark: 'rgb(230, 237, 243)' };

export function accessibilityIn(name: BrowserName): void {
  describe(`The accessibility of the inspector in ${name}`, () => {
    before(() => void mkdirSync(PICTURES, { recursive: true }));
    const { context, inPage } = inspectorPages(name, '/axe');

    /** Opens the inspector on a phone. Only Chromium emulates one; elsewhere the element has the width of one. */
    const onPhone = (open: 'openShop' | 'openHostile', run: (page: Page) => Promise<void>) =>
      inPage(async (page) => {
        await (open === 'openShop' ? page.call(open, true) : page.call(open));
        if (name !== 'chromium') {
          await page.call('width', PHONE.width);
          await page.call('seeNarrow');
          return run(page);
        }
        await context.browser.debug('Emulation.setDeviceMetricsOverride', PHONE);
        try {
          await page.call('seeNarrow');
          await run(page);
        } finally {
          await context.browser.debug('Emulation.clearDeviceMetricsOverride');
        }
      });

    const picture = async (page: Page, where: string, view: string): Promise<void> => {
      const file = `${name}_${where}_${view.toLowerCase()}.png`;
      writeFileSync(join(PICTURES, file), await page.picture());
    };

    /** Only Chromium lets a test choose the colour scheme. */
    const schemes = name === 'chromium' ? (['light', 'dark'] as const) : (['light'] as const);
    const withScheme = async (scheme: 'light' | 'dark', page: Page): Promise<void> => {
      if (name !== 'chromium') return;
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await context.browser.debug('Emulation.setEmulatedMedia', { features });
      assert.equal(await page.call('style', '.inspector', 'color'), COLORS[scheme]);
    };

    /** Opens each view, with something in it. */
    const visit = async (
      page: Page,
      views: readonly string[],
      check: (view: string) => Promise<void>,
    ): Promise<void> => {
      for (const view of views) {
        await page.call('click', view);
        if (view === 'Events') await page.call('choose', 'Events', 'Sencha and matcha');
        if (view === 'State') await page.call('click', 'History of topic');
        if (view === 'Template') await page.call('type', 'Instruction template', '{topic} {x} {y?}'); // prettier-ignore
        await check(view);
      }
    };

    for (const scheme of schemes) {
      it(`has no fault in a wide window, ${scheme}`, () =>
        inPage(async (page) => {
          await page.call('openShop', true);
          await withScheme(scheme, page);
          await page.call('choose', 'Events', 'Sencha and matcha');
          await visit(page, PANES, async (view) => {
            assert.deepEqual(await page.call('axe'), [], view);
            await picture(page, `wide_${scheme}`, view);
          });
        }));

      it(`has no fault on a phone, where all fits into the width, ${scheme}`, () =>
        onPhone('openShop', async (page) => {
          await withScheme(scheme, page);
          await visit(page, VIEWS, async (view) => {
            assert.deepEqual(await page.call('tooWide'), [], view);
            assert.deepEqual(await page.call('axe'), [], view);
            await picture(page, `phone_${scheme}`, view);
          });
        }));
    }

    it('fits hostile texts into the width of a phone', () =>
      onPhone('openHostile', async (page) => {
        for (const view of VIEWS) {
          await page.call('click', view);
          assert.deepEqual(await page.call('tooWide'), [], view);
          if (view !== 'Events') continue;
          const [first = ''] = await page.call('options', 'Events');
          await page.call('choose', 'Events', first.slice(0, 40));
        }
      }));
  });
}
