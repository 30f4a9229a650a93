// Reads: a whole long session, its end, and the newest of many sessions.

import { IndexedDbSessionService } from 'adk-session-wasm';

import { atMost, median, medianAndMean, timeOf, timeOfMany, timesInTurns } from '../measure.mjs';
import { Bare } from './stores/bare.mjs';
import { Ours } from './stores/ours.mjs';
import { eventsNow, filled, withStores } from './stores/stores.mjs';
import { user } from './stores/user.mjs';

const EVENTS = 10_000;
const SESSIONS = 5000;

/** @param {unknown} actual @param {unknown} expected */
function assertEqual(actual, expected) {
  if (actual !== expected) throw new Error(`read ${actual}, not ${expected}`);
}

/**
 * @param {string} name
 * @param {{ ours: number[], bare: number[] }} times
 * @param {{ most: number, than: string }} goal
 */
function results(name, times, goal) {
  return medianAndMean({ case: name, ours: times.ours, peer: times.bare, unit: 'ms', ...goal });
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export function longSession() {
  return withStores({ bare: Bare, ours: Ours }, async ({ bare, ours }) => {
    for (const store of [bare, ours]) {
      await filled(store, 'session', EVENTS);
      const { events } = await store.load('session');
      assertEqual(events.length, EVENTS);
      assertEqual((await store.load('session', 50)).events[0].id, events.at(-50).id);
    }
    const all = await timesInTurns({
      bare: () => timeOf(() => bare.load('session')),
      ours: () => timeOf(() => ours.load('session')),
    });
    const last = await timesInTurns(
      {
        bare: () => timeOfMany(5, () => bare.load('session', 50)),
        ours: () => timeOfMany(5, () => ours.load('session', 50)),
      },
      { rounds: 40, warmUp: 4 },
    );
    return [
      ...results('open a session of 10,000 events', all, { most: 1 / 3, than: 'getAll and parse' }),
      ...results('last 50 of 10,000 events', last, { most: 1.3, than: 'key-range getAll' }),
    ];
  });
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export function newestSessions() {
  const [limit, batch] = [20, 250];
  return withStores({ bare: Bare, ours: Ours }, async ({ bare, ours }) => {
    for (const store of [bare, ours]) {
      for (let first = 0; first < SESSIONS; first += batch) {
        const ids = Array.from({ length: batch }, (_, index) => `session-${first + index}`);
        await store.create(ids, Date.now() + first);
      }
      // All three states, and another order than that of the ids.
      for (let number = 0; number < limit; number += 1) {
        const handle = await store.load(`session-${number}`, 0);
        await store.append(handle, eventsNow(1, number)[0]);
      }
      assertEqual((await store.newest(limit)).length, limit);
    }
    const times = await timesInTurns(
      {
        bare: () => timeOfMany(5, () => bare.newest(limit)),
        ours: () => timeOfMany(5, () => ours.newest(limit)),
      },
      { rounds: 40, warmUp: 4 },
    );
    return results('newest 20 of 5,000 sessions', times, { most: 1.3, than: 'index read' });
  });
}

/**
 * Page 1,000 of a list against page 1, by cursor.
 *
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export async function latePage() {
  const [sessions, limit, batch] = [20_000, 20, 250];
  const name = `late-${crypto.randomUUID()}`;
  const service = new IndexedDbSessionService({ name, durability: 'relaxed' });
  try {
    for (let first = 0; first < sessions; first += batch) {
      const ids = Array.from({ length: batch }, (_, index) => `session-${first + index}`);
      await Promise.all(ids.map((sessionId) => service.createSession({ ...user, sessionId })));
    }
    const cases = [];
    for (const orderBy of /** @type {const} */ (['lastUpdateTime', 'createTime'])) {
      const list = { ...user, orderBy, limit, withTotal: /** @type {const} */ (false) };
      const { nextCursor: cursor } = await service.listSessions({
        ...list,
        page: sessions / limit - 1,
      });
      const late = await service.listSessions({ ...list, cursor });
      assertEqual(late.sessions.length, limit);
      const times = await timesInTurns(
        {
          ours: () => timeOfMany(5, () => service.listSessions({ ...list, cursor })),
          first: () => timeOfMany(5, () => service.listSessions(list)),
        },
        { rounds: 40, warmUp: 4 },
      );
      cases.push(
        atMost({
          case: `page 1,000 of 20,000 sessions by ${orderBy}`,
          ours: median(times.ours),
          peer: median(times.first),
          unit: 'ms',
          most: 1.3,
          than: 'page 1',
        }),
      );
    }
    return cases;
  } finally {
    await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
  }
}
