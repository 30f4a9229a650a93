// Creating, importing and appending a long session over memory, SQLite and IndexedDB.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemorySessionService } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { withPages } from '../browser/pages.mjs';
import { bookkeeping } from '../bookkeeping.mjs';
import { creations } from '../creations.mjs';
import { imports } from '../imports.mjs';

/**
 * @param {import('../browser/pages.mjs').BrowserName[]} browserNames
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function imported(browserNames) {
  const results = [
    ...(await creations('memory', (run) => run(new InMemorySessionService()))),
    ...(await creations('SQLite', withSqlite)),
    ...(await bookkeeping('memory', new InMemorySessionService())),
    ...(await withSqlite((service) => bookkeeping('SQLite', service))),
    ...(await imports('memory', (run) => run(new InMemorySessionService()))),
    ...(await imports('SQLite', withSqlite)),
  ];
  for (const browserName of browserNames) {
    results.push(...(await withPages(browserName, (run) => run('imports'))));
  }
  return results;
}

/**
 * @template T
 * @param {(service: DatabaseSessionService) => Promise<T>} run
 */
async function withSqlite(run) {
  const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-bench-'));
  const service = new DatabaseSessionService(`sqlite:${join(folder, 'sessions.db')}`);
  try {
    await service.open();
    return await run(service);
  } finally {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
