// Single appends, awaited one after the other.

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { createEvent } from 'adk-session-wasm';
import { makeEvent } from '../events.mjs';

/** Appends per round: few, so that all sides run under the same load. */
export const APPENDS = 20;

/**
 * Warm-up rounds. A server is warm after a few hundred requests. The JavaScript of this package needs 3,000 appends until
 * V8 has compiled all of it; that of bare code is shorter and needs fewer.
 */
export const TURNS = { rounds: 20, warmUp: 150, collects: false };

/**
 * @typedef {{
 *   appendTimes: (round: number) => Promise<number[]>,
 *   close: () => Promise<void>,
 * }} Side times in milliseconds
 */

/**
 * Returns the events of a round. Warm-up rounds have numbers below 0.
 *
 * @param {number} round
 */
export function eventsOf(round) {
  const first = (round + TURNS.warmUp) * APPENDS;
  return Array.from({ length: APPENDS }, (_, index) => makeEvent(first + index));
}

/**
 * Returns the time of each append. Events are at least a millisecond apart, like an agent's. For equal times, the
 * package would store the session's time in an additional row.
 *
 * @template {{ timestamp: number }} Event
 * @param {Event[]} events
 * @param {(event: Event) => Promise<unknown>} append
 */
export async function timesOf(events, append) {
  const times = [];
  for (const event of events) {
    event.timestamp = nextMillisecond();
    const start = performance.now();
    await append(event);
    times.push(performance.now() - start);
  }
  return times;
}

/** Waits in a loop, to keep the processor at full speed. */
function nextMillisecond() {
  const last = Date.now();
  let now = last;
  while (now === last) now = Date.now();
  return now;
}

/** The session of a round. @param {string} appName @param {number} round */
export function keyOf(appName, round) {
  return { appName, userId: 'user', sessionId: `round ${round}` };
}

/**
 * Appends through a handle from `getSession`.
 *
 * @param {{ createSession: Function, getSession: Function, appendEvent: Function }} service
 * @param {(event: any) => any} create makes an event like the service's users
 * @param {string} appName
 */
export function appender(service, create, appName) {
  return async (/** @type {number} */ round) => {
    const key = keyOf(appName, round);
    await service.createSession(key);
    const session = await service.getSession(key);
    const events = eventsOf(round).map((event) => create(event));
    return timesOf(events, (event) => service.appendEvent({ session, event }));
  };
}

/**
 * @param {string} url
 * @param {import('adk-session-wasm/database').DatabaseOptions} [options]
 * @returns {Side}
 */
export function ours(url, options) {
  const service = new DatabaseSessionService(url, options);
  return { appendTimes: appender(service, createEvent, 'ours'), close: () => service.close() };
}

/**
 * @param {import('./bare_sqlite.mjs').BareSqlite | import('./bare_server.mjs').BareServer} service
 * @returns {Side}
 */
export function bare(service) {
  return {
    async appendTimes(round) {
      const handle = await service.create(keyOf('bare', round));
      return timesOf(eventsOf(round), (event) => service.append(handle, event));
    },
    close: () => service.close(),
  };
}

/**
 * Returns the sides for `inTurns`.
 *
 * @template {string} Name
 * @param {Record<Name, Side>} sides
 */
export function appendsOf(sides) {
  const runs = Object.entries(sides).map(([name, side]) => [
    name,
    /** @type {Side} */ (side).appendTimes,
  ]);
  return /** @type {Record<Name, Side['appendTimes']>} */ (Object.fromEntries(runs));
}
