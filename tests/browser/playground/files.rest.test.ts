// What a page of the playground loads, and its picture in README.md.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { openBrowser } from '../browser.js';
import { say, until } from '../chat_page.js';
import { serve } from '../server.js';
import { builtPlayground } from './build.js';
import { openEvents } from './inspector.js';

const gzipped = (file: string): number => gzipSync(readFileSync(file), { level: 9 }).length / 1024;

/** Loaded only if the user chooses the framework. */
const isFramework = (file: string): boolean => /assets[\\/]framework-/.test(file);

it('all files of the playground but the framework have at most 250 KB', async (t) => {
  const folder = await builtPlayground();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const sizeOf = (some: string[]): number => some.map(gzipped).reduce((sum, size) => sum + size, 0);
  const framework = files.filter(isFramework);
  assert.equal(framework.length, 1);
  const size = sizeOf(files.filter((file) => !isFramework(file)));
  t.diagnostic(`${size.toFixed(1)} KB; the framework ${sizeOf(framework).toFixed(1)} KB`);
  assert.ok(size <= 250, `${size} KB`);
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  assert.doesNotMatch(page, /framework-/, 'the page does not load the framework by itself');
});

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

const SCHEMES = ['light', 'dark'];
/** The window of the picture, and a phone. */
const WIDTHS = [1280, 375];

it('the page of the playground is accessible, and its picture has at most 200 KB', async () => {
  const server = await serve({ '/': await builtPlayground() });
  const browser = await openBrowser('chromium', { arguments: ['--window-size=1280,800'] });
  try {
    const page = await browser.openTab(`${server.origin}/#first`);
    await until(page, `document.querySelectorAll('#suggestions button').length > 0`);
    await say(page, 'I would like something mild');
    await until(page, `document.querySelectorAll('#messages .stored').length === 5`);
    await until(page, `document.querySelector('.draft') === null`);
    for (const scheme of SCHEMES) {
      for (const width of WIDTHS) {
        const features = [{ name: 'prefers-color-scheme', value: scheme }];
        await browser.debug('Emulation.setEmulatedMedia', { features });
        const size = { width, height: 800, deviceScaleFactor: 1, mobile: false };
        await browser.debug('Emulation.setDeviceMetricsOverride', size);
        await until(page, `innerWidth === ${width} && matchMedia('(prefers-color-scheme: ${scheme})').matches`); // prettier-ignore
        assert.deepEqual(await page.evaluate(axeRun()), [], `${scheme}, ${width} pixels`);
      }
    }
    await browser.debug('Emulation.setEmulatedMedia', { features: [] });
    await browser.debug('Emulation.clearDeviceMetricsOverride');
    await openEvents(page);
    const picture = await page.picture();
    const folder = join(root, 'target/pictures');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'playground.png'), picture);
    assert.ok(picture.length <= 200 * 1024, `${picture.length} bytes`);
  } finally {
    await browser.close();
    await server.close();
  }
  // The picture that README.md shows was made by this test.
  assert.ok(statSync(join(root, 'docs/playground.png')).size <= 200 * 1024);
});
