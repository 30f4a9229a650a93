// Messages through a cache to the agent of a real handler: one message is one event and one run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { createEvent, InMemorySessionService } from '../../../../../js/index.js';
import { RUN_STORE } from '../../../../../js/service/runs/agent/run_context.js';
import { storesMessage } from '../../../ui/live/runs/agents.js';
import { coreOf } from '../../../../../js/core/core_of.js';
import { requireHistory } from '../../../../../js/core/history/histories.js';
import { idsOf, KEY, openCache, Server, until, untilSent } from '../fixture.js';

const OTHER = { ...KEY, sessionId: 's2' };
const run = { streaming: false };

const message = (id: string) =>
  createEvent({
    id,
    invocationId: `of ${id}`,
    author: 'user',
    content: { role: 'user', parts: [{ text: `say ${id}` }] },
  });

/** A server whose agent answers each message once `gate` is open. */
function serve({ change, maxRuns }: { change?: (id: string) => string; maxRuns?: number } = {}) {
  const runs: string[] = [];
  const gate = { isOpen: true };
  const agent = storesMessage(async function* (context) {
    const { message, signal } = context;
    runs.push(message.id);
    const content = change && { role: 'user', parts: [{ text: change(message.id) }] };
    const { service } = context;
    const session = (await service.getSession(context))!;
    await context[RUN_STORE]!.storeMessage({ service, session, message, content });
    while (!gate.isOpen && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    if (signal.aborted) return;
    yield {
      id: `${message.id}!`,
      author: 'guide',
      content: { role: 'model', parts: [{ text: 'yes' }] },
    };
  });
  const options = { authorize: () => true as const, run: agent, maxRuns };
  const server = new Server(new InMemorySessionService(), options);
  return { server, runs, gate };
}

const storedIds = async ({ service }: Server) => idsOf(await service.getSession(KEY)) ?? [];

/** Ends each answer of the server to an append after so many characters. */
function cutAnswer(server: Server, length: number): { cuts: number } {
  const cut = { cuts: 0 };
  server.intercept = async (request) => {
    if (!request.url.endsWith('/events') || cut.cuts > 0) return undefined;
    const answer = await server.send(request.clone());
    cut.cuts += 1;
    const text = (await answer.text()).slice(0, length);
    return new Response(text, { status: answer.status, headers: answer.headers });
  };
  return cut;
}

describe('Messages that a cache sends to the agent of its remote', () => {
  it('are refused before they are stored if the remote would refuse them for ever', async () => {
    const { server } = serve();
    const { cache } = openCache(server);
    server.isOffline = true;
    const session = await cache.createSession(KEY);
    const refused = async (key: string, event: object, expected?: object): Promise<void> => {
      const request = { session, event: { ...message('m1'), ...event }, run, ...expected };
      await assert.rejects(cache.appendEvent(request), { code: 'invalid_argument', key });
    };
    await refused('event.author', { author: 'guide' });
    await refused('event.content', { content: { role: 'user', parts: [] } });
    await refused('event', { partial: true });
    await refused('expectedEvents', {}, { expectedEvents: { m1: 7 } });
    assert.deepEqual((await cache.getSession(KEY))?.events, []);
    await cache.appendEvent({ session, event: message('m1'), run, expectedEvents: { m1: null } });
    server.isOffline = false;
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 2);
  });

  it('offline become one event and one run each, in order, behind the creation of their session', async () => {
    const { server, runs } = serve();
    const { cache } = openCache(server);
    server.isOffline = true;
    const session = await cache.createSession(KEY);
    for (const id of ['m1', 'm2', 'm3'])
      await cache.appendEvent({ session, event: message(id), run });
    assert.deepEqual(runs, []);
    server.isOffline = false;
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 6);
    assert.deepEqual(await storedIds(server), ['m1', 'm1!', 'm2', 'm2!', 'm3', 'm3!']);
    assert.deepEqual(runs, ['m1', 'm2', 'm3']);
    assert.equal(cache.status.lastError, undefined);
    await until(async () => idsOf(await cache.getSession(KEY))?.length === 6);
    assert.deepEqual(await cache.getSession(KEY), await server.client().getSession(KEY));
    await cache.close();
  });

  it('give their session the title that autoTitle of the cache makes', async () => {
    const { server } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server, { autoTitle: true });
    const session = (await cache.getSession(KEY))!;
    await cache.appendEvent({ session, event: message('m1'), run });
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 2);
    assert.equal((await server.service.getSession(KEY))?.title, 'say m1');
    await cache.close();
  });

  it('wait while another run is under way, without holding up another session', async () => {
    const { server, runs, gate } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    gate.isOpen = false;
    await cache.appendEvent({ session, event: message('m1'), run });
    await cache.appendEvent({ session, event: message('m2'), run });
    await until(() => runs.length === 1);
    const other = await cache.createSession(OTHER);
    await cache.appendEvent({ session: other, event: message('o1') });
    await until(async () => idsOf(await server.service.getSession(OTHER))?.length === 1);
    assert.deepEqual([runs, cache.status.lastError], [['m1'], undefined]);
    assert.equal((await cache.outbox.list(KEY))[0]?.error, undefined);
    gate.isOpen = true;
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 4);
    assert.deepEqual(await storedIds(server), ['m1', 'm1!', 'm2', 'm2!']);
    await cache.close();
  });

  it('wait while the server runs as many agents as it may, which is no outage', async () => {
    const { server, runs, gate } = serve({ maxRuns: 1 });
    const { cache } = openCache(server);
    const [session, other] = [await cache.createSession(KEY), await cache.createSession(OTHER)];
    gate.isOpen = false;
    await cache.appendEvent({ session: other, event: message('o1'), run });
    await until(() => runs.length === 1);
    const refused: number[] = [];
    server.intercept = async (request) => {
      const answer = await server.send(request);
      if (answer.status === 503) refused.push(answer.status);
      return answer;
    };
    await cache.appendEvent({ session, event: message('m1'), run });
    await until(() => refused.length === 1);
    await cache.updateState({ ...OTHER, stateDelta: { isSent: true } });
    await until(async () => (await server.service.getSession(OTHER))?.state.isSent === true);
    assert.deepEqual([cache.status.isOnline, cache.status.lastError], [true, undefined]);
    assert.deepEqual([refused.length, runs], [1, ['o1']]);
    gate.isOpen = true;
    await until(async () => idsOf(await server.service.getSession(OTHER))?.length === 2);
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 2);
    assert.deepEqual(runs, ['o1', 'm1']);
    await cache.close();
  });

  it('are sent when the remote tells that the run before has ended', async (t) => {
    const { server, runs, gate } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    await until(() => server.feedRequests === 1);
    gate.isOpen = false;
    await cache.appendEvent({ session, event: message('m1'), run });
    await until(() => runs.length === 1 && untilSent(cache));
    // No pause ends by itself: the report of the end is all that can send the message.
    const begin = globalThis.setTimeout;
    t.mock.method(globalThis, 'setTimeout', (call: () => void, pause: number) =>
      begin(call, pause < 200 ? pause : 1_000_000).unref(),
    );
    await cache.appendEvent({ session, event: message('m2'), run });
    await until(() => server.requests.filter((one) => one.endsWith('/events')).length === 2);
    gate.isOpen = true;
    await until(async () => (await storedIds(server)).length === 4);
    assert.deepEqual(runs, ['m1', 'm2']);
    t.mock.restoreAll();
    await cache.close();
  });

  it('after too_many_runs are sent when a run of any session of the user has ended', async (t) => {
    const { server, runs, gate } = serve({ maxRuns: 1 });
    for (const key of [KEY, OTHER]) await server.service.createSession(key);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    const other = (await cache.getSession(OTHER))!;
    await until(() => server.feedRequests === 1);
    gate.isOpen = false;
    await cache.appendEvent({ session: other, event: message('o1'), run });
    await until(() => runs.length === 1 && untilSent(cache));
    const begin = globalThis.setTimeout;
    t.mock.method(globalThis, 'setTimeout', (call: () => void, pause: number) =>
      begin(call, pause < 200 ? pause : 1_000_000).unref(),
    );
    const sent = () => server.requests.filter((one) => one.endsWith('/events')).length;
    await cache.appendEvent({ session, event: message('m1'), run });
    await until(() => sent() === 2);
    gate.isOpen = true;
    await until(async () => (await storedIds(server)).length === 2);
    assert.deepEqual([runs, sent()], [['o1', 'm1'], 3]);
    t.mock.restoreAll();
    await cache.close();
  });

  it('run once if the answer is lost after any number of characters', async () => {
    for (let length = 0; length < 400; length += 7) {
      const { server, runs } = serve();
      await server.service.createSession(KEY);
      const { cache } = openCache(server);
      const session = (await cache.getSession(KEY))!;
      const cut = cutAnswer(server, length);
      await cache.appendEvent({ session, event: message('m1'), run });
      await until(async () => {
        await cache.sync().catch(() => undefined);
        return untilSent(cache);
      });
      assert.equal(cut.cuts, 1);
      await until(async () => (await storedIds(server)).length === 2);
      assert.deepEqual([runs, await storedIds(server)], [['m1'], ['m1', 'm1!']], `${length}`);
      await until(async () => idsOf(await cache.getSession(KEY))?.length === 2);
      await cache.close();
    }
  });

  it('are shown as the agent has stored them', async () => {
    const { server } = serve({ change: (id) => `changed ${id}` });
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    await cache.appendEvent({ session, event: message('m1'), run });
    const isChanged = async () =>
      (await cache.getSession(KEY))?.events[0]?.content?.parts?.[0]?.text === 'changed m1';
    await cache.sync();
    await until(isChanged);
    await until(async () => (await storedIds(server)).length === 2);
    assert.deepEqual(cache.status.pending, []);
    await cache.close();
  });

  it('with the same id twice are one event and one run', async () => {
    const { server, runs } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    server.isOffline = true;
    await cache.appendEvent({ session, event: message('m1'), run });
    const again = { ...message('m1'), content: { role: 'user', parts: [{ text: 'other' }] } };
    const stored = await cache.appendEvent({ session, event: again, run });
    assert.equal(stored.content?.parts?.[0]?.text, 'say m1');
    server.isOffline = false;
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 2);
    assert.deepEqual(runs, ['m1']);
    await cache.close();
  });

  it('in two tabs run once each, also if the leading tab ends', async () => {
    const { server, runs } = serve();
    await server.service.createSession(KEY);
    const local = new MemoryLocalStore();
    const { cache: first } = openCache(server, { local });
    const { cache: second } = openCache(server, { local });
    const sessions = [await first.getSession(KEY), await second.getSession(KEY)] as const;
    server.isOffline = true;
    await first.appendEvent({ session: sessions[0]!, event: message('m1'), run });
    await second.appendEvent({ session: sessions[1]!, event: message('m2'), run });
    await first.appendEvent({ session: sessions[0]!, event: message('m3'), run });
    server.lostResponses = 2;
    server.isOffline = false;
    const leading = first.sync().catch(() => undefined);
    await first.close();
    await leading;
    await until(async () => {
      await second.sync().catch(() => undefined);
      return untilSent(second);
    });
    await until(async () => (await storedIds(server)).length === 6);
    assert.deepEqual(await storedIds(server), ['m1', 'm1!', 'm2', 'm2!', 'm3', 'm3!']);
    assert.deepEqual(runs, ['m1', 'm2', 'm3']);
    await second.close();
  });

  it('are stored with a rewind in one request', async () => {
    const { server, runs } = serve();
    const theirs = await server.service.createSession(KEY);
    await server.service.appendEvents({
      session: theirs,
      events: [message('m1'), { ...message('a1'), author: 'guide', invocationId: 'of m1' }],
    });
    const { cache } = openCache(server);
    await cache.getSession(KEY);
    server.isOffline = true;
    await requireHistory(cache).rewind({
      kind: 'rewind',
      key: KEY,
      marker: { id: 'r1', invocationId: 'of r1' },
      place: { turn: 'm1' },
      run,
      message: {
        id: 'm2',
        invocationId: 'of m2',
        content: { role: 'user', parts: [{ text: 'new' }] },
      },
    });
    server.isOffline = false;
    await cache.sync();
    await until(async () => (await storedIds(server)).includes('m2!'));
    assert.deepEqual(runs, ['m2']);
    await cache.close();
  });
});

