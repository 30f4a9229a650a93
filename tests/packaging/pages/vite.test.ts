// A page built with Vite.

import { it } from 'node:test';
import { BROWSERS, openBrowser } from '../../browser/browser.js';
import { serve } from '../../browser/server.js';
import { bundleWithVite } from '../bundles.js';
import { assertOutcome, consumer, type Outcome, page } from '../consumer.js';
import { write } from '../installed.js';

for (const browserName of BROWSERS) {
  it(`the package works in a page of ${browserName}, built with Vite`, async () => {
    const folder = write(`vite-${browserName}`, {
      'index.html': page('/main.js'),
      'main.js': consumer(),
    });
    const server = await serve({ '/': await bundleWithVite(folder) });
    const browser = await openBrowser(browserName);
    try {
      assertOutcome(await browser.value<Outcome>(`${server.origin}/`));
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
