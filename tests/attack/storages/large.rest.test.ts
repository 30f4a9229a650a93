// A storage with three scopes of the maximum size each: together they do not fit into the wasm.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService, isSessionError, openSessionService } from 'adk-session-wasm';
import type { Storage } from 'adk-session-wasm/storage';
import { wholeStorage } from '../../js/service/whole_storage.js';
import { outcomeOf, requireTypedError } from '../cases/oracle.js';
import { textEvent } from '../cases/world.js';

const LARGE = `{"large":"${'x'.repeat(127 * 2 ** 20)}"}`;

/** A storage that returns a large state in each scope of the app `large`. */
function largeStorage(): Storage {
  const storage = wholeStorage();
  const enlarge = <T>(rows: T): T => {
    const { session, user, app } = rows as Partial<Record<string, { state: string }>>;
    if (session === undefined) return rows;
    const large = { session: { ...session, state: LARGE }, user: { ...user, state: LARGE } };
    return { ...rows, ...large, app: { ...app, state: LARGE } };
  };
  return {
    ...storage,
    read: async (request) => enlarge(await storage.read(request)),
    append: (request, decide) => storage.append(request, (found) => decide(enlarge(found))),
  };
}

it('a service over a storage with 127 MB in each scope works or fails with quota_exceeded, and affects no other service', async () => {
  const service = await openSessionService({ storage: largeStorage() });
  const memory = new InMemorySessionService();
  const key = { appName: 'large', userId: 'ada', sessionId: 's1' };
  const state = { n: 1, 'user:n': 1, 'app:n': 1 };
  const session = await service.createSession({ ...key, state });
  const memorySession = await memory.createSession({ ...key, state });
  const calls = [
    () => service.getSession(key),
    () => service.appendEvent({ session, event: textEvent('one') }),
    () => service.updateState({ ...key, stateDelta: { n: 2, 'user:n': 2, 'app:n': 2 } }),
    () => service.getOrCreateSession(key),
  ];
  for (const call of calls) {
    const outcome = await outcomeOf(call);
    requireTypedError(outcome);
    if (!outcome.isDone) assert.ok(isSessionError(outcome.error, 'quota_exceeded'));
  }
  await memory.appendEvent({ session: memorySession, event: textEvent('two') });
  assert.equal((await memory.getSession(key))?.events.length, 1);
  await service.deleteSession(key);
  await service.close();
});
