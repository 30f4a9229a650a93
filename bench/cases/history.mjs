// Views of a long history with rewinds and compactions, over memory, SQLite, PostgreSQL and IndexedDB.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { tsImport } from 'tsx/esm/api';
import { withPages } from '../browser/pages.mjs';
import { modelView } from '../model_view.mjs';
import { OurService } from '../services.mjs';

/** @type {typeof import('../../tests/js/database/servers.js')} */
const { startPostgres } = await tsImport('../../tests/js/database/servers.ts', import.meta.url);

/**
 * @param {import('../browser/pages.mjs').BrowserName[]} browserNames
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function history(browserNames) {
  const results = await modelView('memory', new OurService());
  const folder = await mkdtemp(join(tmpdir(), 'history-'));
  const url = `sqlite:///${join(folder, 'history.db')}`;
  results.push(...(await overDatabase('SQLite', url)));
  await rm(folder, { recursive: true });
  const server = await startPostgres();
  try {
    const url = `postgresql://adk@127.0.0.1:${server.port}/adk`;
    results.push(...(await overDatabase('PostgreSQL', url)));
  } finally {
    await server.remove();
  }
  for (const browserName of browserNames) {
    results.push(...(await withPages(browserName, (run) => run('model-view'))));
  }
  return results;
}

/** @param {string} storage @param {string} url */
async function overDatabase(storage, url) {
  const service = new DatabaseSessionService(url);
  try {
    return await modelView(storage, service);
  } finally {
    await service.close();
  }
}
