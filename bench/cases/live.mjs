// What a live store adds to a session: its first snapshot, and one for each new event. What it costs to send an event of
// a snapshot as libraries for state hold it. And when a new event is on the screen, in Chromium.

import { createEvent } from 'adk-session-wasm';
import { liveSession } from 'adk-session-wasm/live';
import { reactive } from '@vue/reactivity';
import { withPages } from '../browser/pages.mjs';
import { makeEvents } from '../events.mjs';
import { atMostByRound, limited, median, timeOfMany, timesInTurns } from '../measure.mjs';
import { OurService } from '../services.mjs';

const COUNT = 100_000;
const FEW = 100;
const BATCH = 1000;
const WINDOW = 50;
/** Short calls are slow after a forced collection. */
const SHORT = { rounds: 21, warmUp: 10, collects: false };
const key = { appName: 'bench', userId: 'user', sessionId: 'live' };

/**
 * Makes a session in a service of its own: events change shared states, which wakes the stores of all sessions. Returns
 * the service, the handle, and what appends one more event.
 *
 * @param {number} count the number of events
 */
async function filledSession(count) {
  const service = new OurService();
  const session = await service.createSession(key);
  let next = 0;
  while (next < count) {
    const events = makeEvents(Math.min(BATCH, count - next), next, createEvent);
    next += events.length;
    await service.appendEvents({ session, events });
  }
  const appendOne = async () => {
    const [event] = makeEvents(1, next, createEvent);
    next += 1;
    await service.appendEvent({ session, event });
  };
  return { service, session, appendOne };
}

/**
 * Makes a session with a store of all its events. Returns what appends an event and waits until the store has it.
 *
 * @param {number} count the number of events
 */
async function followedSession(count) {
  const { service, session, appendOne } = await filledSession(count);
  const store = liveSession(service, key, { window: 1000 });
  const stop = store.subscribe(() => undefined);
  while (await store.loadOlder());
  const appendFollowed = async () => {
    await appendOne();
    while (store.getSnapshot().pages.at(-1)?.at(-1)?.id !== session.events.at(-1)?.id) {
      await undefined;
    }
  };
  return { appendFollowed, stop };
}

/** What a store of all events adds to an append. @returns {Promise<import('../measure.mjs').Result[]>} */
async function newEvents() {
  const long = await followedSession(COUNT);
  const longApart = await filledSession(COUNT);
  const { withStore, without, shortWithStore, shortWithout } = await timesInTurns(
    {
      withStore: () => timeOfMany(FEW, long.appendFollowed),
      without: () => timeOfMany(FEW, longApart.appendOne),
      // New sessions, which stay short.
      shortWithStore: async () => {
        const { appendFollowed, stop } = await followedSession(FEW);
        const time = await timeOfMany(FEW, appendFollowed);
        stop();
        return time;
      },
      shortWithout: async () => timeOfMany(FEW, (await filledSession(FEW)).appendOne),
    },
    SHORT,
  );
  long.stop();
  // The sides of one round run under the same load.
  const added = (withStore, without) => median(withStore.map((time, round) => time - without[round])); // prettier-ignore
  const goal = { unit: 'ms', most: 0.1 };
  return [
    limited({ case: 'a new event in a store of 100 events', ours: added(shortWithStore, shortWithout), ...goal }), // prettier-ignore
    limited({ case: 'a new event in a store of 100,000 events', ours: added(withStore, without), ...goal }), // prettier-ignore
  ];
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function live() {
  const { service } = await filledSession(COUNT);
  const config = { numRecentEvents: WINDOW };
  const { ours, read } = await timesInTurns(
    {
      ours: () =>
        timeOfMany(100, async () => {
          const store = liveSession(service, key, { window: WINDOW });
          await store.load();
          if (store.getSnapshot().events.length !== WINDOW)
            throw new Error('the window is not there');
        }),
      read: () => timeOfMany(100, () => service.getSession({ ...key, config })),
    },
    SHORT,
  );
  return [
    atMostByRound({
      case: `the first snapshot of ${WINDOW} of 100,000 events`,
      ours,
      peer: read,
      unit: 'ms',
      most: 1.2,
      than: 'getSession of the window',
    }),
    ...(await newEvents()),
    ...(await givenBack()),
    ...(await withPages('chromium', (run) => run('screen'))),
  ];
}

/** Sends events of a snapshot: plain, deeply frozen, cloned, and as proxies. */
async function givenBack() {
  const service = new OurService();
  const store = liveSession(service, key);
  const [event] = makeEvents(1, 0, createEvent);
  const forms = {
    plain: (copy) => copy,
    frozen: deepFreeze,
    cloned: clone,
    proxied: reactive,
  };
  let next = 0;
  const send = (form) => () => {
    const copies = Array.from({ length: 200 }, () => {
      next += 1;
      return form({ ...clone(event), id: `copy-${next}` });
    });
    return timeOfMany(copies.length, () => store.send(copies.pop()));
  };
  const sides = Object.entries(forms).map(([name, form]) => [name, send(form)]);
  const { plain, ...others } = await timesInTurns(Object.fromEntries(sides), SHORT);
  const peer = { peer: plain, unit: 'ms', most: 1.2, than: 'a plain event' };
  return Object.entries(others).map(([name, ours]) =>
    atMostByRound({ case: `a ${name} event of a snapshot is sent`, ours, ...peer }),
  );
}

/** @template T @param {T} value @returns {T} */
const clone = (value) => JSON.parse(JSON.stringify(value));

/** @template T @param {T} value @returns {T} */
function deepFreeze(value) {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
