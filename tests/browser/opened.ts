import { after, before } from 'node:test';
import { type Browser, type BrowserName, type BrowserOptions, openBrowser } from './browser.js';

/** Its members exist when a test runs, not when it is registered. */
export interface Opened<Site> {
  readonly browser: Browser;
  readonly site: Site;
}

/** Serves a site and opens a browser before the tests of a suite, and closes both after them. */
export function opened<Site extends { close(): Promise<void> }>(
  name: BrowserName,
  serveSite: () => Promise<Site>,
  options: BrowserOptions = {},
): Opened<Site> {
  let site: Site;
  let browser: Browser;
  before(async () => {
    site = await serveSite();
    browser = await openBrowser(name, options);
  });
  after(async () => {
    await browser.close();
    await site.close();
  });
  return {
    get browser() {
      return browser;
    },
    get site() {
      return site;
    },
  };
}
