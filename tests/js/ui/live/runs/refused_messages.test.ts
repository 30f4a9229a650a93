// Messages that the server of a cache refuses, and what waits for them, as a page shows them.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';

import { InMemorySessionService, type SessionError } from '../../../../../js/index.js';
import { liveSession, type LiveSessionSnapshot } from '../../../../../js/ui/live/index.js';
import { openCache, Server, until, untilSent } from '../../../stores/cache/fixture.js';
import { idsOf, KEY, message, snapshotOf } from '../stores.js';
import { asks, echo, storesMessage, textsOf } from './agents.js';

/** Answers each message, and throws before a message with the text `bad` is stored. */
const agent = storesMessage(async function* (context) {
  if (textsOf([context.message])[0] === 'bad') throw new Error('a plugin throws');
  yield* echo(context);
});

/** Refuses requests that write, and whose address and body have this text. */
function refuse(server: Server, text: string): void {
  server.intercept = async (request) => {
    if (request.method === 'GET') return undefined;
    const isRefused = `${request.url} ${await request.text()}`.includes(text);
    return isRefused ? Response.json({ detail: 'No.' }, { status: 403 }) : undefined;
  };
}

async function openPage(test: TestContext, server = newServer()) {
  const { cache } = openCache(server);
  const chat = liveSession(cache, KEY);
  test.after(chat.subscribe(() => undefined));
  await chat.load();
  return { server, cache, chat };
}

function newServer(): Server {
  const authorize = () => ({ mayWriteAgentEvents: true });
  return new Server(new InMemorySessionService(), { authorize, run: agent });
}

const isAnswered = ({ events, run }: LiveSessionSnapshot): boolean =>
  run === undefined && textsOf(events).includes('good!');

describe('A message that the server of a cache refuses', () => {
  it('stands behind the messages that were answered since, and the run is that of the newest of those', async (t) => {
    const { chat } = await openPage(t);
    const { id } = await chat.ask(asks('bad'));
    await snapshotOf(chat, ({ unsent }) => unsent[id]?.error !== undefined);
    await chat.ask(asks('good'));
    const { events, unsent } = await snapshotOf(chat, isAnswered);
    assert.deepEqual(textsOf(events), ['good', 'good!', 'bad']);
    assert.deepEqual(Object.keys(unsent), [id]);
  });

  it('alone is no message without an answer', async (t) => {
    const { chat } = await openPage(t);
    await chat.ask(asks('good'));
    await snapshotOf(chat, isAnswered);
    const { id } = await chat.ask(asks('bad'));
    await snapshotOf(chat, ({ unsent, run }) => unsent[id]?.error !== undefined && !run);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(chat.getSnapshot().run, undefined);
  });

  it('is not marked as cancelled by a cancel without an id', async (t) => {
    const { server, cache, chat } = await openPage(t);
    await chat.ask(asks('good'));
    await snapshotOf(chat, isAnswered);
    const { id } = await chat.ask(asks('bad'));
    await snapshotOf(chat, ({ unsent }) => unsent[id]?.error !== undefined);
    const requests = server.requests.length;
    await chat.cancel();
    assert.deepEqual(Object.keys(chat.getSnapshot().unsent), [id]);
    const [entry] = await cache.outbox.list(KEY);
    assert.deepEqual(idsOf(entry?.events ?? []), [id]);
    assert.ok(server.requests.slice(requests).every((request) => request.startsWith('GET')));
  });

  it('is asked again behind the others by retry', async (t) => {
    let isBad = true;
    const run = storesMessage(async function* (context) {
      if (isBad && textsOf([context.message])[0] === 'bad') throw new Error('a plugin throws');
      yield* echo(context);
    });
    const server = new Server(new InMemorySessionService(), { authorize: () => true, run });
    const { chat } = await openPage(t, server);
    const { id } = await chat.ask(asks('bad'));
    await chat.ask(asks('good'));
    await snapshotOf(chat, isAnswered);
    isBad = false;
    await chat.retry(id);
    const { events } = await snapshotOf(chat, ({ events }) => textsOf(events).includes('bad!'));
    assert.deepEqual(textsOf(events), ['good', 'good!', 'bad', 'bad!']);
  });
});

