// Single appends through a handle from `getSession`, to sessions of growing length.

import { createEvent as createPeerEvent } from '@google/adk';
import { createEvent } from 'adk-session-wasm';
import { makeShortEvent } from '../events.mjs';
import { atMostByRound, median, shown, timesInTurns } from '../measure.mjs';
import {
  appName,
  fillOurs,
  fillPeer,
  keyOf,
  ourEvents,
  OurService,
  peerEvents,
  PeerService,
  userId,
} from '../services.mjs';

/** Appends per round: few, so that a session stays about as long as its name says. */
const APPENDS = 20;
/** Warm-up rounds, until neither side becomes faster. */
const SHORT = { rounds: 60, warmUp: 100, collects: false };
/** Fewer rounds for long sessions: everything is warm, and their handles take long to read. */
const LONG = { rounds: 12, warmUp: 2, collects: false };

/**
 * Returns the median of single appends to a session of about `count` events, in µs.
 *
 * Each event is made right before its append, as by an agent. Events that are made earlier would no longer be in
 * the processor's cache.
 *
 * @param {OurService | PeerService} service
 * @param {number} count
 * @param {number} round
 */
async function appendTime(service, count, round) {
  const session = await service.getSession(keyOf(count));
  const make = service instanceof OurService ? ourEvents : peerEvents;
  const first = count + (round + SHORT.warmUp) * APPENDS;
  const times = [];
  for (let number = first; number < first + APPENDS; number += 1) {
    const [event] = make(1, number);
    const start = performance.now();
    await service.appendEvent({ session, event });
    times.push((performance.now() - start) * 1000);
  }
  return median(times);
}

/** The events that short sessions have, and the bytes of each event. */
const STORED = [0, 20, 100, 300];
const SIZES = [200, 600];

/** Single appends to short sessions, through the handle that created them. */
async function shortSessions() {
  const results = [];
  for (const size of SIZES) {
    for (const stored of STORED) {
      const timesOf = (/** @type {any} */ service, /** @type {Function} */ create) => async () => {
        const session = await service.createSession({ appName, userId });
        const times = [];
        for (let number = 0; number < stored + APPENDS / 2; number += 1) {
          const event = create(makeShortEvent(number, size));
          const start = performance.now();
          await service.appendEvent({ session, event });
          if (number >= stored) times.push((performance.now() - start) * 1000);
        }
        await service.deleteSession({ appName, userId, sessionId: session.id });
        return median(times);
      };
      const { ours, peer } = await timesInTurns(
        {
          ours: timesOf(new OurService(), createEvent),
          peer: timesOf(new PeerService(), createPeerEvent),
        },
        SHORT,
      );
      results.push(
        shown({
          case: `append at ${stored} events of ${size} bytes`,
          ours: median(ours),
          peer: median(peer),
          unit: 'µs',
        }),
      );
    }
  }
  return results;
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function append() {
  const ours = new OurService();
  const peer = new PeerService();
  // Short sessions grow with every round, so each round creates its own.
  const inNewSession =
    (/** @type {any} */ service, /** @type {Function} */ fill, /** @type {number} */ count) =>
    async (/** @type {number} */ round) => {
      await service.deleteSession(keyOf(count));
      await fill(service, count);
      return appendTime(service, count, round);
    };
  const ours100 = inNewSession(ours, fillOurs, 100);
  const short = await timesInTurns(
    {
      'ours 100': ours100,
      'peer 100': inNewSession(peer, fillPeer, 100),
      'ours 1000': inNewSession(ours, fillOurs, 1000),
      'peer 1000': inNewSession(peer, fillPeer, 1000),
    },
    SHORT,
  );
  for (const count of [10_000, 100_000]) await fillOurs(ours, count);
  await fillPeer(peer, 10_000);
  const long = await timesInTurns(
    {
      'ours 10000': (round) => appendTime(ours, 10_000, round),
      'peer 10000': (round) => appendTime(peer, 10_000, round),
      'ours 100000': (round) => appendTime(ours, 100_000, round),
      'ours 100': ours100,
    },
    LONG,
  );
  const unit = 'µs';
  const rows = [
    { count: 100, times: short, most: 0.9 },
    { count: 1000, times: short, most: 1 / 4 },
    { count: 10_000, times: long, most: 1 / 100 },
    { count: 100_000, times: long, most: 1.3, other: 'ours 100', than: 'our own at 100' },
  ].map(({ count, times, other = `peer ${count}`, ...goal }) =>
    atMostByRound({
      case: `append at ${count.toLocaleString('en')} events`,
      ours: times[`ours ${count}`] ?? [],
      peer: times[other] ?? [],
      unit,
      ...goal,
    }),
  );
  return [...(await shortSessions()), ...rows];
}
