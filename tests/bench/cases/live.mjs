// What a live store adds to a session of 100,000 events: its first snapshot, and one for each new event. And what it costs
// to send an event of a snapshot as libraries for state hold it.

import { createEvent } from 'adk-session-wasm';
import { liveSession } from 'adk-session-wasm/live';
import { reactive } from '@vue/reactivity';
import { makeEvents } from '../events.mjs';
import {
  atMostByRound,
  inTurns,
  limited,
  median,
  shown,
  timeOfMany,
  timesInTurns,
} from '../measure.mjs';
import { OurService } from '../services.mjs';

const COUNT = 100_000;
const BATCH = 1000;
const WINDOW = 50;
/** Short calls are slow after a forced collection. */
const SHORT = { rounds: 21, collects: false };
const key = { appName: 'bench', userId: 'user', sessionId: 'live' };

/**
 * Makes a session of 100,000 events. Returns its handle, and what appends one more.
 *
 * @param {OurService} service @param {string} sessionId
 */
async function longSession(service, sessionId) {
  const session = await service.createSession({ ...key, sessionId });
  let next = 0;
  const append = async (count) => {
    const events = makeEvents(count, next, createEvent);
    next += count;
    if (count > 1) await service.appendEvents({ session, events });
    else await service.appendEvent({ session, event: events[0] });
  };
  while (next < COUNT) await append(BATCH);
  return { session, appendOne: () => append(1) };
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function live() {
  const service = new OurService();
  const { session, appendOne } = await longSession(service, key.sessionId);
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

  const apart = await longSession(service, 'apart');
  const store = liveSession(service, key, { window: 1000 });
  const stop = store.subscribe(() => undefined);
  while (await store.loadOlder());
  /** Appends, and waits until the store has the event. */
  const followed = async () => {
    await appendOne();
    while (store.getSnapshot().pages.at(-1)?.at(-1)?.id !== session.events.at(-1)?.id) {
      await undefined;
    }
  };
  const appends = await inTurns(
    {
      withStore: () => timeOfMany(200, followed),
      without: () => timeOfMany(200, apart.appendOne),
    },
    SHORT,
  );
  stop();
  return [
    atMostByRound({
      case: `the first snapshot of ${WINDOW} of 100,000 events`,
      ours,
      peer: read,
      unit: 'ms',
      most: 1.2,
      than: 'getSession of the window',
    }),
    limited({
      case: 'a new event in a store of 100,000 events',
      ours: appends.withStore - appends.without,
      unit: 'ms',
      most: 0.1,
    }),
    ...(await givenBack()),
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
  const { plain, proxied, ...others } = await timesInTurns(Object.fromEntries(sides), SHORT);
  const peer = { peer: plain, unit: 'ms', most: 1.2, than: 'a plain event' };
  const results = Object.entries(others).map(([name, ours]) =>
    atMostByRound({ case: `a ${name} event of a snapshot is sent`, ours, ...peer }),
  );
  // Each read of a member of a proxy runs the code of its library.
  const seen = { ours: median(proxied), peer: median(plain), unit: 'ms' };
  return [...results, shown({ case: 'a proxied event of a snapshot is sent', ...seen })];
}

/** @template T @param {T} value @returns {T} */
const clone = (value) => JSON.parse(JSON.stringify(value));

/** @template T @param {T} value @returns {T} */
function deepFreeze(value) {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
