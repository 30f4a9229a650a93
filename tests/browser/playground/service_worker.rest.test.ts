// The service worker of the playground, in a browser that has no room for what the network answers.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openBrowser } from '../browser.js';
import { until } from '../chat_page.js';
import { serve } from '../server.js';
import { builtPlayground } from './build.js';

/** Bytes. */
const QUOTA = 10 * 1024 * 1024;
const PADDING = ' '.repeat(QUOTA + QUOTA);

it('The service worker answers with what the network has if there is no room to keep it', async () => {
  const site = await serve({ '/': await builtPlayground(), '/late.js': { body: 'first' } });
  const browser = await openBrowser('chromium');
  try {
    // Chromium caches the free space of an origin for half a minute.
    await browser.debug('Storage.overrideQuotaForOrigin', {
      origin: site.origin,
      quotaSize: QUOTA,
    });
    const page = await browser.openTab(`${site.origin}/`);
    await until(page, `navigator.serviceWorker.controller !== null`);
    const late = () =>
      page.evaluate<string>(`fetch('late.js').then((response) => response.text()).then((text) => text.trim())`); // prettier-ignore
    assert.equal(await late(), 'first');
    site.routes['/late.js'] = { body: `second${PADDING}` };
    assert.equal(await late(), 'second');
    await site.close();
    assert.equal(await late(), 'first', 'the last one that there was room for');
  } finally {
    await browser.close();
    await site.close().catch(() => undefined);
  }
});