describe('A cancelled message of the outbox', () => {
  it('that was not sent is given up', async () => {
    const { server, runs } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    server.isOffline = true;
    await cache.appendEvent({ session, event: message('m1'), run });
    await cache.appendEvent({ session, event: message('m2'), run });
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm1' }), true);
    assert.deepEqual(idsOf(await cache.getSession(KEY)), ['m2']);
    server.isOffline = false;
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 2);
    assert.deepEqual(runs, ['m2']);
    await cache.close();
  });

  it('that waits for another run is given up, and that run goes on', async () => {
    const { server, runs, gate } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    gate.isOpen = false;
    await cache.appendEvent({ session, event: message('m1'), run });
    await cache.appendEvent({ session, event: message('m2'), run });
    await until(
      () =>
        runs.length === 1 && server.requests.filter((one) => one.endsWith('/events')).length === 2,
    );
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm2' }), true);
    gate.isOpen = true;
    await cache.sync();
    await until(async () => (await storedIds(server)).length === 2);
    assert.deepEqual(await storedIds(server), ['m1', 'm1!']);
    await cache.close();
  });

  it('whose run is under way is cancelled on the server', async () => {
    const { server, runs, gate } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    gate.isOpen = false;
    await cache.appendEvent({ session, event: message('m1'), run });
    await until(() => runs.length === 1 && untilSent(cache));
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm1' }), true);
    assert.ok(!(await storedIds(server)).includes('m1!'));
    await cache.close();
  });

  it('that another device has cancelled before it came is given up, and those behind it run', async () => {
    const { server, runs } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    const other = coreOf(server.client()).serverAgent!;
    assert.equal(await other.cancel({ ...KEY, messageId: 'm1' }), false);
    await cache.appendEvent({ session, event: message('m1'), run });
    await cache.appendEvent({ session, event: message('m2'), run });
    await until(async () => (await storedIds(server)).length === 2);
    await until(() => untilSent(cache));
    assert.deepEqual([runs, await storedIds(server)], [['m2'], ['m2', 'm2!']]);
    assert.deepEqual([await cache.outbox.list(KEY), cache.status.lastError], [[], undefined]);
    await until(async () => idsOf(await cache.getSession(KEY))?.join() === 'm2,m2!');
    await cache.close();
  });

  it('whose request was lost on its way is given up', async () => {
    const { server, runs } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    let isLost = false;
    server.intercept = ({ url }) => {
      if (!url.endsWith('/events')) return Promise.resolve(undefined);
      isLost = true;
      return Promise.reject(new TypeError('fetch failed'));
    };
    await cache.appendEvent({ session, event: message('m1'), run });
    await until(() => isLost && !cache.status.isSending);
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm1' }), true);
    server.intercept = undefined;
    await cache.sync();
    assert.deepEqual([runs, await storedIds(server)], [[], []]);
    await cache.close();
  });

  it('that runs although its answer was lost is gone at once, and is cancelled after a reload', async () => {
    const { server, runs, gate } = serve();
    await server.service.createSession(KEY);
    const { cache, local } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    gate.isOpen = false;
    server.intercept = async (request) => {
      if (!request.url.endsWith('/events')) return undefined;
      server.isOffline = true;
      server.cutFeeds();
      await server.send(request);
      throw new TypeError('socket hang up');
    };
    await cache.appendEvent({ session, event: message('m1'), run });
    await until(() => runs.length === 1 && !cache.status.isSending);
    server.intercept = undefined;
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm1' }), true);
    assert.deepEqual(await cache.outbox.list(KEY), []);
    assert.deepEqual(idsOf(await cache.getSession(KEY)), []);
    await cache.appendEvent({ session, event: message('m2'), run });
    const [entry] = await cache.outbox.list(KEY);
    assert.deepEqual(
      entry?.changes.map(({ kind }) => kind),
      ['cancel', 'append'],
    );
    await cache.close({ timeoutMs: 100 });
    server.isOffline = false;
    const { cache: reopened } = openCache(server, { local });
    gate.isOpen = true;
    await reopened.sync();
    await until(async () => (await storedIds(server)).includes('m2!'));
    assert.deepEqual(runs, ['m1', 'm2']);
    const ids = await storedIds(server);
    assert.deepEqual([ids[0], ids.includes('m1!')], ['m1', false]);
  });

  it('of a session that the remote has deleted meanwhile is given up', async () => {
    const { server, runs } = serve();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    let isLost = false;
    server.intercept = ({ method }) => {
      if (method === 'DELETE') return Promise.resolve(undefined);
      isLost ||= method === 'POST';
      return Promise.reject(new TypeError('fetch failed'));
    };
    await cache.appendEvent({ session, event: message('m1'), run });
    await until(() => isLost && !cache.status.isSending);
    await server.service.deleteSession(KEY);
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm1' }), true);
    assert.deepEqual([runs, await cache.outbox.list(KEY)], [[], []]);
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'unknown' }), false);
    await cache.close();
  });
});
