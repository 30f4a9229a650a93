// A conversation in a thread whose prototypes are frozen. It reports `done`, or the error.
// @ts-check

import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';

/** @type {{ storage: string, isFirst: boolean, source: string }} */
const { storage, isFirst, source } = workerData;

function freeze() {
  for (const each of [Object, Array, String, Function, Promise, Map, Error]) {
    Object.freeze(each.prototype);
  }
}

async function open() {
  const { InMemorySessionService, openSessionService } = await import('adk-session-wasm');
  if (storage === 'memory') return new InMemorySessionService();
  if (storage === 'sqlite') {
    const { DatabaseSessionService } = await import('adk-session-wasm/database');
    return new DatabaseSessionService('sqlite::memory:');
  }
  const { mapStorage } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  return openSessionService({ storage: mapStorage() });
}

async function converse() {
  if (isFirst) freeze();
  const { createEvent } = await import('adk-session-wasm');
  const service = await open();
  const user = { appName: 'shop', userId: 'ada' };
  await service.createSession({ ...user, sessionId: 'first' });
  if (!isFirst) freeze();
  const key = { ...user, sessionId: 's1' };
  // Members of the frozen prototypes, which an assignment could not set.
  const given = { cart: ['tea'], constructor: 2, toString: 3, 'user:x': 4 };
  const session = await service.createSession({ ...key, state: given });
  const delta = { sku: 7, valueOf: 9, nest: { toString: ['price'] } };
  const event = createEvent({
    id: 'e1',
    author: 'user',
    content: { role: 'user', parts: [{ text: 'hello' }] },
    actions: { stateDelta: { ...delta } },
  });
  await service.appendEvent({ session, event });
  const older = await service.getSession(key);
  await service.updateState({ ...key, stateDelta: { 'app:y': 5, 'user:x': 6 } });
  // A handle that has missed an event.
  assert(older);
  await service.appendEvent({ session: older, event: createEvent({ id: 'e3', author: 'user' }) });
  const expected = { ...given, ...delta, 'app:y': 5, 'user:x': 6 };
  for (const handle of [older, await service.getSession(key)]) {
    assert.deepEqual({ ...handle?.state }, expected);
    assert.equal(handle?.events.length, 3);
    assert.deepEqual({ ...handle?.events[0]?.actions.stateDelta }, delta);
  }
  const { sessions } = await service.listSessions(user);
  assert.deepEqual({ ...sessions.find(({ id }) => id === 's1')?.state }, expected);
  await assert.rejects(service.createSession(key), { code: 'already_exists' });
  const odd = createEvent({ actions: { stateDelta: { n: [NaN] } } });
  const refused = service.appendEvent({ session: older, event: odd });
  await assert.rejects(refused, { code: 'unserializable', path: 'n[0]' });
  await service.deleteSession(key);
  assert.equal(await service.getSession(key), undefined);
  await service.close();
  return 'done';
}

parentPort?.postMessage(await converse().catch((error) => String(error?.stack ?? error)));
