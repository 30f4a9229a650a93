// The two compared services, filled with the same events.

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
 * Makes a session with the given number of events in the package's service.
 *
 * @param {OurService} service
 * @param {number} count
 */
export async function fillOurs(service, count) {
  const key = keyOf(count);
  await service.createSession(key);
  for (let first = 0; first < count; first += BATCH) {
    // A new handle each time, which holds no stored events.
    const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
    const events = ourEvents(Math.min(BATCH, count - first), first);
    await service.appendEvents({ session, events });
  }
}

/**
 * Makes the same session in the peer's service, directly in its data: appending 10,000 events would take ten seconds.
 *
 * @param {PeerService} service
 * @param {number} count
 */
export async function fillPeer(service, count) {
  const key = keyOf(count);
  const session = await service.createSession(key);
  // The last event is appended, so that all three states exist.
  const events = peerEvents(count, 0);
  const last = events.pop();
  const { [appName]: users } = /** @type {any} */ (service).sessions;
  users[userId][key.sessionId].events.push(...events);
  if (last) await service.appendEvent({ session, event: last });
}
