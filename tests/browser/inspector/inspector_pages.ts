import type { BrowserName } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { opened } from '../opened.js';
import type { Tab } from '../tab.js';
import { serveInspector } from './inspector_site.js';
import type { InspectorScenarios } from './page/main.js';

export type Page = Tab<InspectorScenarios>;

/** Opens a browser for the tests of a suite, which run in one page or in two tabs of the inspector's site. */
export function inspectorPages(name: BrowserName, path = '/') {
  const context = opened(name, serveInspector);
  const url = () => `${context.site.origin}${path}`;
  return {
    context,
    inPage: (run: (page: Page) => Promise<void>) =>
      inTabs<InspectorScenarios>(context.browser, [url()], ([page]) => run(page!)),
    inTwoTabs: (run: (first: Page, second: Page) => Promise<void>) =>
      inTabs<InspectorScenarios>(context.browser, [url(), url()], ([first, second]) =>
        run(first!, second!),
      ),
  };
}
