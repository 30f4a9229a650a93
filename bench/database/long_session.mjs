// The session for the measurement of reads.

import { createEvent } from 'adk-session-wasm';
import { makeEvent, makeEvents } from '../events.mjs';

export const COUNT = 10_000;
const BATCH = 1000;

export const longKey = { appName: 'bench', userId: 'user', sessionId: 'long' };

/** Makes the session with the package. @param {import('adk-session-wasm/database').DatabaseSessionService} service */
export async function fill(service) {
  await service.createSession(longKey);
  for (let first = 0; first < COUNT; first += BATCH) {
    const session = await service.getSession({ ...longKey, config: { numRecentEvents: 0 } });
    await service.appendEvents({ session, events: makeEvents(BATCH, first, createEvent) });
  }
}

/**
 * Checks that a read returns the expected number of events, with the last one.
 *
 * @param {Promise<{ events: { id: string }[] } | undefined>} read
 * @param {number} count
 */
export async function expectEvents(read, count) {
  const events = (await read)?.events ?? [];
  const isRight = events.length === count && events.at(-1)?.id === makeEvent(COUNT - 1).id;
  if (!isRight) throw new Error(`read ${events.length} events, or others than the last ${count}`);
}
