// Concurrent sessions: each awaits its own appends, one after the other. Times are per append.

import { Kysely, PostgresDialect } from 'kysely';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import pg from 'pg';
import { createEvent } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { makeEvent } from '../events.mjs';
import { atMost, inTurns, limited, shown } from '../measure.mjs';
import { timeText } from './bare.mjs';
import { GroupedSqlite, PipelinedPostgres } from './bare_groups.mjs';

/** @typedef {import('../measure.mjs').Result} Result */
/** @typedef {(event: any) => Promise<unknown>} Append */
/** @typedef {{ open: (key: import('./bare_groups.mjs').Key) => Promise<Append>, close: () => Promise<unknown> }} Side */
/** @typedef {(session: number, round: number) => Record<string, unknown>} DeltaOf */

const COUNTS = [1, 16, 64, 256];
/** The number of appends of all sessions in a round. */
const APPENDS = 1024;
const TURNS = { rounds: 7, warmUp: 3, collects: false };
const unit = 'µs';

/** @type {DeltaOf} */
const sessionKeys = (_, round) => ({ last: round });
/** @type {DeltaOf} */
const appKeys = (session, round) => ({ [`app:key ${session}`]: round });

/** @param {string | object} given @returns {Side} */
function ours(given) {
  const service = new DatabaseSessionService(/** @type {any} */ (given));
  return {
    async open(key) {
      const session = await service.createSession(key);
      return (event) => service.appendEvent({ session, event: createEvent(event) });
    },
    close: () => service.close(),
  };
}

/**
 * @param {GroupedSqlite | PipelinedPostgres} bare
 * @param {string | { kysely: any, engine: any }} given the database of the service that creates the sessions
 * @returns {Side}
 */
function byHand(bare, given) {
  const service = new DatabaseSessionService(/** @type {any} */ (given));
  return {
    async open(key) {
      const { lastUpdateTime } = await service.createSession(key);
      const handle = { key, time: timeText(lastUpdateTime) };
      return (event) => bare.append(handle, event);
    },
    async close() {
      await service.close();
      await bare.close();
    },
  };
}

let made = 0;

/**
 * @template {string} Name
 * @param {Record<Name, Side>} sides
 * @param {number} count of sessions
 * @param {DeltaOf} deltaOf
 * @returns {Promise<Record<Name, number>>} microseconds per append
 */
async function appendsAtOnce(sides, count, deltaOf = sessionKeys) {
  const runs = /** @type {Record<Name, () => Promise<number>>} */ ({});
  for (const [name, side] of /** @type {[Name, Side][]} */ (Object.entries(sides))) {
    const appName = `${name} ${(made += 1)}`;
    const appends = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        side.open({ appName, userId: `user ${n}`, sessionId: `session ${n}` }),
      ),
    );
    runs[name] = async () => {
      const each = APPENDS / count;
      const start = performance.now();
      const run = async (/** @type {Append} */ append, /** @type {number} */ session) => {
        for (let round = 0; round < each; round += 1) {
          const event = { ...makeEvent((made += 1)), timestamp: Date.now() };
          await append({ ...event, actions: { stateDelta: deltaOf(session, round) } });
        }
      };
      await Promise.all(appends.map(run));
      return ((performance.now() - start) * 1000) / APPENDS;
    };
  }
  return inTurns(runs, TURNS);
}

/** @returns {Promise<Result[]>} */
export async function sqliteAtOnce() {
  const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-bench-'));
  const file = (/** @type {string} */ name) => `sqlite:${join(folder, name)}.db`;
  const hand = ours(file('hand'));
  await hand.open({ appName: 'tables', userId: 'user', sessionId: 'session' });
  const sides = {
    ours: ours(file('ours')),
    hand: byHand(new GroupedSqlite(join(folder, 'hand.db')), file('hand')),
  };
  const results = [];
  try {
    for (const count of COUNTS) {
      const times = await appendsAtOnce(sides, count);
      const values = { case: `SQLite: ${count} at once`, ours: times.ours, peer: times.hand, unit };
      results.push(
        count === 64
          ? atMost({ ...values, most: 1 / 0.7, than: 'a group commit by hand' })
          : shown(values),
      );
    }
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await appendsAtOnce({ ours: sides.ours }, 256);
    delay.disable();
    const p99 = delay.percentile(99) / 1e6;
    results.push(
      limited({ case: 'SQLite: 256 at once, event loop, p99', ours: p99, unit: 'ms', most: 30 }),
    );
    const app = await appendsAtOnce(sides, 64, appKeys);
    results.push(shown({ case: 'SQLite: 64 at once, app: keys', ours: app.ours, peer: app.hand, unit })); // prettier-ignore
    return results;
  } finally {
    await hand.close();
    for (const side of Object.values(sides)) await side.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The same appends by Python, whose times are seconds.
 *
 * @param {number} count of sessions
 * @param {(line: object) => Promise<number[]>} ask
 * @returns {Promise<number>} microseconds per append
 */
async function pythonAppendsAtOnce(count, ask) {
  const histories = Array.from({ length: count }, () =>
    Array.from({ length: APPENDS / count }, (_, round) => {
      const event = makeEvent((made += 1));
      return { ...event, timestamp: 0, actions: { stateDelta: sessionKeys(0, round) } };
    }),
  );
  const [milliseconds = NaN] = await ask({ at_once: histories, app: `python ${(made += 1)}` });
  return (milliseconds * 1000) / APPENDS;
}

/** @param {string} url @param {(line: object) => Promise<number[]>} ask @returns {Promise<Result[]>} */
export async function postgresAtOnce(url, ask) {
  const kysely = new Kysely({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
  });
  const sides = { ours: ours(url), hand: byHand(new PipelinedPostgres(url), url) };
  const own = { ours: ours({ kysely, engine: 'postgresql' }), url: sides.ours };
  const results = [];
  try {
    for (const count of COUNTS) {
      const { ours, hand } = await appendsAtOnce(sides, count);
      const python = await pythonAppendsAtOnce(count, ask);
      const values = { case: `PostgreSQL: ${count} at once`, ours, peer: hand, unit };
      results.push(shown({ ...values, case: `${values.case}, Python`, peer: python }));
      results.push(
        count === 64
          ? atMost({ ...values, most: 1 / 1.5, than: 'a transaction each' })
          : shown(values),
      );
    }
    const app = await appendsAtOnce(sides, 64, appKeys);
    results.push(
      atMost({
        case: 'PostgreSQL: 64 at once, app: keys',
        ours: app.ours,
        peer: app.hand,
        unit,
        most: 1 / 1.5,
        than: 'a transaction each',
      }),
    );
    for (const count of [1, 64]) {
      const times = await appendsAtOnce(own, count);
      results.push(
        atMost({
          case: `PostgreSQL: ${count} at once, a Kysely of the user's`,
          ours: times.ours,
          peer: times.url,
          unit,
          most: 1 / 0.8,
          than: 'the URL',
        }),
      );
    }
    return results;
  } finally {
    await own.ours.close();
    for (const side of Object.values(sides)) await side.close();
    await kysely.destroy();
  }
}
