// Writes of one key that were never sent become one.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { Session } from '../../../../../js/index.js';
import { rewind } from '../../../../../js/core/history/index.js';
import type { CachedSessionService, LocalStore } from '../../../../../js/service/cache/index.js';
import { isOf, type Operation } from '../../../../../js/stores/cache/records/records.js';
import { event, hasCode, KEY, openCache, Server, until, USER } from '../fixture.js';
import { Gate } from '../held_store.js';

const S2 = { ...KEY, sessionId: 's2' };

/** A cache of two sessions. A change of a state and one of a session were sent without an answer, and stay. */
async function openBehind(server: Server, options: Parameters<typeof openCache>[1] = {}) {
  const { cache, local } = openCache(server, options);
  const first = await cache.createSession(KEY);
  const second = await cache.createSession(S2);
  await cache.sync();
  server.isOffline = true;
  await cache.updateState({ ...USER, stateDelta: { 'user:sent': 1 } });
  await cache.updateSession(KEY, { labels: { sent: 'yes' } });
  await assert.rejects(cache.sync());
  return { cache, local, sessions: [first, second] as const };
}

/** Returns the operations that are stored. */
async function operationsOf(local: LocalStore): Promise<Operation[]> {
  const all = { from: ['ada', '\0'], to: ['ada\0'] };
  const stored = await local.transaction('readonly', (transaction) =>
    transaction.list('outbox', all),
  );
  return stored as Operation[];
}

/** Returns what the stored updates of states set, in their order. */
async function updatesOf(local: LocalStore): Promise<Record<string, unknown>[]> {
  return (await operationsOf(local)).flatMap((operation) =>
    isOf(operation, 'update') ? [JSON.parse(operation.write.delta) as Record<string, unknown>] : [],
  );
}

/** Refuses requests whose body has this text. */
function refuse(server: Server, text: string): void {
  server.intercept = async (request) => {
    if (request.method === 'GET' || !(await request.text()).includes(text)) return undefined;
    return Response.json({ code: 'schema_violation', detail: 'No.' }, { status: 422 });
  };
}

/** Lets everything be sent. @returns the bodies of the requests that change a state, a title or labels */
async function bodiesOf(server: Server, cache: CachedSessionService): Promise<unknown[]> {
  const bodies: unknown[] = [];
  server.intercept = async (request) => {
    if (request.method === 'PATCH') bodies.push(await request.json());
    return undefined;
  };
  server.isOffline = false;
  await cache.sync();
  return bodies;
}

const set = (cache: CachedSessionService, stateDelta: Record<string, unknown>) =>
  cache.updateState({ ...USER, stateDelta });

it('only the last of many unsent values of a key is sent', async () => {
  const server = new Server();
  const { cache } = await openBehind(server);
  for (let volume = 0; volume < 50; volume += 1) await set(cache, { 'user:volume': volume });
  const bodies = await bodiesOf(server, cache);
  assert.deepEqual(
    bodies.filter((body) => JSON.stringify(body).includes('volume')),
    [{ stateDelta: { 'user:volume': 49 } }],
  );
  assert.deepEqual(await server.service.getUserState(USER), { sent: 1, volume: 49 });
  assert.deepEqual(await cache.getUserState(USER), { sent: 1, volume: 49 });
  await cache.close();
});

it('only the last of many unsent titles and labels are sent', async () => {
  const server = new Server();
  const { cache, sessions } = await openBehind(server);
  const labels = { kind: 'tea' };
  await cache.updateSession(KEY, { title: 'One', labels });
  await cache.appendEvent({ session: sessions[0], event: event('e1') });
  await cache.updateSession(KEY, { title: 'Two' });
  await cache.updateSession(KEY, { title: 'Three' });
  assert.equal((await cache.getSession(KEY))?.title, 'Three');
  const bodies = await bodiesOf(server, cache);
  assert.equal(bodies.length, 3);
  assert.deepEqual(
    bodies.filter((body) => JSON.stringify(body).includes('Three')),
    [{ title: 'Three', labels }],
  );
  const session = await server.service.getSession(KEY);
  assert.deepEqual([session?.title, session?.labels], ['Three', labels]);
  await cache.close();
});

it('the other values of an earlier change move into the later one', async () => {
  const server = new Server();
  const { cache, local } = await openBehind(server);
  await set(cache, { 'user:name': 'Ada', 'user:color': 'red', 'app:motd': 'hi' });
  await set(cache, { 'user:other': 1 });
  await set(cache, { 'user:color': 'blue' });
  assert.deepEqual(await updatesOf(local), [
    { 'user:sent': 1 },
    { 'user:other': 1 },
    { 'user:name': 'Ada', 'user:color': 'blue', 'app:motd': 'hi' },
  ]);
  await bodiesOf(server, cache);
  const expected = { sent: 1, other: 1, name: 'Ada', color: 'blue' };
  assert.deepEqual(await server.service.getUserState(USER), expected);
  assert.deepEqual(await server.service.getAppState(USER), { motd: 'hi' });
  await cache.close();
});

type Between = (cache: CachedSessionService, session: Session) => Promise<unknown>;

