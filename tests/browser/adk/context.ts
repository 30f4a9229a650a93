// The context of a group of these tests.

import type { Browser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import type { Tab } from '../tab.js';
import type { PageScenarios } from './page/main.js';

/** Its members exist when a test runs, not when it is registered. */
export interface Context {
  readonly browser: Browser;
  /** The address of the page. */
  readonly url: string;
}

export type PageTab = Tab<PageScenarios>;

/** Runs with a tab that has the page. */
export function inPage({ browser, url }: Context, run: (page: PageTab) => Promise<void>) {
  return inTabs<PageScenarios>(browser, [url], ([page]) => run(page!));
}

/** Runs with two tabs that have the page. */
export function inTwoPages(
  { browser, url }: Context,
  run: (one: PageTab, other: PageTab) => Promise<void>,
): Promise<void> {
  return inTabs<PageScenarios>(browser, [url, url], ([one, other]) => run(one!, other!));
}
