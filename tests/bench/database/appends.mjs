// Single appends, awaited one after the other.

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { createEvent } from 'adk-session-wasm';
import { makeEvent } from '../events.mjs';

/** A round; few, so that all sides meet the same weather. */
export const APPENDS = 20;

/** As many rounds to warm up as a server is warm after a few hundred requests. */
export const TURNS = { rounds: 20, warmUp: 30, collects: false };

/**
 * @typedef {{
 *   appendTimes: (round: number) => Promise<number[]>,
 *   close: () => Promise<void>,
 * }} Side times in milliseconds
 */

/**
 * The events of a round. Each round has its own; warm-up rounds have numbers below 0.
 *
 * @param {number} round
 */
export function eventsOf(round) {
  const first = (round + TURNS.warmUp) * APPENDS;
  return Array.from({ length: APPENDS }, (_, index) => makeEvent(first + index));
}

/**
 * Times of one append each. Events are a millisecond apart at least, as an agent's are: where two fall
 * into one, ours stores in a row of its own which time the session shows.
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

/** Waits for it without letting go of the processor, which would cool down. */
function nextMillisecond() {
  const last = Date.now();
  let now = last;
  while (now === last) now = Date.now();
  return now;
}

/** Each round has a session of its own. @param {string} appName @param {number} round */
export function keyOf(appName, round) {
  return { appName, userId: 'user', sessionId: `round ${round}` };
}

/**
 * Appends to a handle as `getSession` gave it.
 *
 * @param {{ createSession: Function, getSession: Function, appendEvent: Function }} service
 * @param {(event: any) => any} create how its users make an event
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
 * What `inTurns` runs.
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
