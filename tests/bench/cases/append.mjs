// Single appends through a handle as `getSession` gave it, to sessions of growing length.

import { atMost, inTurns } from '../measure.mjs';
import {
  fillOurs,
  fillPeer,
  keyOf,
  ourEvents,
  OurService,
  peerEvents,
  PeerService,
} from '../services.mjs';

/** A round; few, so that a session stays about as long as its name says. */
const APPENDS = 20;
const ROUNDS = 16;
const WARM_UP = 4;

/**
 * Times of single appends to a session of about so many events, in µs.
 *
 * @param {OurService | PeerService} service
 * @param {number} count
 * @param {number} round
 */
async function appendTimes(service, count, round) {
  const session = await service.getSession(keyOf(count));
  const make = service instanceof OurService ? ourEvents : peerEvents;
  const events = make(APPENDS, count + (round + WARM_UP) * APPENDS);
  globalThis.gc?.();
  const times = [];
  for (const event of events) {
    const start = performance.now();
    await service.appendEvent({ session, event });
    times.push((performance.now() - start) * 1000);
  }
  return times;
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function append() {
  const ours = new OurService();
  const peer = new PeerService();
  for (const count of [10_000, 100_000]) await fillOurs(ours, count);
  await fillPeer(peer, 10_000);
  // Short ones are made anew each round, or they would not be short for long.
  const anew =
    (/** @type {any} */ service, /** @type {Function} */ fill, /** @type {number} */ count) =>
    async (/** @type {number} */ round) => {
      await service.deleteSession(keyOf(count));
      await fill(service, count);
      return appendTimes(service, count, round);
    };
  const sides = {
    'ours 100000': (/** @type {number} */ round) => appendTimes(ours, 100_000, round),
    'ours 10000': (/** @type {number} */ round) => appendTimes(ours, 10_000, round),
    'peer 10000': (/** @type {number} */ round) => appendTimes(peer, 10_000, round),
    'ours 1000': anew(ours, fillOurs, 1000),
    'peer 1000': anew(peer, fillPeer, 1000),
    'ours 100': anew(ours, fillOurs, 100),
    'peer 100': anew(peer, fillPeer, 100),
  };
  const times = await inTurns(sides, { rounds: ROUNDS, warmUp: WARM_UP });
  const unit = 'µs';
  return [
    { case: 'append at 100 events', count: 100, most: 1 / 2 },
    { case: 'append at 1,000 events', count: 1000, most: 1 / 5 },
    { case: 'append at 10,000 events', count: 10_000, most: 1 / 100 },
  ]
    .map(({ count, ...values }) =>
      atMost({ ...values, ours: times[`ours ${count}`], peer: times[`peer ${count}`], unit }),
    )
    .concat(
      atMost({
        case: 'append at 100,000 events',
        ours: times['ours 100000'],
        peer: times['ours 100'],
        unit,
        most: 1.3,
        than: 'our own at 100',
      }),
    );
}
