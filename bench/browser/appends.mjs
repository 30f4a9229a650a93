// Appends: awaited one by one, many concurrent ones, and to a long session.

import { median, medianAndMean, shown, timeOf, timesInTurns } from '../measure.mjs';
import { Bare } from './stores/bare.mjs';
import { Ours } from './stores/ours.mjs';
import { eventsNow, filled, withStores } from './stores/stores.mjs';

const MANY = 64;
const bareCode = { than: 'the bare code', unit: 'ms' };

/**
 * Times of single awaited appends. Each event is made right before its append, as by an agent.
 *
 * @param {import('./stores/stores.mjs').Store} store
 * @param {any} handle
 * @param {number} count
 * @param {number} first
 */
async function appendTimes(store, handle, count, first) {
  const times = [];
  for (let number = first; number < first + count; number += 1) {
    const [event] = eventsNow(1, number);
    times.push(await timeOf(() => store.append(handle, event)));
  }
  return times;
}

/** Unique numbers for events. @param {number} first */
export function numbers(first) {
  return (/** @type {number} */ count) => (first += count) - count;
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export function oneByOne() {
  const [stored, appends] = [1000, 20];
  return withStores({ bare: Bare, ours: Ours }, async ({ bare, ours }) => {
    const bareHandle = await filled(bare, 'session', stored);
    const ourHandle = await filled(ours, 'session', stored);
    const next = numbers(stored);
    const times = await timesInTurns(
      {
        bare: () => appendTimes(bare, bareHandle, appends, next(appends)),
        ours: () => appendTimes(ours, ourHandle, appends, next(appends)),
      },
      { rounds: 120, warmUp: 4 },
    );
    const name = 'append after append';
    return medianAndMean({
      case: name,
      ours: times.ours,
      peer: times.bare,
      most: 1.15,
      ...bareCode,
    });
  });
}

/**
 * Compares 64 concurrent appends with 64 single ones.
 *
 * @param {number} sessions the number of sessions that get the appends
 * @param {number} faster the required factor of throughput
 */
function grouped(sessions, faster) {
  const ids = Array.from({ length: sessions }, (_, index) => `session-${index}`);
  return withStores({ bare: Bare, ours: Ours }, async ({ bare, ours }) => {
    const bareHandles = await bare.create(ids, Date.now());
    const ourHandles = await ours.create(ids);
    const next = numbers(0);
    /** @param {(event: any, index: number) => Promise<unknown>} append */
    const atOnce = async (append) => {
      const events = eventsNow(MANY, next(MANY));
      return timeOf(() => Promise.all(events.map(append)));
    };
    /** @param {(event: any, index: number) => Promise<unknown>} append */
    const inOrder = async (append) => {
      const events = eventsNow(MANY, next(MANY));
      return timeOf(async () => {
        for (const [index, event] of events.entries()) await append(event, index);
      });
    };
    const toBare = (/** @type {any} */ event, /** @type {number} */ index) =>
      bare.append(bareHandles[index % sessions], event);
    const toOurs = (/** @type {any} */ event, /** @type {number} */ index) =>
      ours.append(ourHandles[index % sessions], event);
    const times = await timesInTurns(
      {
        bare: () => inOrder(toBare),
        ours: () => atOnce(toOurs),
        bareAtOnce: () => atOnce(toBare),
      },
      { rounds: 25, warmUp: 3 },
    );
    const name = `${MANY} appends at once to ${sessions === 1 ? 'one session' : `${sessions} sessions`}`;
    const unit = 'ms for all';
    return [
      ...medianAndMean({
        case: name,
        ours: times.ours,
        peer: times.bare,
        unit,
        most: 1 / faster,
        than: 'bare, one by one',
      }),
      shown({
        case: `${name}, bare too`,
        ours: median(times.ours),
        peer: median(times.bareAtOnce),
        unit,
      }),
    ];
  });
}

export const toOneSession = () => grouped(1, 8);
export const toManySessions = () => grouped(MANY, 2.5);

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export function toLongSession() {
  const [few, many, appends] = [100, 100_000, 20];
  return withStores({ short: Ours, long: Ours }, async ({ short, long }) => {
    const shortHandle = await filled(short, 'session', few);
    const longHandle = await filled(long, 'session', many);
    const next = numbers(many);
    const times = await timesInTurns(
      {
        short: () => appendTimes(short, shortHandle, appends, next(appends)),
        long: () => appendTimes(long, longHandle, appends, next(appends)),
      },
      { rounds: 20, warmUp: 3 },
    );
    const name = 'append at 100,000 events';
    const than = 'our own at 100';
    return medianAndMean({
      case: name,
      ours: times.long,
      peer: times.short,
      unit: 'ms',
      most: 1.2,
      than,
    });
  });
}
