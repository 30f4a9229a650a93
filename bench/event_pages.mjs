// A page of 50 events in the middle of 100,000, against the last 50.

import { createEvent } from 'adk-session-wasm';
import { makeEvents } from './events.mjs';
import { atMost, inTurns, timeOfMany } from './measure.mjs';

const COUNT = 100_000;
const BATCH = 1000;
const PAGE = 50;
const key = { appName: 'bench', userId: 'user', sessionId: 'pages' };

/**
 * @param {string} storage
 * @param {import('adk-session-wasm').SessionService} service
 * @returns {Promise<import('./measure.mjs').Result>}
 */
export async function eventPages(storage, service) {
  const session = await service.createSession(key);
  let middle;
  for (let first = 0; first < COUNT; first += BATCH) {
    await service.appendEvents({ session, events: makeEvents(BATCH, first, createEvent) });
    if (first === COUNT / 2) middle = (await service.listEvents({ ...key, limit: 1 })).before;
  }
  const request = { ...key, limit: PAGE, withCount: false };
  const before = middle;
  for (const page of [
    await service.listEvents(request),
    await service.listEvents({ ...request, before }),
  ]) {
    if (page.events.length !== PAGE) throw new Error(`read ${page.events.length} events`);
  }
  const { ours, last } = await inTurns({
    ours: () => timeOfMany(100, () => service.listEvents({ ...request, before })),
    last: () => timeOfMany(100, () => service.listEvents(request)),
  });
  const name = `${PAGE} events in the middle of 100,000, ${storage}`;
  return atMost({ case: name, ours, peer: last, unit: 'ms', most: 1.5, than: 'the last 50' });
}
