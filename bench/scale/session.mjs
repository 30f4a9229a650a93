// The sessions of the group `scale`: a small and a large one, whose turns have two events and write one key.

import { createEvent } from 'adk-session-wasm';

export const SMALL = 1000;
export const LARGE = 100_000;
const BATCH = 10_000;

/** Each is of a user of its own, so that a search reads one of them. @param {number} count */
export function keyOf(count) {
  return { appName: 'bench', userId: `of-${count}-events`, sessionId: 'long' };
}

/** An event of some 450 bytes. @param {number} number */
export function turnEvent(number) {
  const isUser = number % 2 === 0;
  return createEvent({
    id: `e${number}`,
    invocationId: `i${number >> 1}`,
    author: isUser ? 'user' : 'guide',
    timestamp: 1_700_000_000_000 + number,
    content: { role: isUser ? 'user' : 'model', parts: [{ text: `${number} `.repeat(30) }] },
    actions: isUser ? undefined : { stateDelta: { step: number } },
  });
}

/** @param {import('adk-session-wasm').SessionService} service @param {number} count */
export async function fill(service, count) {
  const session = await service.createSession(keyOf(count));
  for (let first = 0; first < count; first += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - first) }, (_, at) =>
      turnEvent(first + at),
    );
    await service.appendEvents({ session, events });
  }
}
