// The two services that are compared, filled with the same events.

import { createEvent as createPeerEvent, InMemorySessionService as PeerService } from '@google/adk';
import { createEvent, InMemorySessionService as OurService } from 'adk-session-wasm';
import { makeEvents } from './events.mjs';

const appName = 'bench';
const userId = 'user';
const BATCH = 1000;

export { OurService, PeerService, appName, userId };

/** @param {number} count @param {number} first */
export function ourEvents(count, first) {
  return makeEvents(count, first, createEvent);
}

/** @param {number} count @param {number} first */
export function peerEvents(count, first) {
  return makeEvents(count, first, createPeerEvent);
}

/** @param {number} events */
export function keyOf(events) {
  return { appName, userId, sessionId: `of-${events}` };
}

/**
 * A session of so many events in ours.
 *
 * @param {OurService} service
 * @param {number} count
 */
export async function fillOurs(service, count) {
  const key = keyOf(count);
  await service.createSession(key);
  for (let first = 0; first < count; first += BATCH) {
    // A handle of its own each time, which holds none of what was stored before.
    const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
    const events = ourEvents(Math.min(BATCH, count - first), first);
    await service.appendEvents({ session, events });
  }
}

/**
 * The same in the peer's: right into where it keeps them, since appending 10,000 takes it ten seconds.
 *
 * @param {PeerService} service
 * @param {number} count
 */
export async function fillPeer(service, count) {
  const key = keyOf(count);
  const session = await service.createSession(key);
  // With the last event through its front door, so that all three states are there.
  const events = peerEvents(count, 0);
  const last = events.pop();
  const { [appName]: users } = /** @type {any} */ (service).sessions;
  users[userId][key.sessionId].events.push(...events);
  if (last) await service.appendEvent({ session, event: last });
}
