// Creates a session with its events, and compares that with a creation and one append for each event.

import { createEvent } from 'adk-session-wasm';
import { makeEvents } from './events.mjs';
import { atMostByRound, timeOf, timesInTurns } from './measure.mjs';

/**
 * @typedef {import('adk-session-wasm').SessionService} Service
 * @typedef {import('./measure.mjs').Result} Result
 */

const COUNT = 10_000;
const key = { appName: 'bench', userId: 'creator' };

/**
 * @param {string} name the name of the storage
 * @param {(run: (service: Service) => Promise<number>) => Promise<number>} withService calls a function with a service
 * @returns {Promise<Result[]>}
 */
export async function creations(name, withService) {
  const events = () => makeEvents(COUNT, 0, createEvent);
  const times = await timesInTurns(
    {
      atOnce: () =>
        withService((service) => {
          const given = events();
          return timeOf(() => service.createSession({ ...key, events: given }));
        }),
      oneByOne: () =>
        withService((service) => {
          const given = events();
          return timeOf(async () => {
            const session = await service.createSession(key);
            for (const event of given) await service.appendEvent({ session, event });
          });
        }),
    },
    { rounds: 3, warmUp: 1 },
  );
  return [
    atMostByRound({
      case: `${name}: creating with ${COUNT} events`,
      ours: times.atOnce,
      peer: times.oneByOne,
      unit: 'ms',
      most: 0.1,
      than: 'create and appends',
    }),
  ];
}
