// The cache of `adk-session-wasm/cache` in real browsers.

import { withPages } from '../browser/pages.mjs';

const PAGES = ['cached-reads', 'cached-appends', 'first-paint', 'drain'];

/**
 * @param {import('../browser/pages.mjs').BrowserName[]} browserNames
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function cache(browserNames) {
  const results = [];
  for (const browserName of browserNames) {
    for (const page of PAGES) {
      /** @type {import('../measure.mjs').Result[]} */
      const measured = await withPages(browserName, (run) => run(page));
      results.push(...measured.map((result) => ({ ...result, case: `${browserName}: ${result.case}` }))); // prettier-ignore
    }
  }
  return results;
}
