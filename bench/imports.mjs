// Imports and appends a long session, and compares it with the same events in eight short sessions, in Node and in pages.

import { createEvent } from 'adk-session-wasm';
import { importSession } from 'adk-session-wasm/files';
import { makeEvents } from './events.mjs';
import { atMostByRound, median, timeOf, timesInTurns } from './measure.mjs';

/**
 * @typedef {import('adk-session-wasm').SessionService} Service
 * @typedef {import('./measure.mjs').Result} Result
 */

const LONG = 48_000;
const PARTS = 8;
const SHORT = LONG / PARTS;
const key = { appName: 'bench', userId: 'user' };

/**
 * @param {string} name the name of the storage
 * @param {(run: (service: Service) => Promise<number>) => Promise<number>} withService calls a function with an empty service
 * @param {number} [most] the largest allowed ratio
 * @returns {Promise<Result[]>}
 */
export async function imports(name, withService, most = 1.5) {
  const fileOf = (/** @type {number} */ count) =>
    JSON.stringify({ ...key, events: makeEvents(count, 0, (event) => event) });
  const [longFile, shortFile] = [fileOf(LONG), fileOf(SHORT)];
  /** @type {number[]} */
  const blocks = [];
  const importing = await timesInTurns(
    {
      long: (round) =>
        withService(async (service) => {
          const endBlocks = longestBlock();
          const time = await timeOf(() => importSession(service, longFile));
          const longest = await endBlocks();
          if (round >= 0) blocks.push(longest);
          return time;
        }),
      short: () =>
        withService((service) =>
          timeOf(async () => {
            for (let part = 0; part < PARTS; part += 1) await importSession(service, shortFile);
          }),
        ),
    },
    { rounds: 5, warmUp: 1 },
  );
  const appending = await timesInTurns(
    {
      long: () => withService((service) => append(service, 1, LONG)),
      short: () => withService((service) => append(service, PARTS, SHORT)),
    },
    { rounds: 5, warmUp: 1 },
  );
  const than = `${PARTS} of ${SHORT} events`;
  const rest = { unit: 'ms', most, than };
  const ofImport = { ours: importing.long, peer: importing.short };
  const ofAppend = { ours: appending.long, peer: appending.short };
  return [
    atMostByRound({ case: `${name}: importing ${LONG} events`, ...ofImport, ...rest }),
    { case: `${name}: its longest block`, ours: median(blocks), unit: 'ms', goal: 'none' },
    atMostByRound({ case: `${name}: appending ${LONG} at once`, ...ofAppend, ...rest }),
  ];
}

/**
 * Appends a batch of events to each of several sessions.
 *
 * @param {Service} service
 * @param {number} sessions
 * @param {number} count
 */
async function append(service, sessions, count) {
  let time = 0;
  for (let number = 0; number < sessions; number += 1) {
    const session = await service.createSession(key);
    const events = makeEvents(count, 0, createEvent);
    time += await timeOf(() => service.appendEvents({ session, events }));
  }
  return time;
}

/** Measures how long the event loop blocks. @returns a function that ends this and returns the longest block in milliseconds */
function longestBlock() {
  const { port1, port2 } = new globalThis.MessageChannel();
  let longest = 0;
  let sent = performance.now();
  let isLast = false;
  /** @type {() => void} */
  let end;
  const ended = new Promise((resolve) => (end = () => resolve(undefined)));
  port1.onmessage = () => {
    longest = Math.max(longest, performance.now() - sent);
    if (isLast) return end();
    sent = performance.now();
    port2.postMessage(undefined);
  };
  port2.postMessage(undefined);
  return async () => {
    isLast = true;
    await ended;
    port1.close();
    return longest;
  };
}
