// Measures views of the last 50 of 10,000 events with one rewind: one far back, and one near the end.

import { createEvent } from 'adk-session-wasm';
import { makeEvents } from './events.mjs';
import { inTurns, limited, timeOf, timeOfMany } from './measure.mjs';
import { Clock } from './model_view.mjs';

const COUNT = 10_000;
const BATCH = 1000;
const LAST = 50;
/** How many events follow the rewind: fewer than 50, so that the last 50 contain it. */
const AFTER = 20;
/** After so long a database remembers the first event of the undone ones. */
const SETTLED_MS = 11_000;
/** How many first reads are measured; each is of another session. */
const SESSIONS = 5;
/** How many events the rewinds undo. */
const HISTORIES = { 'a rewind of 7,500 events': 7500, 'a rewind of 10 events': 10 };
const VIEWS = /** @type {const} */ (['model', 'transcript']);

/**
 * @param {string} storage
 * @param {import('adk-session-wasm').SessionService} service
 * @param {object} [given]
 * @param {number} [given.most] how many milliseconds a repeated read may take
 * @param {Clock} [given.clock] the clock of the service, if it has one that can be set
 * @returns {Promise<import('./measure.mjs').Result[]>}
 */
export async function rewoundView(storage, service, { most, clock = new Clock() } = {}) {
  // The code of a first read runs here first, so that the first reads measure what they read.
  const short = await rewound(service, clock, 'short', 200, 100);
  for (const view of VIEWS) await timeOfMany(50, () => read(service, short, view));
  const results = [];
  for (const [name, undone] of Object.entries(HISTORIES)) {
    const keys = [];
    for (let session = 0; session < SESSIONS; session += 1) {
      keys.push(await rewound(service, clock, `${undone}-${session}`, COUNT, undone));
    }
    for (const view of VIEWS) {
      const title = `the ${view}'s last 50 of 10,000 after ${name}, ${storage}`;
      const sessions = [...keys];
      const first = await inTurns(
        { ours: () => timeOf(() => read(service, sessions.pop(), view)) },
        { rounds: SESSIONS, warmUp: 0 },
      );
      const again = await inTurns({
        ours: () => timeOfMany(50, () => read(service, keys[0], view)),
      });
      const page = await inTurns({
        ours: () =>
          timeOfMany(10, () => service.listEvents({ ...key(keys[0]), view, withCount: false })),
      });
      results.push(
        { case: `${title}, first read`, ours: first.ours, unit: 'ms', goal: '' },
        most === undefined
          ? { case: title, ours: again.ours, unit: 'ms', goal: '' }
          : limited({ case: title, ours: again.ours, unit: 'ms', most }),
        { case: `${title}, as a page`, ours: page.ours, unit: 'ms', goal: '' },
      );
    }
  }
  return results;
}

/** @param {string} [sessionId] */
const key = (sessionId = '') => ({ appName: 'bench', userId: 'user', sessionId });

/**
 * Makes a session whose last rewind undoes so many events, and returns its id.
 *
 * @param {import('adk-session-wasm').SessionService} service
 * @param {Clock} clock
 * @param {string} sessionId
 * @param {number} count
 * @param {number} undone
 */
async function rewound(service, clock, sessionId, count, undone) {
  const session = await service.createSession(key(sessionId));
  const events = makeEvents(count, 0, createEvent);
  const marked = count - AFTER - 1;
  for (const event of events.slice(marked - undone, marked)) event.invocationId = 'undone';
  const actions = /** @type {any} */ ({ rewindBeforeInvocationId: 'undone' });
  events[marked] = createEvent({ invocationId: 'rewind', author: 'user', actions });
  for (let first = 0; first < marked; first += BATCH) {
    await service.appendEvents({
      session,
      events: events.slice(first, Math.min(first + BATCH, marked)),
    });
  }
  // Over databases the first events of the last ten seconds are searched for at each read.
  clock.wait(SETTLED_MS);
  for (const event of events.slice(marked)) event.timestamp = clock.read();
  await service.appendEvents({ session, events: events.slice(marked) });
  return sessionId;
}

/**
 * @param {import('adk-session-wasm').SessionService} service
 * @param {string | undefined} sessionId
 * @param {(typeof VIEWS)[number]} view
 */
async function read(service, sessionId, view) {
  const config = { numRecentEvents: LAST, view };
  const { events = [] } = (await service.getSession({ ...key(sessionId), config })) ?? {};
  const isView =
    events.length === LAST && events.every(({ invocationId }) => invocationId !== 'undone');
  if (!isView) throw new Error(`read ${events.length} events`);
}