describe('A message behind a refused creation', () => {
  /** Opens a page whose first messages wait for a creation that is refused. */
  async function openBlocked(test: TestContext) {
    const page = await openPage(test);
    const { server, cache, chat } = page;
    server.isOffline = true;
    await cache.createSession(KEY);
    const { id } = await chat.ask(asks('good'));
    refuse(server, '/sessions');
    server.isOffline = false;
    await cache.sync();
    await snapshotOf(chat, ({ unsent }) => unsent[id]?.blockedBy !== undefined);
    return { ...page, id };
  }

  it('says what it waits for', async (t) => {
    const { chat, id } = await openBlocked(t);
    const { error, blockedBy } = chat.getSnapshot().unsent[id]!;
    const { code, status, eventId } = blockedBy!;
    assert.deepEqual([error, code, status, eventId], [undefined, 'remote', 403, undefined]);
  });

  it('is sent by its retry, with the creation', async (t) => {
    const { server, cache, chat, id } = await openBlocked(t);
    server.intercept = undefined;
    await chat.retry(id);
    await snapshotOf(chat, isAnswered);
    await until(() => untilSent(cache));
    assert.equal((await server.service.getSession(KEY))?.events[0]?.id, id);
  });

  it('is gone at once by its discard, and the creation stays refused', async (t) => {
    const { cache, chat, id } = await openBlocked(t);
    await chat.discard(id);
    await snapshotOf(chat, ({ events }) => events.length === 0);
    const [entry] = await cache.outbox.list(KEY);
    assert.deepEqual([entry?.error?.status, entry?.events], [403, []]);
  });
});

/** A page whose edit is refused, and a message behind it. */
async function openBehindEdit(t: TestContext) {
  const { server, chat } = await openPage(t);
  const first = await chat.ask(asks('good'));
  await snapshotOf(chat, isAnswered);
  refuse(server, '/rewind');
  const { id } = await chat.edit(first.id, asks('better'));
  const next = await chat.ask(asks('next'));
  return { chat, id, next };
}

describe('A message behind a refused edit', () => {
  it('names the edited message, which has the error', async (t) => {
    const { chat, id, next } = await openBehindEdit(t);
    const { unsent } = await snapshotOf(chat, ({ unsent }) => !!unsent[next.id]?.blockedBy);
    assert.equal(unsent[next.id]?.blockedBy?.eventId, id);
    assert.equal((unsent[id]?.error as SessionError).status, 403);
  });

  it('is answered once the edit is discarded', async (t) => {
    const { chat, id, next } = await openBehindEdit(t);
    await snapshotOf(chat, ({ unsent }) => !!unsent[next.id]?.blockedBy);
    await chat.discard(id);
    const { events } = await snapshotOf(chat, ({ events }) => textsOf(events).includes('next!'));
    assert.deepEqual(textsOf(events), ['good', 'good!', 'next', 'next!']);
  });
});

describe('A plain event behind a refused one', () => {
  it('of an agent waits for its message, is discarded alone, and is sent by its retry', async (t) => {
    const { server, cache, chat } = await openPage(t);
    await cache.createSession(KEY);
    await cache.sync();
    refuse(server, '"bad"');
    await chat.send(message('bad'));
    await chat.send({ ...message('a1'), author: 'guide' });
    await chat.send({ ...message('a2'), author: 'guide' });
    const { unsent } = await snapshotOf(chat, ({ unsent }) => !!unsent.a2?.blockedBy);
    assert.deepEqual([unsent.a1?.blockedBy?.eventId, unsent.bad?.blockedBy], ['bad', undefined]);
    await chat.discard('a1');
    await snapshotOf(chat, ({ unsent }) => !('a1' in unsent));
    server.intercept = undefined;
    await chat.retry('a2');
    await snapshotOf(chat, ({ unsent }) => Object.keys(unsent).length === 0);
    const { events = [] } = (await server.service.getSession(KEY)) ?? {};
    assert.deepEqual(idsOf(events), ['bad', 'a2']);
  });
});
