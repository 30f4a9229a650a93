// Calls that wait for the remote: writes with `write: 'through'`, and runs.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { isSessionError } from '../../../../../js/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { event, hasCode, KEY, openCache, Server, until, USER } from '../fixture.js';

/** Refuses requests whose body has this text. */
function refuse(server: Server, text: string): void {
  server.intercept = async (request) => {
    if (request.method === 'GET' || !(await request.text()).includes(text)) return undefined;
    return Response.json({ code: 'schema_violation', detail: 'No.' }, { status: 422 });
  };
}

it("a state that the remote refuses makes a write with write 'through' reject", async () => {
  const server = new Server();
  const { cache } = openCache(server, { write: 'through' });
  refuse(server, 'bad');
  await assert.rejects(
    cache.updateState({ ...USER, stateDelta: { 'user:name': 'bad' } }),
    hasCode('schema_violation'),
  );
  assert.equal((await cache.outbox.list())[0]?.error?.code, 'schema_violation');
  await cache.close();
});

type Call = (cache: CachedSessionService, signal: AbortSignal) => Promise<unknown>;

/** Calls whose change the cache stores before it waits for the remote. */
const CALLS: Readonly<Record<string, Call>> = {
  createSession: (cache, signal) => cache.createSession({ ...KEY, sessionId: 's2', signal }),
  appendEvent: async (cache, signal) => {
    const session = await cache.getSession({ ...KEY, config: { reads: 'cache-only' } });
    return cache.appendEvent({ session: session!, event: event('e1'), signal });
  },
  updateSession: (cache, signal) => cache.updateSession({ ...KEY, signal }, { title: 'Tea' }),
  updateState: (cache, signal) =>
    cache.updateState({ ...USER, stateDelta: { 'user:n': 1 }, signal }),
  deleteSession: (cache, signal) => cache.deleteSession({ ...KEY, signal }),
  deleteUserState: (cache, signal) => cache.deleteUserState({ ...USER, signal }),
};

for (const [name, call] of Object.entries(CALLS)) {
  it(`${name} with write 'through' stops waiting when its signal fires, and the change is sent later`, async () => {
    const server = new Server();
    const { cache } = openCache(server, { write: 'through' });
    await cache.createSession(KEY);
    let open!: () => void;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let isHeld = false;
    server.intercept = async ({ method }) => {
      if (method === 'GET' && name !== 'deleteSession') return undefined;
      isHeld = true;
      await opened;
      return undefined;
    };
    const controller = new AbortController();
    const reason = new Error('The user left.');
    const waiting = assert.rejects(
      call(cache, controller.signal),
      (error) => isSessionError(error, 'aborted') && error.cause === reason,
    );
    await until(() => isHeld);
    controller.abort(reason);
    await waiting;
    assert.equal(cache.status.pending.length, 1);
    open();
    await cache.sync();
    assert.deepEqual(cache.status.pending, []);
    await cache.close();
  });
}

for (const [name, call] of Object.entries(CALLS)) {
  it(`${name} with write 'through' rejects if the local data is forgotten before the remote has answered`, async () => {
    const server = new Server();
    const { cache } = openCache(server, { write: 'through' });
    await cache.createSession(KEY);
    let answer: (() => void) | undefined;
    server.intercept = ({ method }) => {
      if (method === 'GET' && name !== 'deleteSession') return Promise.resolve(undefined);
      return new Promise((resolve) => (answer = () => resolve(undefined)));
    };
    const { signal } = new AbortController();
    const waiting = assert.rejects(call(cache, signal), hasCode('aborted'));
    await until(() => answer !== undefined);
    await cache.forget();
    await waiting;
    answer!();
    await cache.close();
  });
}

/** Answers like `adk api_server`, and creates sessions late. @returns the paths of the requests that write */
function serveAgents(server: Server, createStatus: number): string[] {
  server.isHandler = false;
  const writes: string[] = [];
  const stored = { id: 's1', ...USER, state: {}, events: [], lastUpdateTime: 1 };
  let isCreated = false;
  server.intercept = async ({ method, url }) => {
    const { pathname } = new URL(url);
    if (pathname.endsWith('/version')) return Response.json({ language: 'python' });
    if (method === 'GET') {
      return isCreated
        ? Response.json(stored)
        : Response.json({ detail: 'Session not found' }, { status: 404 });
    }
    writes.push(pathname.replace(/.*\//, ''));
    if (pathname.endsWith('/run_sse')) {
      if (!isCreated) return Response.json({ detail: 'Session not found' }, { status: 404 });
      return new Response('', { headers: { 'content-type': 'text/event-stream' } });
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (createStatus !== 200) return Response.json({ detail: 'No.' }, { status: createStatus });
    isCreated = true;
    return Response.json(stored);
  };
  return writes;
}

const newMessage = { role: 'user', parts: [{ text: 'hi' }] };

async function run(cache: CachedSessionService, signal?: AbortSignal): Promise<void> {
  for await (const { id } of cache.run({ ...KEY, newMessage, signal })) assert.fail(id);
}

it('run waits until the remote has a session that was created locally', async () => {
  const server = new Server();
  const writes = serveAgents(server, 200);
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  await run(cache);
  assert.deepEqual(writes, ['sessions', 'run_sse']);
  await cache.close();
});

it('a run that ends because a login has expired is told in all tabs', async () => {
  const server = new Server();
  serveAgents(server, 200);
  const { cache, local } = openCache(server);
  const { cache: other } = openCache(server, { local });
  await cache.createSession(KEY);
  await run(cache);
  const answer = server.intercept!;
  server.intercept = (request) =>
    request.url.endsWith('/run_sse')
      ? Promise.resolve(Response.json({ detail: 'Log in.' }, { status: 401 }))
      : answer(request);
  const told: boolean[] = [];
  other.watchStatus(({ isSignedOut }) => told.push(isSignedOut));
  await assert.rejects(run(cache), { code: 'remote', status: 401 });
  // The next answer says that the login is valid.
  await until(() => told.includes(true) && !other.status.isSignedOut);
  await Promise.all([cache.close(), other.close()]);
});

it('run rejects with the reason why the remote refused its session', async () => {
  const server = new Server();
  const writes = serveAgents(server, 400);
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  await assert.rejects(run(cache), hasCode('remote'));
  assert.deepEqual(writes, ['sessions']);
  await cache.close();
});

it('run stops waiting for its session when its signal fires', async () => {
  const server = new Server();
  server.intercept = () => Promise.reject(new TypeError('fetch failed'));
  const { cache } = openCache(server);
  server.isOffline = true;
  await cache.createSession(KEY);
  await assert.rejects(run(cache, AbortSignal.abort()), hasCode('aborted'));
  await cache.close();
});
