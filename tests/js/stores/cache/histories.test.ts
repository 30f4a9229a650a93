// Histories through a cache, over a server that hides credentials, for a user who may not write the events of agents.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  branches,
  fork,
  rewind,
  stateAt,
  switchBranch,
  undoRewind,
} from '../../../../js/core/history/index.js';
import type { CachedSessionService } from '../../../../js/service/cache/index.js';
import { createEvent, InMemorySessionService, isSessionError } from '../../../../js/index.js';
import { liveSession } from '../../../../js/ui/live/index.js';
import {
  event as eventOf,
  hasCode,
  idsOf,
  KEY,
  openCache,
  refuseRewinds,
  Server,
  until,
  untilSent,
} from './fixture.js';

/** A server whose agent runs as long as `isRunning` says. */
function serve() {
  const agent = { isRunning: false };
  const server = new Server(new InMemorySessionService(), { authorize: () => true });
  refuseRewinds(server, () => agent.isRunning);
  return { server, agent };
}

const said = (author: string, id: string, stateDelta: Record<string, unknown> = {}) =>
  createEvent({
    id: `${id}${author === 'user' ? '?' : '!'}`,
    invocationId: id,
    author,
    content: { role: author === 'user' ? 'user' : 'model', parts: [{ text: `${author} ${id}` }] },
    actions: { stateDelta },
  });

/** Stores turns of a question and an answer, whose deltas count them. */
async function seed(server: Server, ...ids: string[]): Promise<void> {
  const session = await server.service.getOrCreateSession({ ...KEY, state: { initial: true } });
  for (const [index, id] of ids.entries()) {
    const events = [said('user', id), said('guide', id, { turn: index + 1, [id]: true })];
    await server.service.appendEvents({ session, events });
  }
}

async function openTurns(...ids: string[]) {
  const { server, agent } = serve();
  await seed(server, ...ids);
  const { cache, local } = openCache(server);
  await cache.getSession(KEY);
  return { server, agent, cache, local };
}

const shown = async (service: Pick<CachedSessionService, 'getSession'>) =>
  (await service.getSession({ ...KEY, config: { view: 'transcript' } }))?.events.map(
    ({ id }) => id,
  );

const stateOf = async (service: Pick<CachedSessionService, 'getSession'>) =>
  (await service.getSession(KEY))?.state;

const place = { before: { invocationId: 'i2' } };

