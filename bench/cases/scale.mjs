// What grows with the sessions, the events and the users of a server: each small and large in one run, with the turns of the
// event loop. The ratio is large to small.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { tsImport } from 'tsx/esm/api';
import { putsAtOnce } from '../scale/files.mjs';
import { appendsOverHttp } from '../scale/http.mjs';
import { longSessions } from '../scale/sessions.mjs';
import { manySessions } from '../scale/users.mjs';

/** @type {typeof import('../../tests/js/stores/database/servers.js')} */
const { startPostgres } = await tsImport(
  '../../tests/js/stores/database/servers.ts',
  import.meta.url,
);

const PARTS = [longSessions, manySessions, putsAtOnce, appendsOverHttp];

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function scale() {
  return [...(await onSqlite()), ...(await onPostgres())];
}

async function onSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'scale-'));
  try {
    return await measure('SQLite', `sqlite:///${join(folder, 'scale.db')}`, 'relaxed');
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function onPostgres() {
  const server = await startPostgres();
  try {
    return await measure('PostgreSQL', `postgresql://adk@127.0.0.1:${server.port}/adk`);
  } finally {
    await server.remove();
  }
}

/** @param {string} storage @param {string} url @param {'strict' | 'relaxed'} [durability] */
async function measure(storage, url, durability = 'strict') {
  const newService = () => new DatabaseSessionService(url, { durability, artifacts: true });
  const service = newService();
  const results = [];
  try {
    for (const part of PARTS) {
      results.push(...(await part(storage, service, newService, url)));
    }
    return results;
  } finally {
    await service.close();
  }
}