/** What keeps two changes of a user's name apart. */
const between: Readonly<Record<string, Between>> = {
  'an append that writes the key': (cache, session) =>
    cache.appendEvent({ session, event: event('e1', { 'user:name': 'between' }) }),
  'a creation that writes the key': (cache) =>
    cache.createSession({ ...KEY, sessionId: 's3', state: { 'user:name': 'between' } }),
  'a deletion of the state': (cache) => cache.deleteUserState(USER),
};

for (const [what, write] of Object.entries(between)) {
  it(`two changes of a key with ${what} between them are not joined, and all are sent in order`, async () => {
    const server = new Server();
    const { cache, local, sessions } = await openBehind(server);
    await set(cache, { 'user:name': 'first' });
    await write(cache, sessions[1]);
    await set(cache, { 'user:name': 'second' });
    await set(cache, { 'user:name': 'last' });
    const names = (await updatesOf(local)).map((delta) => delta['user:name']);
    assert.deepEqual(names, [undefined, 'first', 'last']);
    await bodiesOf(server, cache);
    assert.equal((await server.service.getUserState(USER))?.name, 'last');
    assert.deepEqual(await cache.outbox.list(), []);
    await cache.close();
  });
}

it('two changes of a key with an append without the key between them are joined', async () => {
  const server = new Server();
  const { cache, local, sessions } = await openBehind(server);
  await set(cache, { 'user:name': 'first' });
  await cache.appendEvent({ session: sessions[1], event: event('e1', { 'user:color': 'red' }) });
  await set(cache, { 'user:name': 'last' });
  const names = (await updatesOf(local)).map((delta) => delta['user:name']);
  assert.deepEqual(names, [undefined, 'last']);
  await cache.close();
});

it('two titles with a rewind between them are not joined', async () => {
  const server = new Server();
  const { cache, local, sessions } = await openBehind(server);
  await cache.appendEvent({ session: sessions[1], event: event('e1') });
  await cache.updateSession(S2, { title: 'One' });
  await rewind(cache, { ...S2, before: { invocationId: 'i1' } });
  await cache.updateSession(S2, { title: 'Two' });
  const titles = (await operationsOf(local)).flatMap((operation) => isOf(operation, 'describe') ? [operation.write.title ?? ''] : []); // prettier-ignore
  assert.deepEqual(titles, ['', 'One', 'Two']);
  await bodiesOf(server, cache);
  assert.equal((await server.service.getSession(S2))?.title, 'Two');
  await cache.close();
});

it('a change that was sent without an answer is not joined', async () => {
  const server = new Server();
  const { cache, local } = await openBehind(server);
  await set(cache, { 'user:sent': 2 });
  assert.deepEqual(await updatesOf(local), [{ 'user:sent': 1 }, { 'user:sent': 2 }]);
  await cache.close();
});

it('a refused change is not joined with one behind it', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  refuse(server, 'bad');
  await set(cache, { 'user:name': 'bad' });
  await cache.sync();
  server.isOffline = true;
  // After an attempt that has failed, the next ones wait.
  await set(cache, { 'user:tea': 'green' });
  await until(() => !cache.status.isOnline && !cache.status.isSending);
  await set(cache, { 'user:name': 'good' });
  await set(cache, { 'user:name': 'better' });
  assert.deepEqual(await updatesOf(local), [
    { 'user:name': 'bad' },
    { 'user:tea': 'green' },
    { 'user:name': 'better' },
  ]);
  await cache.close();
});

const changes: Readonly<
  Record<string, (cache: CachedSessionService, value: string) => Promise<unknown>>
> = {
  'a state': (cache, name) => set(cache, { 'user:name': name }),
  'a title': (cache, title) => cache.updateSession(KEY, { title }),
};

for (const [what, change] of Object.entries(changes)) {
  for (const isRefused of [false, true]) {
    it(`a call that waits for ${what} waits for the later one of another tab, which the remote ${isRefused ? 'refuses' : 'takes'}`, async () => {
      const server = new Server();
      const { cache, local } = openCache(server, { write: 'through' });
      await cache.createSession(KEY);
      const gate = new Gate();
      server.intercept = async (request) => {
        const text = request.method === 'PATCH' ? await request.text() : '';
        if (text.includes('held')) await gate.pass();
        if (!isRefused || !text.includes('later')) return undefined;
        return Response.json({ code: 'schema_violation', detail: 'No.' }, { status: 422 });
      };
      const other = openCache(server, { local }).cache;
      const held = change(cache, 'held');
      await until(() => gate.isReached);
      const earlier = change(cache, 'earlier');
      let isSettled = false;
      earlier.then(
        () => (isSettled = true),
        () => (isSettled = true),
      );
      await until(async () => (await operationsOf(local)).length === 2);
      await change(other, 'later');
      await until(async () => JSON.stringify(await operationsOf(local)).includes('later'));
      assert.equal((await operationsOf(local)).length, 2);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(isSettled, false);
      gate.open();
      await held;
      if (isRefused) await assert.rejects(earlier, hasCode('schema_violation'));
      else await earlier;
      await other.close();
      await cache.close();
    });
  }
}
