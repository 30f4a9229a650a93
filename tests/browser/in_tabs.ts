import type { Browser } from './browser.js';
import type { Scenarios, Tab } from './tab.js';

/**
 * Runs with one tab for each of the addresses. Tabs that a test did not close itself leave their pages after it,
 * so that nothing runs into the next one.
 */
export async function inTabs<S extends Scenarios>(
  browser: Browser,
  urls: string[],
  run: (tabs: Tab<S>[]) => Promise<void>,
): Promise<void> {
  const tabs: Tab<S>[] = [];
  try {
    for (const url of urls) tabs.push(await browser.openTab<S>(url));
    await run(tabs);
  } finally {
    for (const tab of tabs) await tab.leave();
  }
}
