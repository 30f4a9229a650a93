// The session handler on a server, and requests to it.

import assert from 'node:assert/strict';

/** A module that makes `handler`. */
export const HANDLER = `
import { InMemorySessionService } from 'adk-session-wasm';
import { sessionHandler } from 'adk-session-wasm/server';

const handler = sessionHandler(new InMemorySessionService(), {
  basePath: '/api',
  authorize: (request, { userId }) => userId === request.headers.get('x-user'),
});
`;

const SESSIONS = '/api/apps/shop/users/ada/sessions';
const EVENT = { id: 'e1', author: 'user', content: { parts: [{ text: 'grüß 👋' }] } };

/** Creates a session, appends to it twice, reads it, follows its changes, and is refused as another user. */
export async function assertServes(origin: string): Promise<void> {
  const ask = async (path: string, body?: unknown, user = 'ada') => {
    const response = await fetch(origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-user': user, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text };
  };
  const created = await ask(SESSIONS, { sessionId: 's1', state: { topic: 'tea' } });
  assert.equal(created.status, 200, created.text);
  const changes = await fetch(`${origin}/api/apps/shop/changes?userId=ada`, {
    headers: { 'x-user': 'ada' },
  });
  assert.equal(changes.status, 200);
  const reader = changes.body!.pipeThrough(new TextDecoderStream()).getReader();
  let told = (await reader.read()).value ?? '';
  const append = () => ask(`${SESSIONS}/s1/events`, { events: [EVENT] });
  for (const { status, text } of [await append(), await append()]) assert.equal(status, 200, text);
  while (!told.includes('"appended"')) told += (await reader.read()).value ?? '';
  await reader.cancel();
  const { events, state } = JSON.parse((await ask(`${SESSIONS}/s1`)).text) as {
    events: (typeof EVENT)[];
    state: object;
  };
  assert.deepEqual(
    [events.map(({ content }) => content), state],
    [[EVENT.content], { topic: 'tea' }],
  );
  assert.equal((await ask(`${SESSIONS}/s1`, undefined, 'eve')).status, 403);
}