describe('A rewind through a cache', () => {
  it('does not hide what is appended after it, if the fetch that follows it fails', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    const session = await cache.getSession(KEY);
    server.intercept = ({ method }) =>
      method === 'GET' ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve(undefined);
    await rewind(cache, { ...KEY, ...place });
    await until(async () => (await server.service.getSession(KEY))?.events.length === 5);
    await cache.appendEvent({ session: session!, event: said('user', 'i3', { turn: 3 }) });
    await until(async () => (await server.service.getSession(KEY))?.events.length === 6);
    server.intercept = undefined;
    await cache.sync();
    assert.deepEqual(await stateOf(cache), await stateOf(server.service));
    assert.deepEqual(await cache.getSession(KEY), await server.client().getSession(KEY));
    await cache.close();
  });

  it('is shown at once, and computed by the server', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    server.isOffline = true;
    const { event, unknownKeys } = await rewind(cache, { ...KEY, ...place });
    assert.deepEqual(await shown(cache), ['i1?', 'i1!']);
    assert.equal((await stateOf(cache))?.turn, 1);
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(await shown(server.service), ['i1?', 'i1!']);
    const state = { initial: true, turn: 1, i1: true };
    assert.deepEqual(await stateOf(server.service), state);
    assert.deepEqual(await stateOf(cache), state);
    assert.equal((await server.service.getSession(KEY))?.events.at(-1)?.id, event.id);
    assert.deepEqual(unknownKeys, ['i2']);
    assert.equal(server.requests.filter((one) => one.endsWith('/rewind')).length, 1);
    assert.ok(untilSent(cache));
    await cache.close();
  });

  it('undoes what an agent has written meanwhile, with its state', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    server.isOffline = true;
    await rewind(cache, { ...KEY, ...place });
    const session = (await server.service.getSession(KEY))!;
    const late = { ...said('guide', 'i2', { late: true, turn: 9 }), id: 'late!' };
    await server.service.appendEvent({ session, event: late });
    server.isOffline = false;
    await cache.sync();
    const state = { initial: true, turn: 1, i1: true };
    assert.deepEqual(await stateOf(server.service), state);
    assert.deepEqual(await stateOf(cache), state);
    assert.deepEqual(await shown(cache), ['i1?', 'i1!']);
    await cache.close();
  });

  it('waits while an agent runs, with the later messages of its session behind it', async () => {
    const { server, agent, cache } = await openTurns('i1', 'i2');
    const session = (await cache.getSession(KEY))!;
    const other = { ...KEY, sessionId: 's2' };
    agent.isRunning = true;
    await rewind(cache, { ...KEY, ...place });
    await cache.appendEvent({ session, event: said('user', 'i3') });
    const running = (await server.service.getSession(KEY))!;
    const late = { ...said('guide', 'i2', { late: true, turn: 9 }), id: 'late!' };
    await server.service.appendEvent({ session: running, event: late });
    const isCopied = async () =>
      (await cache.getSession(KEY))?.events.some(({ id }) => id === 'late!');
    await until(async () => (await isCopied()) === true);
    assert.deepEqual(await stateOf(cache), { initial: true, turn: 1, i1: true });
    await cache.createSession(other);
    await until(async () => (await server.service.getSession(other)) !== undefined);
    await until(() => server.requests.some((one) => one.endsWith('/rewind')));
    assert.deepEqual(await shown(server.service), ['i1?', 'i1!', 'i2?', 'i2!', 'late!']);
    assert.deepEqual(await shown(cache), ['i1?', 'i1!', 'i3?']);
    const [entry] = await cache.outbox.list(KEY);
    assert.equal(entry?.error, undefined);
    assert.equal(entry?.events.length, 2);
    agent.isRunning = false;
    await cache.sync();
    assert.deepEqual(await shown(server.service), ['i1?', 'i1!', 'i3?']);
    await cache.close();
  });

  it('whose answer is lost is stored once', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    server.lostResponses = 2;
    await rewind(cache, { ...KEY, ...place });
    await until(async () => {
      await cache.sync().catch(() => undefined);
      return untilSent(cache);
    });
    assert.equal((await server.service.getSession(KEY))?.events.length, 5);
    assert.equal((await cache.getSession(KEY))?.events.length, 5);
    await cache.close();
  });

  it('survives a reload before it is sent', async () => {
    const { server, cache, local } = await openTurns('i1', 'i2');
    server.isOffline = true;
    await rewind(cache, { ...KEY, ...place });
    await cache.close();
    const { cache: next } = openCache(server, { local });
    assert.deepEqual(await shown(next), ['i1?', 'i1!']);
    server.isOffline = false;
    await next.sync();
    assert.deepEqual(await shown(server.service), ['i1?', 'i1!']);
    await next.close();
  });

  it('is undone, and switched to another branch', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    const { event } = await rewind(cache, { ...KEY, ...place });
    await undoRewind(cache, KEY);
    assert.deepEqual(await shown(cache), ['i1?', 'i1!', 'i2?', 'i2!']);
    await cache.sync();
    const [turn] = await branches(cache, KEY);
    assert.equal(turn, undefined);
    await switchBranch(cache, { ...KEY, branch: event.invocationId });
    await cache.sync();
    assert.deepEqual(await shown(server.service), ['i1?', 'i1!', 'i2?', 'i2!']);
    await cache.close();
  });

  it('that the server refuses is set aside with the reason, and can be dropped', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    const { event } = await rewind(cache, { ...KEY, ...place });
    await cache.sync();
    server.isOffline = true;
    await undoRewind(cache, KEY);
    await rewind(server.service, { ...KEY, before: { invocationId: 'i1' } });
    server.isOffline = false;
    await cache.sync();
    const [entry] = await cache.outbox.list(KEY);
    assert.equal(entry?.error?.code, 'stale_session');
    await cache.outbox.drop(KEY);
    assert.deepEqual(await shown(cache), []);
    assert.ok((await cache.getSession(KEY))?.events.some(({ id }) => id === event.id));
    await cache.close();
  });
});

