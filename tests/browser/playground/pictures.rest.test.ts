// The pictures of the playground, in both palettes and at two widths, and what axe-core finds in each. Below target/pictures/.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { type Browser, openBrowser } from '../browser.js';
import { click, say, until } from '../chat_page.js';
import { serve, type Server } from '../server.js';
import type { Scenarios, Tab } from '../tab.js';
import { builtPlayground } from './build.js';
import { openTab } from './inspector.js';

const SCHEMES = ['light', 'dark'];
/** A laptop, and a phone. */
const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 375, height: 720 } };
const MOST_BYTES = 200 * 1024;

/** An expression whose promise has what axe-core finds in the page. */
function axeRun(): string {
  const folder = installPackages('axe_core');
  const axe = readFileSync(join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8');
  return `(async () => {
    ${axe}
    const { violations } = await axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  })()`;
}

describe('The pictures of the playground', { timeout: 300_000 }, () => {
  let server: Server;
  let browser: Browser;
  let page: Tab<Scenarios>;
  before(async () => {
    server = await serve({ '/': await builtPlayground() });
    browser = await openBrowser('chromium', { arguments: ['--window-size=1280,800'] });
    page = await browser.openTab(`${server.origin}/#first`);
    await until(page, `document.querySelectorAll('#suggestions button').length > 0`);
    await page.evaluate(`(() => {
      const form = document.querySelector('#settings');
      form.elements.engine.value = 'adk';
      form.dispatchEvent(new Event('input'));
    })()`);
    await say(page, 'I am Ada. What do you have for the evening?');
    await answered('suit you, for 5.');
    await say(page, 'I take one of those, please.');
    await answered('Your order is Rooibos.');
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const answered = (text: string): Promise<void> =>
    until(
      page,
      `document.querySelector('#chat').ariaBusy !== 'true' && document.querySelector('#messages').lastElementChild?.textContent.endsWith(${JSON.stringify(text)})`,
    );

  /** Takes a picture of what the page shows, in both palettes. */
  async function pictures(what: string, { width, height }: typeof SIZES.wide): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await browser.debug('Emulation.setDeviceMetricsOverride', metrics);
    const folder = join(root, 'target/pictures');
    mkdirSync(folder, { recursive: true });
    for (const scheme of SCHEMES) {
      const features = [
        { name: 'prefers-color-scheme', value: scheme },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ];
      await browser.debug('Emulation.setEmulatedMedia', { features });
      await until(page, `innerWidth === ${width} && matchMedia('(prefers-color-scheme: ${scheme})').matches`); // prettier-ignore
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 100))`);
      const picture = await page.picture();
      writeFileSync(join(folder, `playground_${what}_${scheme}.png`), picture);
      assert.ok(picture.length <= MOST_BYTES, `${what}, ${scheme}: ${picture.length} bytes`);
      assert.deepEqual(await page.evaluate(axeRun()), [], `${what}, ${scheme}`);
      const isWide = await page.evaluate(`document.documentElement.scrollWidth > innerWidth`);
      assert.equal(isWide, false, `${what} is wider than its window`);
    }
  }

  it('a conversation beside what its agents know', () => pictures('chat', SIZES.wide));

  it('the same on a phone', () => pictures('chat_phone', SIZES.phone));

  it('a moment of it, chosen by the slider', async () => {
    await choose(2);
    await until(page, `document.querySelectorAll('.later').length > 0`);
    await pictures('moment', SIZES.wide);
  });

  it('what the agents know, on a phone', async () => {
    await until(page, `innerWidth > 1000`);
    await browser.debug('Emulation.setDeviceMetricsOverride', { ...SIZES.phone, deviceScaleFactor: 1, mobile: false }); // prettier-ignore
    await click(page, '.beside');
    await pictures('agents_phone', SIZES.phone);
    await page.evaluate(`document.querySelector('#beside').hidePopover()`);
  });

  it('the conversations, on a phone', async () => {
    await click(page, '.menu');
    await pictures('conversations_phone', SIZES.phone);
    await click(page, '#new');
    const isOpen = `document.querySelector('#drawer').matches(':popover-open')`;
    await until(page, `!${isOpen}`);
    await click(page, '.menu');
    await click(page, '#conversations a', 'I am Ada');
    await until(page, `!${isOpen} && document.querySelectorAll('#messages li').length > 0`);
  });

  it('the inspector', async () => {
    await browser.debug('Emulation.setDeviceMetricsOverride', { ...SIZES.wide, deviceScaleFactor: 1, mobile: false }); // prettier-ignore
    await click(page, '#tab-inspector');
    await openTab(page, 'Events');
    await pictures('inspector', SIZES.wide);
    await click(page, '#tab-agents');
  });

  it('a conversation that has not begun', async () => {
    await click(page, '#new');
    await until(page, `document.querySelectorAll('#messages li').length === 0`);
    await pictures('empty', SIZES.wide);
    await pictures('empty_phone', SIZES.phone);
  });

  it('README.md shows one of at most 200 KB', () => {
    assert.ok(statSync(join(root, 'docs/playground.png')).size <= MOST_BYTES);
  });

  async function choose(event: number): Promise<void> {
    await page.evaluate(`(() => {
      const slider = document.querySelector('#event');
      slider.value = ${event};
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
  }
});
