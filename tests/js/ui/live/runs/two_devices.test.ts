// Two devices of one user, each with a cache, and a server whose agent asks for a confirmation.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';

import { createEvent, InMemorySessionService } from '../../../../../js/index.js';
import { liveSession, type RunAgent } from '../../../../../js/ui/live/index.js';
import { openCache, Server, until, untilSent } from '../../../stores/cache/fixture.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, says, textsOf } from './agents.js';

const question = {
  author: 'guide',
  longRunningToolIds: ['c1'],
  content: {
    role: 'model',
    parts: [{ functionCall: { id: 'c1', name: 'adk_request_confirmation', args: {} } }],
  },
};

/** Asks once, and answers every other message with its text. */
const agent: RunAgent = async function* ({ message }) {
  const [part] = message.content?.parts ?? [];
  if (part?.text === 'pay') yield question;
  else yield { author: 'guide', content: says(part?.text ? `${part.text}!` : 'paid') };
};

async function openDevice(test: TestContext, server: Server) {
  const told: string[] = [];
  const { cache } = openCache(server, { onDiagnostic: ({ code }) => told.push(String(code)) });
  const chat = liveSession(cache, KEY);
  test.after(chat.subscribe(() => undefined));
  await chat.load();
  return { cache, chat, told };
}

describe('A call that two devices answer', () => {
  it('takes the first answer, and the second device goes on', async (t) => {
    const server = new Server(new InMemorySessionService(), {
      authorize: () => true,
      run: agent,
    });
    const one = await openDevice(t, server);
    await one.chat.ask(asks('pay'));
    await snapshotOf(one.chat, ({ questions }) => questions.length === 1);
    await until(() => untilSent(one.cache));
    const other = await openDevice(t, server);
    await snapshotOf(other.chat, ({ questions }) => questions.length === 1);
    server.isOffline = true;
    server.cutFeeds();
    await other.chat.answer({ c1: { confirmed: false } });
    await other.chat.ask(asks('and then'));
    await server.service.appendEvent({
      session: (await server.service.getSession(KEY))!,
      event: createEvent({
        author: 'user',
        content: {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'adk_request_confirmation', response: {} } },
          ],
        },
      }),
    });
    other.told.length = 0;
    server.isOffline = false;
    await other.cache.sync();
    const shown = await snapshotOf(
      other.chat,
      ({ events, run }) => run === undefined && textsOf(events).at(-1) === 'and then!',
    );
    assert.deepEqual({ ...shown.unsent }, {});
    assert.equal(shown.events.length, 5, 'the second answer is gone');
    assert.deepEqual(await other.cache.outbox.list(), []);
    assert.ok(other.told.includes('stale_session'));
  });

  it('is refused over HTTP with the reason, and other calls with status 403', async () => {
    const server = new Server(new InMemorySessionService(), { authorize: () => true });
    const session = await server.service.createSession(KEY);
    await server.service.appendEvent({ session, event: createEvent(question) });
    const answer = (id: string) =>
      createEvent({
        author: 'user',
        content: {
          role: 'user',
          parts: [{ functionResponse: { id, name: 'adk_request_confirmation', response: {} } }],
        },
      });
    const client = server.client();
    const handle = (await client.getSession(KEY))!;
    await client.appendEvent({ session: handle, event: answer('c1') });
    await assert.rejects(client.appendEvent({ session: handle, event: answer('c1') }), {
      code: 'stale_session',
      staleReason: 'answered',
      status: 409,
    });
    await assert.rejects(client.appendEvent({ session: handle, event: answer('c2') }), {
      status: 403,
    });
    const { events } = (await server.service.getSession(KEY))!;
    assert.equal(events.length, 2);
  });
});