describe('An unsent event of a run that another device rewinds', () => {
  for (const isFetched of [false, true]) {
    it(`is refused, ${isFetched ? 'also ' : ''}if the rewind ${isFetched ? 'has' : 'has not'} reached the copy before`, async () => {
      const { server, cache } = await openTurns('i1', 'i2');
      const session = (await cache.getSession(KEY))!;
      server.isOffline = true;
      await cache.appendEvent({ session, event: { ...eventOf('late'), invocationId: 'i2' } });
      await cache.appendEvent({ session, event: { ...eventOf('next'), invocationId: 'i3' } });
      await rewind(server.service, { ...KEY, ...place });
      server.isOffline = false;
      if (isFetched) {
        server.intercept = ({ method }) =>
          method === 'POST' ? Promise.reject(new TypeError('lost')) : Promise.resolve(undefined);
        await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
        assert.deepEqual(await shown(cache), ['i1?', 'i1!', 'late', 'next']);
        server.intercept = undefined;
      }
      await cache.sync();
      const [entry] = await cache.outbox.list(KEY);
      assert.deepEqual([entry?.error?.code, entry?.error?.eventId], ['stale_session', 'late']);
      assert.deepEqual(await shown(server.service), ['i1?', 'i1!', 'next']);
      await cache.outbox.retry(KEY);
      await cache.sync();
      assert.deepEqual(await shown(server.service), ['i1?', 'i1!', 'next', 'late']);
      await cache.close();
    });
  }

  it('is not refused if it was stored before, and only its answer is lost', async () => {
    for (const isFetched of [false, true]) {
      const { server, cache } = await openTurns('i1', 'i2');
      const session = (await cache.getSession(KEY))!;
      server.lostResponses = 1;
      await cache.appendEvent({ session, event: { ...eventOf('late'), invocationId: 'i2' } });
      await until(async () => (await server.service.getSession(KEY))?.events.length === 5);
      server.isOffline = true;
      await rewind(server.service, { ...KEY, ...place });
      server.isOffline = false;
      if (isFetched) await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
      await cache.sync();
      assert.deepEqual(await cache.outbox.list(KEY), []);
      assert.deepEqual(await shown(server.service), ['i1?', 'i1!']);
      assert.deepEqual(await shown(cache), ['i1?', 'i1!']);
      await cache.close();
    }
  });

  it('leaves a message of a new run, which is stored behind the rewind', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    const session = (await cache.getSession(KEY))!;
    server.isOffline = true;
    await cache.appendEvent({ session, event: { ...eventOf('next'), invocationId: 'i3' } });
    await rewind(server.service, { ...KEY, ...place });
    server.isOffline = false;
    await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
    await cache.sync();
    assert.deepEqual(await shown(server.service), ['i1?', 'i1!', 'next']);
    assert.deepEqual(await shown(cache), ['i1?', 'i1!', 'next']);
    await cache.close();
  });
});

describe('An edit through a cache', () => {
  it('is one mutation with its message, also offline, and the title stays', async () => {
    const { server, cache } = await openTurns('i1');
    await server.service.updateSession(KEY, { title: 'user i1' });
    await cache.getSession({ ...KEY, config: {} });
    await cache.sync();
    await until(async () => (await cache.getSession(KEY))?.title === 'user i1');
    server.isOffline = true;
    const chat = liveSession(cache, KEY);
    const message = await chat.edit('i1?', { role: 'user', parts: [{ text: 'Tea?' }] });
    assert.deepEqual(await shown(cache), [message.id]);
    assert.equal((await cache.getSession(KEY))?.title, 'user i1');
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(await shown(server.service), [message.id]);
    assert.equal((await server.service.getSession(KEY))?.title, 'user i1');
    assert.equal(server.requests.filter((one) => one.includes('/events')).length, 0);
    assert.ok(untilSent(cache));
    await cache.close();
  });
});

