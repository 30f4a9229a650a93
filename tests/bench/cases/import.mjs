// Importing and appending a long session over memory, SQLite and IndexedDB.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemorySessionService } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { withPages } from '../browser/pages.mjs';
import { imports } from '../imports.mjs';

/**
 * @param {import('../browser/pages.mjs').EngineName[]} engines
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function imported(engines) {
  const results = [
    ...(await imports('memory', (run) => run(new InMemorySessionService()))),
    ...(await imports('SQLite', withSqlite)),
  ];
  for (const engine of engines) {
    results.push(...(await withPages(engine, (run) => run('imports'))));
  }
  return results;
}

/** @param {(service: DatabaseSessionService) => Promise<number>} run */
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
