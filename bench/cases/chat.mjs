// A typical chat, as a Runner has it: each turn reads the session, stores a question and stores an answer.

import { createEvent as createPeerEvent } from '@google/adk';
import { createEvent } from 'adk-session-wasm';
import { makeEvents } from '../events.mjs';
import { atMostByRound, timeOf, timesInTurns } from '../measure.mjs';
import { keyOf, OurService, PeerService } from '../services.mjs';

const COUNTS = [50, 100, 200];

/**
 * A chat from its first event to its last. Its events are made beforehand, by new objects in each round.
 *
 * @param {OurService | PeerService} service
 * @param {typeof createEvent | typeof createPeerEvent} create
 * @param {number} count
 */
function chatOf(service, create, count) {
  const key = keyOf(count);
  return async () => {
    await service.deleteSession(key);
    const events = makeEvents(count, 0, /** @type {any} */ (create));
    return timeOf(async () => {
      await service.createSession(key);
      for (let turn = 0; turn < count; turn += 2) {
        const session = /** @type {any} */ (await service.getSession(key));
        for (const event of events.slice(turn, turn + 2)) {
          await service.appendEvent({ session, event: /** @type {any} */ (event) });
        }
      }
    });
  };
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function chat() {
  const [ours, peer] = [new OurService(), new PeerService()];
  const results = [];
  for (const count of COUNTS) {
    const times = await timesInTurns(
      { ours: chatOf(ours, createEvent, count), peer: chatOf(peer, createPeerEvent, count) },
      { rounds: 30, warmUp: 30, collects: false },
    );
    const name = `a chat of ${count} events, turn by turn`;
    results.push(atMostByRound({ case: name, ...times, unit: 'ms', most: 1 }));
  }
  return results;
}