describe('A copy that has not the whole session', () => {
  const many = Array.from({ length: 200 }, (_, at) => `i${at}`);

  async function openWindow() {
    const { server, agent } = serve();
    await seed(server, ...many);
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 10 } });
    return { server, agent, cache };
  }

  it('stores a rewind offline whose place it has, and names the keys that it does not know', async () => {
    const { server, cache } = await openWindow();
    server.isOffline = true;
    const { unknownKeys } = await rewind(cache, { ...KEY, before: { invocationId: 'i198' } });
    assert.deepEqual(unknownKeys, ['i198', 'i199']);
    server.isOffline = false;
    await cache.sync();
    assert.equal((await stateOf(server.service))?.turn, 198);
    assert.equal((await stateOf(cache))?.i150, true);
    assert.equal((await stateOf(cache))?.i199, undefined);
    await cache.close();
  });

  it('refuses a rewind offline to a place that it lacks, and fetches that online', async () => {
    const { server, cache } = await openWindow();
    const before = { invocationId: 'i3' };
    server.isOffline = true;
    await assert.rejects(rewind(cache, { ...KEY, before }), (error) => {
      return isSessionError(error, 'connection_lost') && error.missing === 'events';
    });
    server.isOffline = false;
    await rewind(cache, { ...KEY, before });
    await cache.sync();
    assert.deepEqual((await shown(server.service))?.length, 6);
    await cache.close();
  });

  it('asks the server for branches and states of the past', async () => {
    const { server, cache } = await openWindow();
    await rewind(server.service, { ...KEY, before: { invocationId: 'i4' } });
    const requests = server.requests.length;
    const [turn] = await branches(cache, KEY);
    assert.deepEqual(turn?.alternatives.length, 1);
    assert.equal((await stateAt(cache, { ...KEY, eventId: 'i7!' })).state.turn, 8);
    const asked = server.requests.slice(requests);
    assert.ok(
      asked.some((one) => one.endsWith('/branches')) && asked.some((one) => one.endsWith('/state')),
    );
    await cache.close();
  });
});

describe('A fork through a cache', () => {
  it('waits for what its session has unsent, and is made by the server', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    const session = (await cache.getSession(KEY))!;
    await cache.appendEvent({ session, event: said('user', 'i3') });
    const newSessionId = 'forked';
    const forking = fork(cache, { ...KEY, newSessionId, at: { eventId: 'i3?' } });
    const forked = await forking;
    assert.equal(forked.events.length, 5);
    const stored = await server.service.getSession({ ...KEY, sessionId: newSessionId });
    assert.deepEqual(idsOf(stored), idsOf(forked));
    await cache.close();
  });

  it('keeps the messages of the new session waiting until it is made', async () => {
    const { server, cache } = await openTurns('i1', 'i2');
    const newKey = { ...KEY, sessionId: 'forked' };
    const forking = fork(cache, { ...KEY, newSessionId: 'forked', at: { eventId: 'i1!' } });
    await cache.updateState({ ...newKey, stateDelta: { later: true } });
    await forking;
    await cache.sync();
    const stored = await server.service.getSession(newKey);
    assert.equal(stored?.events.length, 3);
    assert.equal(stored?.state.later, true);
    await cache.close();
  });

  it('fails offline, because a copy may lack events', async () => {
    const { server, cache } = await openTurns('i1');
    server.isOffline = true;
    await assert.rejects(fork(cache, { ...KEY, at: { eventId: 'i1?' } }), (error) => {
      return (
        hasCode('connection_lost')(error) && (error as { missing?: unknown }).missing === 'events'
      );
    });
    await cache.close();
  });
});
