// Measures the model's view of the last 50 of 100,000 events, with 20 rewinds and 20 compactions, against a plain read.
// Half of the rewinds and compactions are appended after the first read; over databases google-adk for Python does that.

import { createEvent } from 'adk-session-wasm';
import { makeEvents } from './events.mjs';
import { inTurns, timeOf, timeOfMany } from './measure.mjs';

const COUNT = 100_000;
const BATCH = 5000;
const LAST = 50;
/** The number of rewinds before the first read, and of compactions. As many follow after it. */
const HALF = 10;
/** How many events a compaction sums up, and how many a rewind undoes. */
const [SUMMED, UNDONE] = [1000, 10];
/** How many events follow the last marker: fewer than 50, so that the last 50 contain it. */
const AFTER = 20;
/** The time between two appends. Over databases each read loads all events of the last ten seconds. */
const STEP_MS = 1000;
/** The key of the measured session. */
export const key = { appName: 'bench', userId: 'user', sessionId: 'view' };

/** @typedef {import('adk-session-wasm').Event} Event */

/** A clock that can be set forward. */
export class Clock {
  #ahead = 0;
  read = () => Date.now() + this.#ahead;
  /** @param {number} milliseconds */
  wait(milliseconds) {
    this.#ahead += milliseconds;
  }
}

/**
 * @param {string} storage
 * @param {import('adk-session-wasm').SessionService} service
 * @param {object} [given]
 * @param {(events: Event[]) => Promise<unknown>} [given.append] appends as another program; by default the service does
 * @param {Clock} [given.clock] the clock of the service, if it has one that can be set
 * @returns {Promise<import('./measure.mjs').Result[]>}
 */
export async function modelView(storage, service, { append, clock = new Clock() } = {}) {
  const session = await service.createSession(key);
  /** @type {Event[]} */
  let last = [];
  for (let first = 0; first < COUNT; first += BATCH) {
    const events = makeEvents(BATCH, first, createEvent);
    last = events.slice(-SUMMED);
    if ((first / BATCH) % 2 === 1) {
      const marked = BATCH - AFTER;
      const undone = `undone-${first}`;
      for (const event of events.slice(marked - UNDONE, marked)) event.invocationId = undone;
      const range = events.slice(marked - UNDONE - SUMMED, marked - UNDONE - 10);
      events.splice(marked, 0, rewindOf(undone), compactionOf(range));
    }
    await service.appendEvents({ session, events });
  }
  /** @param {'raw' | 'model'} view */
  const read = (view) => service.getSession({ ...key, config: { numRecentEvents: LAST, view } });
  const first = await timeOf(() => read('model'));
  await requireView(() => read('model'));

  const later = makeEvents(4 * HALF + AFTER, COUNT, createEvent);
  const added = Array.from({ length: HALF }, (_, at) => {
    const [live, ...undone] = later.splice(0, 4);
    for (const event of undone) event.invocationId = `undone-later-${at}`;
    const range = last.slice((at * SUMMED) / HALF, ((at + 1) * SUMMED) / HALF);
    return [live, ...undone, rewindOf(`undone-later-${at}`), compactionOf(range)];
  });
  const events = /** @type {Event[]} */ ([...added.flat(), ...later]);
  await (append?.(events) ?? service.appendEvents({ session, events }));
  const again = await timeOf(() => read('model'));
  await requireView(() => read('model'));
  const { ours, plain } = await inTurns({
    ours: () => timeOfMany(100, () => read('model')),
    plain: () => timeOfMany(100, () => read('raw')),
  });
  const answer = last.at(-1)?.content;
  /** @param {'raw' | 'model'} view */
  const afterAppends = async (view) => {
    const session = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
    if (session === undefined) throw new Error('the session is gone');
    // This compaction hides one event, so the last 50 of the view stay near the end of the history.
    await service.appendEvent({ session, event: compactionOf(session.events) });
    let total = 0;
    for (let count = 0; count < AFTER; count += 1) {
      clock.wait(STEP_MS);
      const members = { invocationId: 'after', author: 'guide', content: answer };
      const event = createEvent({ ...members, timestamp: clock.read() });
      await service.appendEvent({ session, event });
      total += await timeOf(() => read(view));
    }
    return total / AFTER;
  };
  const appended = await inTurns({
    ours: () => afterAppends('model'),
    plain: () => afterAppends('raw'),
  });
  const name = `the model's view of the last 50 of 100,000, ${storage}`;
  return [
    { case: `${name}, first read`, ours: first, unit: 'ms', goal: '' },
    { case: `${name}, first read after others`, ours: again, unit: 'ms', goal: '' },
    { case: name, ours, peer: plain, ratio: ours / plain, unit: 'ms', goal: '' },
    {
      case: `${name}, an append before each read, a compaction before 20`,
      ours: appended.ours,
      peer: appended.plain,
      ratio: appended.ours / appended.plain,
      unit: 'ms',
      goal: '',
    },
  ];
}

/** @param {() => Promise<{ events: Event[] } | undefined>} read */
async function requireView(read) {
  const events = (await read())?.events ?? [];
  const isView = events.length === LAST && events.some(({ id }) => id.startsWith('adk-view:'));
  if (!isView) throw new Error(`read ${events.length} events`);
}

/** @param {string} invocationId */
function rewindOf(invocationId) {
  return marker({ rewindBeforeInvocationId: invocationId });
}

/** @param {Event[]} range */
function compactionOf(range) {
  const [startTimestamp, endTimestamp] = [range[0]?.timestamp, range.at(-1)?.timestamp];
  const compactedContent = { role: 'model', parts: [{ text: 'The user asked for tea.' }] };
  return marker({ compaction: { startTimestamp, endTimestamp, compactedContent } });
}

/** @param {object} actions */
function marker(actions) {
  const invocationId = crypto.randomUUID();
  return createEvent({ invocationId, author: 'user', actions: /** @type {any} */ (actions) });
}
