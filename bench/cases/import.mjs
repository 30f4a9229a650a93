// Creating, importing and appending a long session over memory, SQLite and IndexedDB.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemorySessionService } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { tsImport } from 'tsx/esm/api';
import { withPages } from '../browser/pages.mjs';
import { bookkeeping } from '../bookkeeping.mjs';
import { creations } from '../creations.mjs';
import { imports } from '../imports.mjs';

/** @type {typeof import('../../tests/js/stores/database/tables/sqlite_service_tables.js')} */
const { newSqliteServiceFile } = await tsImport(
  '../../tests/js/stores/database/tables/sqlite_service_tables.ts',
  import.meta.url,
);

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
    ...(await withSqlite((service) => bookkeeping("Python's SqliteSessionService", service), true)),
    ...(await imports('memory', (run) => run(new InMemorySessionService()))),
    ...(await imports('SQLite', withSqlite)),
  ];
  for (const browserName of browserNames) {
    for (const page of ['appends-with-title', 'imports']) {
      results.push(...(await withPages(browserName, (run) => run(page))));
    }
  }
  return results;
}

/**
 * @template T
 * @param {(service: DatabaseSessionService) => Promise<T>} run
 * @param {boolean} [isSqliteService] whether the file has the tables of google-adk's `SqliteSessionService`
 */
async function withSqlite(run, isSqliteService = false) {
  const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-bench-'));
  const path = join(folder, 'sessions.db');
  const url = isSqliteService ? newSqliteServiceFile(path) : `sqlite:${path}`;
  const service = new DatabaseSessionService(url);
  try {
    await service.ping();
    return await run(service);
  } finally {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
