// The first screen of the built site, as a visitor uses it.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../../browser/browser.js';
import { click, until } from '../../browser/chat_page.js';
import { serve } from '../../browser/server.js';
import { root } from '../../toolchain/environment.mjs';

const OUTPUT = `document.querySelector('.example pre').textContent.trim()`;

/** Runs the example of the first screen, edits it, and comes back. Takes pictures in target/pictures/. */
export async function visitFirstScreen(site: string): Promise<void> {
  const server = await serve({ '/': site });
  const browser = await openBrowser('chromium', { arguments: ['--window-size=1280,1800'] });
  try {
    const page = await browser.openTab(`${server.origin}/`);
    const printed = (text: string): Promise<void> =>
      until(page, `${OUTPUT} === ${JSON.stringify(text)}`);
    await printed('The output appears here.');
    await click(page, '.example button', 'Run');
    await printed('guide This is visit 1.');
    await page.open(`${server.origin}/`);
    await until(page, `document.querySelector('.example .kept') !== null`);
    await printed('guide This is visit 1.');
    await page.evaluate(`(() => {
      const code = document.querySelector('.example textarea');
      code.value = code.value.replace('This is visit', 'Edited, this is visit');
      code.dispatchEvent(new Event('input'));
    })()`);
    await click(page, '.example button', 'Run');
    await printed('guide This is visit 1.\nguide Edited, this is visit 2.');
    await page.evaluate(`(() => {
      const code = document.querySelector('.example textarea');
      code.value = 'no code';
      code.dispatchEvent(new Event('input'));
    })()`);
    await click(page, '.example button', 'Run');
    await until(page, `document.querySelector('.example b')?.textContent.length > 0`);
    await page.open(`${server.origin}/`);
    await until(page, `document.querySelector('.example .kept') !== null`);
    const folder = join(root, 'target/pictures');
    mkdirSync(folder, { recursive: true });
    for (const width of [1280, 375]) {
      const metrics = { width, height: 1800, deviceScaleFactor: 1, mobile: false };
      await browser.debug('Emulation.setDeviceMetricsOverride', metrics);
      await until(page, `innerWidth === ${width}`);
      const isWider = await page.evaluate(`document.documentElement.scrollWidth > innerWidth`);
      assert.equal(isWider, false, `the first screen is wider than ${width} pixels`);
      writeFileSync(join(folder, `site_${width}.png`), await page.picture());
    }
  } finally {
    await browser.close();
    await server.close();
  }
}
