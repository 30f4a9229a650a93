// What a live store adds to a session of 100,000 events: its first snapshot, and one for each new event. And what it costs
// to send an event of a snapshot as libraries for state hold it.

import { createEvent } from 'adk-session-wasm';
import { liveSession } from 'adk-session-wasm/live';
import { reactive } from '@vue/reactivity';
import { makeEvents } from '../events.mjs';
import {
  atMost,
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
const key = { appName: 'bench', userId: 'user', sessionId: 'live' };

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function live() {
  const service = new OurService();
  const session = await service.createSession(key);
  for (let first = 0; first < COUNT; first += BATCH) {
    await service.appendEvents({ session, events: makeEvents(BATCH, first, createEvent) });
  }

  const config = { numRecentEvents: WINDOW };
  const { ours, read } = await inTurns({
    ours: () =>
      timeOfMany(100, async () => {
        const store = liveSession(service, key, { window: WINDOW });
        await store.load();
        if (store.getSnapshot().events.length !== WINDOW)
          throw new Error('the window is not there');
      }),
    read: () => timeOfMany(100, () => service.getSession({ ...key, config })),
  });

  const store = liveSession(service, key, { window: 1000 });
  const stop = store.subscribe(() => undefined);
  while (await store.loadOlder());
  let next = COUNT;
  const appendOne = async () => {
    const [event] = makeEvents(1, next, createEvent);
    next += 1;
    await service.appendEvent({ session, event });
  };
  /** Appends, and waits until the store has the event. */
  const followed = async () => {
    await appendOne();
    while (store.getSnapshot().pages.at(-1)?.at(-1)?.id !== session.events.at(-1)?.id) {
      await undefined;
    }
  };
  const withStore = await timeOfMany(1000, followed);
  stop();
  const without = await timeOfMany(1000, appendOne);
  return [
    atMost({
      case: `the first snapshot of ${WINDOW} of 100,000 events`,
      ours,
      peer: read,
      unit: 'ms',
      most: 1.2,
      than: 'getSession of the window',
    }),
    limited({
      case: 'a new event in a store of 100,000 events',
      ours: withStore - without,
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
    plain: event,
    frozen: deepFreeze(clone(event)),
    cloned: clone(event),
    proxied: reactive(clone(event)),
  };
  let next = 0;
  const send = (form) => () =>
    timeOfMany(200, () => store.send({ ...form, id: `copy-${(next += 1)}` }));
  const sides = Object.entries(forms).map(([name, form]) => [name, send(form)]);
  const { plain, proxied, ...others } = await timesInTurns(Object.fromEntries(sides), {
    rounds: 21,
  });
  const peer = { peer: plain, unit: 'ms', most: 1.2, than: 'a plain event' };
  const results = Object.entries(others).map(([name, ours]) =>
    atMostByRound({ case: `a ${name} event of a snapshot is sent`, ours, ...peer }),
  );
  // Each reading of a member of a proxy runs the code of its library.
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
