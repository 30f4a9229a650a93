// Views of long histories with rewinds and compactions, over memory, SQLite, PostgreSQL and IndexedDB.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { tsImport } from 'tsx/esm/api';
import { withPages } from '../browser/pages.mjs';
import { Clock, key, modelView } from '../model_view.mjs';
import { rewoundView } from '../rewound_view.mjs';
import { OurService } from '../services.mjs';

/** @type {typeof import('../../tests/js/stores/database/servers.js')} */
const { startPostgres } = await tsImport(
  '../../tests/js/stores/database/servers.ts',
  import.meta.url,
);

/** @type {typeof import('../../tests/interop/python.js')} */
const { startPython } = await tsImport('../../tests/interop/python.ts', import.meta.url);
const program = fileURLToPath(new URL('../database/sessions.py', import.meta.url));

/**
 * @param {import('../browser/pages.mjs').BrowserName[]} browserNames
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function history(browserNames) {
  const results = await modelView('memory', new OurService());
  results.push(...(await rewoundView('memory', new OurService(), { most: 1 })));
  const folder = await mkdtemp(join(tmpdir(), 'history-'));
  const file = join(folder, 'history.db');
  const pythonUrl = `sqlite+aiosqlite:///${file}`;
  results.push(...(await overDatabase('SQLite', `sqlite:${file}`, pythonUrl)));
  const clock = new Clock();
  const service = new DatabaseSessionService(`sqlite:${join(folder, 'rewound.db')}`, {
    clock: clock.read,
  });
  results.push(...(await rewoundView('SQLite', service, { most: 2, clock })));
  await service.close();
  await rm(folder, { recursive: true });
  const server = await startPostgres();
  try {
    const address = `adk@127.0.0.1:${server.port}/adk`;
    const pythonUrl = `postgresql+asyncpg://${address}`;
    results.push(...(await overDatabase('PostgreSQL', `postgresql://${address}`, pythonUrl)));
  } finally {
    await server.remove();
  }
  for (const browserName of browserNames) {
    results.push(...(await withPages(browserName, (run) => run('model-view'))));
    results.push(...(await withPages(browserName, (run) => run('rewound-view'))));
  }
  return results;
}

/** @param {string} storage @param {string} url @param {string} pythonUrl the URL for google-adk for Python */
async function overDatabase(storage, url, pythonUrl) {
  const clock = new Clock();
  const service = new DatabaseSessionService(url, { clock: clock.read });
  const python = startPython(program, pythonUrl);
  const { appName: app_name, userId: user_id, sessionId: session_id } = key;
  /** @param {import('adk-session-wasm').Event[]} events */
  const append = (events) =>
    python.ask({ continue: { app_name, user_id, session_id }, events: events.map(inSeconds) });
  try {
    return await modelView(storage, service, { append, clock });
  } finally {
    await service.close();
    await python.end();
  }
}

/**
 * Returns the event with its compaction's times in seconds, as Python has them.
 *
 * @param {import('adk-session-wasm').Event} event
 */
function inSeconds(event) {
  const { compaction } = /** @type {any} */ (event.actions);
  if (compaction === undefined) return event;
  const { startTimestamp, endTimestamp, ...rest } = compaction;
  const range = { startTimestamp: startTimestamp / 1000, endTimestamp: endTimestamp / 1000 };
  return { ...event, actions: { ...event.actions, compaction: { ...range, ...rest } } };
}
