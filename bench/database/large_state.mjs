// Appends of one key to large states. google-adk's tables have a scope's state in one JSON value, and each append writes
// all of it. The comparisons are the engine's own change of one key, and parsing and printing the text in JavaScript.

import Sqlite from 'better-sqlite3';
import { createEvent } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { tsImport } from 'tsx/esm/api';
import { inTurns, shown, timeOf } from '../measure.mjs';

/** @typedef {import('../measure.mjs').Result} Result */
/** @typedef {{ change: (n: number) => Promise<void>, close: () => Promise<void> }} Floor */

/** @type {typeof import('../../tests/js/stores/database/servers.js')} */
const { startPostgres } = await tsImport(
  '../../tests/js/stores/database/servers.ts',
  import.meta.url,
);

const SIZES = [10, 1_000, 16_000, 160_000];
const KEY = { appName: 'app', userId: 'user', sessionId: 'large' };
const WHERE = "app_name = 'app' and user_id = 'user' and id = 'large'";

/** @param {number} keys */
function stateOf(keys) {
  return Object.fromEntries(
    Array.from({ length: keys }, (_, n) => [`key ${n}`, `value ${n} of a state`]),
  );
}

/** @returns {Promise<Result[]>} */
export async function largeStates() {
  const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-bench-'));
  const server = await startPostgres();
  const url = `postgresql://adk@127.0.0.1:${server.port}/adk`;
  try {
    const results = [];
    for (const keys of SIZES) {
      const file = join(folder, `${keys}.db`);
      results.push(...(await sides('SQLite', `sqlite:${file}`, keys, () => sqliteFloor(file))));
      results.push(...(await sides('PostgreSQL', url, keys, () => postgresFloor(url))));
    }
    return results;
  } finally {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} engine @param {string} url @param {number} keys @param {() => Promise<Floor>} openFloor */
async function sides(engine, url, keys, openFloor) {
  const service = new DatabaseSessionService(url, { durability: 'relaxed' });
  const state = stateOf(keys);
  await service.deleteSession(KEY);
  const session = await service.createSession({ ...KEY, state });
  const floor = await openFloor();
  const text = JSON.stringify(state);
  let n = 0;
  const times = await inTurns(
    {
      ours: () => {
        const event = createEvent({ author: 'agent', actions: { stateDelta: { 'key 5': ++n } } });
        return timeOf(() => service.appendEvent({ session, event }));
      },
      floor: () => timeOf(() => floor.change(++n)),
      parse: () =>
        timeOf(() => {
          const parsed = JSON.parse(text);
          parsed['key 5'] = ++n;
          return JSON.stringify(parsed);
        }),
    },
    { rounds: keys > 50_000 ? 21 : 51, warmUp: 10, collects: false },
  );
  await floor.close();
  await service.close();
  const name = `${engine}: append to ${keys} keys`;
  return [
    shown({ case: `${name}, engine's JSON`, ours: times.ours, peer: times.floor, unit: 'ms' }),
    shown({ case: `${name}, parse and print`, ours: times.ours, peer: times.parse, unit: 'ms' }),
  ];
}

/** @param {string} file @returns {Promise<Floor>} */
async function sqliteFloor(file) {
  const database = new Sqlite(file, { timeout: 5000 });
  database.pragma('synchronous = normal');
  const [begin, commit] = ['begin immediate', 'commit'].map((sql) => database.prepare(sql));
  const read = database.prepare(`select state from sessions where ${WHERE}`);
  const write = database.prepare(
    `update sessions set state = json_set(state, '$."key 5"', ?) where ${WHERE}`,
  );
  return {
    async change(n) {
      begin?.run();
      read.get();
      write.run(n);
      commit?.run();
    },
    close: () => Promise.resolve(void database.close()),
  };
}

/** @param {string} url @returns {Promise<Floor>} */
async function postgresFloor(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const read = { name: 'read', text: `select state::text from sessions where ${WHERE} for update` };
  const write = {
    name: 'write',
    text: `update sessions set state = state || $1::jsonb where ${WHERE}`,
  };
  return {
    async change(n) {
      await client.query('begin; set local synchronous_commit = off');
      await client.query(read);
      await client.query({ ...write, values: [JSON.stringify({ 'key 5': n })] });
      await client.query('commit');
    },
    close: () => client.end(),
  };
}
