// The context of a group of these tests: one browser, the site, and names that no other test uses.

import { after, before } from 'node:test';
import { type Browser, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import type { Opened } from '../opened.js';
import type { Scenarios, Tab } from '../tab.js';
import type { Site } from './site.js';

export type Context = Opened<Site>;

/**
 * A Chromium of its own with the successor of LevelDB. Private windows already use that, and it is being rolled out to
 * all users.
 */
export function withSqliteStore(given: Context): Context {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser('chromium', {
      arguments: ['--enable-features=IdbSqliteBackingStore'],
    });
  });
  after(() => browser.close());
  return {
    get browser() {
      return browser;
    },
    get site() {
      return given.site;
    },
  };
}

let count = 0;

/** The name of a database that is not there yet. */
export function newName(): string {
  count += 1;
  return `database ${count}`;
}

/** Runs with a tab that has the page. `S` has what the test calls there. */
export function inTab<S extends Scenarios>(
  { browser, site }: Context,
  run: (tab: Tab<S>) => Promise<void>,
  url = site.page,
): Promise<void> {
  return inTabs<S>(browser, [url], ([tab]) => run(tab!));
}

/** Runs with two tabs that have the page. */
export function inTwoTabs<S extends Scenarios>(
  { browser, site }: Context,
  run: (one: Tab<S>, other: Tab<S>) => Promise<void>,
): Promise<void> {
  return inTabs<S>(browser, [site.page, site.page], ([one, other]) => run(one!, other!));
}

/** One tab with the page for all tests of a group, each of which leaves the page as it found it. */
export function tabOfGroup<S extends Scenarios>(context: Context): { readonly tab: Tab<S> } {
  let tab: Tab<S>;
  before(async () => (tab = await context.browser.openTab(context.site.page)));
  after(() => tab.leave());
  return {
    get tab() {
      return tab;
    },
  };
}
