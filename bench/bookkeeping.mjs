// Appends to a session that has a title, labels and an initial state, and is found by them, against appends to a bare one.

import { createEvent } from 'adk-session-wasm';
import { makeEvents } from './events.mjs';
import { atMostByRound, timeOf, timesInTurns } from './measure.mjs';

/**
 * @typedef {import('adk-session-wasm').SessionService} Service
 * @typedef {import('./measure.mjs').Result} Result
 */

const APPENDS = 50;
const user = { appName: 'bench', userId: 'bookkeeper' };
const description = { title: 'Green tea in the evening', labels: { kind: 'drink', pinned: 'yes' } };

/**
 * @param {string} name the name of the storage
 * @param {Service} service
 * @returns {Promise<Result[]>}
 */
export async function bookkeeping(name, service) {
  const state = { topic: 'tea' };
  const described = await service.createSession({ ...user, ...description, state });
  const bare = await service.createSession(user);
  // From now on there is an index, where a storage has one only if it is used.
  await service.listSessions({ ...user, labels: description.labels });
  let first = 0;
  /** @param {typeof bare} session */
  const appends = (session) => () => {
    const events = makeEvents(APPENDS, (first += APPENDS), createEvent);
    return timeOf(async () => {
      for (const event of events) await service.appendEvent({ session, event });
    });
  };
  const sides = { described: appends(described), bare: appends(bare) };
  const times = await timesInTurns(sides, { rounds: 40, warmUp: 30, collects: false });
  return [
    atMostByRound({
      case: `${name}: append to a session with title and labels`,
      ours: times.described.map((time) => time / APPENDS),
      peer: times.bare.map((time) => time / APPENDS),
      unit: 'ms',
      most: 1.1,
      than: 'without',
    }),
  ];
}
