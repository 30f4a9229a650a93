import type { Browser } from './browser.js';
import type { Scenarios, Tab } from './tab.js';

/**
 * Runs with one tab for each of the addresses. Tabs that a test did not close itself leave their pages after it,
 * so that nothing runs into the next one. Those of a failed test are closed, because a browser may keep a page that was
 * left, with what it holds of the databases.
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
  } catch (error) {
    // A tab that does not close hides no failure.
    for (const tab of tabs) await tab.close().catch(() => undefined);
    throw error;
  } finally {
    for (const tab of tabs) await tab.leave();
  }
}
