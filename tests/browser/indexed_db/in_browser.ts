// IndexedDB in one of the browsers: several tabs, pages that end, records that are damaged. One browser, one test file: two
// browsers are tested at the same time.

import { describe } from 'node:test';
import type { BrowserName } from '../browser.js';
import { opened } from '../opened.js';
import { artifacts } from './writes/artifacts.js';
import { atomicity } from './writes/atomicity.js';
import { bursts } from './loss/bursts.js';
import { withSqliteStore } from './context.js';
import { connections } from './pages/connections.js';
import { damage } from './loss/damage.js';
import { deletion } from './writes/deletion.js';
import { durability } from './writes/durability.js';
import { exceptions } from './opening/exceptions.js';
import { fallback } from './opening/fallback.js';
import { files } from './reads/files.js';
import { filteredLists } from './reads/filtered_lists.js';
import { backAndForward } from './pages/back_and_forward.js';
import { leaving } from './pages/leaving.js';
import { loss } from './loss/loss.js';
import { order } from './writes/order.js';
import { quota } from './writes/quota.js';
import { realms } from './opening/realms.js';
import { resuming } from './pages/resuming.js';
import { retries } from './writes/retries.js';
import { schema } from './opening/schema.js';
import { sequel } from './pages/sequel.js';
import { sequence } from './loss/sequence.js';
import { serveSite } from './site.js';
import { sizes } from './writes/sizes.js';
import { workerFreeze } from './pages/worker_freeze.js';
import { twoPages } from './pages/two_pages.js';
import { searches } from './reads/searches.js';
import { views } from './reads/views.js';
import { walks } from './reads/walks.js';
import { windows } from './reads/windows.js';

/** What differs between engines: the gate runs it in all three. */
const ENGINE_GROUPS = {
  'two pages': twoPages,
  'pages that end': bursts,
  'all or nothing': atomicity,
  'databases given up': loss,
  'no room': quota,
  'files of sessions': artifacts,
  'where it works': realms,
  'where it does not': fallback,
  'lost connections': connections,
  'workers that freeze': workerFreeze,
  'words of a search': searches,
};

/** What the package alone decides. The gate runs it in Chromium. */
const GROUPS = {
  'one after the other': resuming,
  'calls at once': order,
  'damaged records': damage,
  'versions and other tabs': schema,
  'lists by title and labels': filteredLists,
  'views of histories': views,
  'windows of long sessions': windows,
  'walks through what others write': walks,
  'after a bad end': sequel,
  'long sessions': deletion,
  'how durable': durability,
  'back and forward': backAndForward,
  'left in the middle of a call': leaving,
  'events appended again': retries,
  'session files': files,
  'exceptions within': exceptions,
  'lost numbers': sequence,
};

/** What takes minutes. */
const LONG_GROUPS = { 'large events and states': sizes };

const PARTS = { engine: ENGINE_GROUPS, other: GROUPS, long: LONG_GROUPS };

/** The groups that Chromium runs once more, over its SQLite store. */
const OVER_SQLITE = [atomicity, order, retries];

export function indexedDbIn(browserName: BrowserName, parts: (keyof typeof PARTS)[]): void {
  describe(`IndexedDB in ${browserName}`, () => {
    const context = opened(browserName, serveSite);
    for (const [name, group] of parts.flatMap((part) => Object.entries(PARTS[part]))) {
      describe(name, () => group(context, browserName));
    }
    if (browserName !== 'chromium' || !parts.includes('engine')) return;
    describe("Chromium's SQLite store", () => {
      const overSqlite = withSqliteStore(context);
      for (const group of OVER_SQLITE) group(overSqlite);
    });
  });
}
