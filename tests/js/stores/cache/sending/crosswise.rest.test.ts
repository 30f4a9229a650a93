// Several sessions and updates of states write the same shared keys without a connection, in any order. What is written
// last stays: on the remote and in the cache.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import type { Session, SessionService } from '../../../../../js/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { event, KEY, openCache, Server, until, USER } from '../fixture.js';

const KEYS = [KEY, { ...KEY, sessionId: 's2' }, { ...KEY, sessionId: 's3', userId: 'bob' }];

interface Write {
  /** The number of a session. One more than there are: an update of the user's state. */
  readonly by: number;
  readonly names: readonly string[];
  /** Whether the next write begins only after this one. */
  readonly isAwaited: boolean;
  /** Whether the page is loaded again after it. */
  readonly isReloaded: boolean;
}

/** Returns the states of both users and of the app, their keys in one order. */
async function statesOf(service: SessionService): Promise<unknown> {
  const { appName } = USER;
  const users = ['ada', 'bob'].map((userId) => service.getUserState({ appName, userId }));
  const states = await Promise.all([...users, service.getAppState({ appName })]);
  return states.map((state) => Object.fromEntries(Object.entries(state).sort()));
}

/** Writes without a connection, sends everything, and compares the remote with what was there before. */
async function requireLastValues(writes: readonly Write[], isReloaded: boolean): Promise<void> {
  const server = new Server();
  let { cache, local } = openCache(server);
  let sessions: Session[] = [];
  for (const key of KEYS) sessions.push(await cache.createSession(key));
  await cache.sync();
  server.isOffline = true;
  let pending: Promise<unknown>[] = [];
  const reload = async (): Promise<void> => {
    await Promise.all(pending);
    pending = [];
    await cache.close();
    ({ cache, local } = openCache(server, { local }));
    const read = (key: typeof KEY) =>
      cache.getSession({ ...key, config: { reads: 'cache-only' } }) as Promise<Session>;
    sessions = await Promise.all(KEYS.map(read));
  };
  for (const [value, { by, names, isAwaited, isReloaded }] of writes.entries()) {
    const stateDelta = Object.fromEntries(names.map((name) => [name, value]));
    const session = sessions[by];
    const written = session
      ? cache.appendEvent({ session, event: event(`e${value}`, stateDelta) })
      : cache.updateState({ ...USER, stateDelta });
    pending.push(written);
    if (isAwaited) await written;
    if (isReloaded) await reload();
  }
  await Promise.all(pending);
  const last = await statesOf(cache);
  if (isReloaded) await reload();
  await requireSent(server, cache);
  assert.deepEqual(await statesOf(server.service), last);
  assert.deepEqual(await statesOf(cache), last);
  await cache.close();
}

async function requireSent(server: Server, cache: CachedSessionService): Promise<void> {
  await until(() => !cache.status.isSending);
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(cache.status.pending, []);
}

const set = (by: number, ...names: string[]): Write => ({
  by,
  names,
  isAwaited: true,
  isReloaded: false,
});
const UPDATE = KEYS.length;

const KNOWN: Readonly<Record<string, readonly Write[]>> = {
  'two sessions': [set(0, 'user:x'), set(1, 'user:x', 'user:y'), set(0, 'user:y')],
  'a session and updates': [set(UPDATE, 'user:x', 'user:y'), set(0, 'user:x'), set(UPDATE, 'user:y')], // prettier-ignore
};

for (const [who, writes] of Object.entries(KNOWN)) {
  for (const isReloaded of [false, true]) {
    const when = isReloaded ? ', also after a reload' : '';
    it(`the last values stay if ${who} write two keys crosswise${when}`, () =>
      requireLastValues(writes, isReloaded));
  }
}

it('the last values stay in whatever order sessions and updates write them', async () => {
  const write = fc.record({
    by: fc.nat(UPDATE),
    names: fc.uniqueArray(fc.constantFrom('user:x', 'user:y', 'app:z'), { minLength: 1 }),
    isAwaited: fc.boolean(),
    isReloaded: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  });
  const writes = fc.array(write, { minLength: 3, maxLength: 9 });
  await fc.assert(fc.asyncProperty(writes, fc.boolean(), requireLastValues), { numRuns: 60 });
});
