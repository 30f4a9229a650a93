// A page built with Vite, in the engines that the matrix of hosts does not use.

import { it } from 'node:test';
import { ENGINES, openBrowser } from '../browser/engine.js';
import { serve } from '../browser/server.js';
import { bundleWithVite } from './bundles.js';
import { assertOutcome, consumer, type Outcome, page } from './consumer.js';
import { write } from './installed.js';

for (const engine of ENGINES.filter((name) => name !== 'chromium')) {
  it(`the package works in a page of ${engine}, built with Vite`, async () => {
    const folder = write(`vite-${engine}`, {
      'index.html': page('/main.js'),
      'main.js': consumer(),
    });
    const server = await serve({ '/': await bundleWithVite(folder) });
    const browser = await openBrowser(engine);
    try {
      assertOutcome(await browser.value<Outcome>(`${server.origin}/`));
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
