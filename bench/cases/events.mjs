// Pages of the events of a long session, over memory, SQLite and IndexedDB.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { withPages } from '../browser/pages.mjs';
import { eventPages } from '../event_pages.mjs';
import { OurService } from '../services.mjs';

/**
 * @param {import('../browser/pages.mjs').BrowserName[]} browserNames
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function events(browserNames) {
  const folder = await mkdtemp(join(tmpdir(), 'events-'));
  const database = new DatabaseSessionService(`sqlite:///${join(folder, 'events.db')}`);
  const results = [await eventPages('memory', new OurService())];
  try {
    results.push(await eventPages('SQLite', database));
  } finally {
    await database.close();
    await rm(folder, { recursive: true });
  }
  for (const browserName of browserNames) {
    results.push(await withPages(browserName, (run) => run('event-pages')));
  }
  return results;
}
