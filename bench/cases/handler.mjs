// What the handler of `adk-session-wasm/server` adds to an append. No network: the request is a `Request`.
// The bare handler is written by hand. It parses the body, appends and answers, and checks nothing.

import { createEvent, InMemorySessionService } from 'adk-session-wasm';
import { sessionHandler } from 'adk-session-wasm/server';
import { inTurns, limited, shown, timeOfMany } from '../measure.mjs';
import { fillOurs, keyOf } from '../services.mjs';

const APPENDS = 300;
const parts = [{ text: 'x'.repeat(400) }];

/** @param {number} stored */
async function appendsAt(stored) {
  const service = new InMemorySessionService();
  const handler = sessionHandler(service, { authorize: () => true });
  const key = keyOf(stored);
  await fillOurs(service, stored);
  const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
  const url = `http://bench/apps/${key.appName}/users/${key.userId}/sessions/${key.sessionId}/events`;
  const headers = { 'content-type': 'application/json' };
  const event = () => createEvent({ author: 'user', content: { role: 'user', parts } });

  /** @param {(request: Request) => Promise<Response>} respond */
  async function requestTo(respond) {
    const body = JSON.stringify({ events: [event()] });
    const response = await respond(new Request(url, { method: 'POST', headers, body }));
    if (response.status !== 200) throw new Error(await response.text());
    return response.json();
  }

  /** @param {Request} request */
  async function bare(request) {
    const { events } = await request.json();
    return Response.json(await service.appendEvent({ session, event: events[0] }));
  }

  return inTurns({
    ours: () => timeOfMany(APPENDS, () => requestTo(handler)),
    bare: () => timeOfMany(APPENDS, () => requestTo(bare)),
    direct: () => timeOfMany(APPENDS, () => service.appendEvent({ session, event: event() })),
  });
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function handler() {
  const results = [];
  for (const stored of [100, 10_000]) {
    const { ours, bare, direct } = await appendsAt(stored);
    const name = `an append, ${stored} events stored`;
    results.push(
      limited({
        case: `what the handler adds to ${name}`,
        ours: ours - direct,
        unit: 'ms',
        most: 0.3,
      }),
      shown({ case: `handler and bare handler: ${name}`, ours, peer: bare, unit: 'ms' }),
    );
  }
  return results;
}
