// The model's view of the last 50 of 100,000 events with 20 rewinds and 20 compactions, against a plain read.

import { createEvent } from 'adk-session-wasm';
import { makeEvents } from './events.mjs';
import { atMost, inTurns, timeOf, timeOfMany } from './measure.mjs';

const COUNT = 100_000;
const BATCH = 5000;
const LAST = 50;
/** How many events a compaction sums up, and how many a rewind undoes. */
const [SUMMED, UNDONE] = [1000, 10];
/** How many events follow the last marker, so that it is among the last 50. */
const AFTER = 30;
const key = { appName: 'bench', userId: 'user', sessionId: 'view' };

/**
 * @param {string} storage
 * @param {import('adk-session-wasm').SessionService} service
 * @returns {Promise<import('./measure.mjs').Result[]>}
 */
export async function modelView(storage, service) {
  const session = await service.createSession(key);
  for (let first = 0; first < COUNT; first += BATCH) {
    const events = makeEvents(BATCH, first, createEvent);
    const marked = BATCH - AFTER;
    const undone = `undone-${first}`;
    for (const event of events.slice(marked - UNDONE, marked)) event.invocationId = undone;
    const range = events.slice(marked - UNDONE - SUMMED, marked - UNDONE - 10);
    const compaction = {
      startTimestamp: range[0]?.timestamp,
      endTimestamp: range.at(-1)?.timestamp,
      compactedContent: { role: 'model', parts: [{ text: 'The user asked for tea.' }] },
    };
    const markers = [{ rewindBeforeInvocationId: undone }, { compaction }].map((actions, at) => {
      const invocationId = `marker-${at}-${first}`;
      return createEvent({ invocationId, author: 'user', actions: /** @type {any} */ (actions) });
    });
    events.splice(marked, 0, ...markers);
    await service.appendEvents({ session, events });
  }
  /** @param {'raw' | 'model'} view */
  const read = (view) => service.getSession({ ...key, config: { numRecentEvents: LAST, view } });
  const first = await timeOf(() => read('model'));
  const events = (await read('model'))?.events ?? [];
  if (events.length !== LAST || !events.some(({ id }) => id.startsWith('adk-view:'))) {
    throw new Error(`read ${events.length} events`);
  }
  const { ours, plain } = await inTurns({
    ours: () => timeOfMany(100, () => read('model')),
    plain: () => timeOfMany(100, () => read('raw')),
  });
  const name = `the model's view of the last 50 of 100,000, ${storage}`;
  const values = { ours, peer: plain, unit: 'ms', most: 1.3, than: 'the last 50' };
  return [
    { case: `${name}, first read`, ours: first, unit: 'ms', goal: '' },
    atMost({ case: name, ...values }),
  ];
}
