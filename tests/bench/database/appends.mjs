// Single appends, awaited one after the other.

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { createEvent } from 'adk-session-wasm';
import { makeEvent } from '../events.mjs';

/** A round; few, so that all sides meet the same weather. */
export const APPENDS = 10;

/** How a bench run goes through the sides. */
export const TURNS = { rounds: 25, warmUp: 3 };

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

/**
 * A service with one session, which is got anew for each round.
 *
 * @param {{ createSession: Function, getSession: Function, appendEvent: Function }} service
 * @param {(event: any) => any} create how its users make an event
 * @param {string} appName
 */
export async function appender(service, create, appName) {
  const key = { appName, userId: 'user', sessionId: 'appended' };
  await service.createSession(key);
  return async (/** @type {number} */ round) => {
    const session = await service.getSession(key);
    const events = eventsOf(round).map((event) => create(event));
    return timesOf(events, (event) => service.appendEvent({ session, event }));
  };
}

/**
 * @param {string} url
 * @param {import('adk-session-wasm/database').DatabaseOptions} [options]
 * @returns {Promise<Side>}
 */
export async function ours(url, options) {
  const service = new DatabaseSessionService(url, options);
  const appendTimes = await appender(service, createEvent, 'ours');
  return { appendTimes, close: () => service.close() };
}

/**
 * @param {import('./bare_sqlite.mjs').BareSqlite | import('./bare_server.mjs').BareServer} service
 * @returns {Promise<Side>}
 */
export async function bare(service) {
  const key = { appName: 'bare', userId: 'user', sessionId: 'appended' };
  const handle = await service.create(key);
  return {
    appendTimes: (round) => timesOf(eventsOf(round), (event) => service.append(handle, event)),
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
