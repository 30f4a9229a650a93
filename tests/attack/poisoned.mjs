// A conversation in a thread whose prototypes are poisoned; it tells what went wrong.
// @ts-check

import { parentPort, workerData } from 'node:worker_threads';

/** @type {{ storage: string, poison: string, names: string[] }} */
const { storage, poison, names } = workerData;
/** @type {unknown[]} */
const caught = [];

/**
 * What poisons a realm under a name. Not `get`, `set`, `value` and the like, without which no descriptor works.
 *
 * @type {Record<string, (name: string) => void>}
 */
const poisons = {
  data: (name) => put(Object.prototype, name, { value: 'poison', writable: true }),
  setter: (name) =>
    put(Object.prototype, name, { set: (value) => void caught.push(value), get: () => 'poison' }),
  array: (name) => put(Array.prototype, name, { value: 'poison', writable: true }),
  frozen: freeze,
  frozenBefore: () => undefined,
};

function freeze() {
  for (const each of [Object, Array, String, Function, Promise, Map]) Object.freeze(each.prototype);
}

/** @param {object} prototype @param {string} name @param {PropertyDescriptor} descriptor */
function put(prototype, name, descriptor) {
  Object.defineProperty(prototype, name, { ...descriptor, enumerable: false, configurable: true });
}

/** @param {boolean} holds @param {string} rule @param {unknown} [seen] */
function must(holds, rule, seen) {
  if (!holds) throw new Error(`${rule} ${JSON.stringify(seen)}`);
}

/**
 * @param {any} service
 * @param {(parameters: object) => any} createEvent
 * @param {string} name
 */
async function converse(service, createEvent, name) {
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  const given = { cart: ['tea'], [name]: 1, constructor: 2, toString: 3, 'user:x': 4 };
  const session = await service.createSession({ ...key, state: given });
  must(session.state.cart[0] === 'tea', 'The state is as given.', session.state);
  const event = createEvent({
    id: 'e1',
    author: 'user',
    timestamp: 1,
    actions: { stateDelta: { sku: 7, [name]: 8, valueOf: 9 } },
  });
  await service.appendEvent({ session, event });
  const read = await service.getSession(key);
  for (const handle of [session, read]) {
    const seen = JSON.stringify(Object.entries(handle.state).sort());
    const expected = { ...given, sku: 7, [name]: 8, valueOf: 9 };
    must(seen === JSON.stringify(Object.entries(expected).sort()), 'The state is stored.', [
      seen,
      expected,
    ]);
    must(handle.events.length === 1, 'The event is stored.', handle.events);
    must(handle.events[0].actions.stateDelta.sku === 7, 'The event is whole.', handle.events);
  }
  const { sessions, totalItems } = await service.listSessions({ appName: 'shop' });
  must(sessions.length === 1 && totalItems === 1, 'It is listed.', sessions);
  const refused = await service.createSession(key).catch((/** @type {unknown} */ error) => error);
  must(refused.code === 'already_exists', 'A refusal says why.', String(refused));
  await service.deleteSession(key);
  must((await service.getSession(key)) === undefined, 'It is gone.');
  await service.close();
}

/** @returns {Promise<string[]>} */
async function run() {
  if (poison === 'frozenBefore') freeze();
  const { createEvent, InMemorySessionService } = await import('adk-session-wasm');
  const { DatabaseSessionService } = await import('adk-session-wasm/database');
  const open = () => {
    if (storage === 'memory') return new InMemorySessionService();
    return new DatabaseSessionService('sqlite::memory:');
  };
  // What is loaded on first use is loaded.
  await open().getSession({ appName: 'a', userId: 'b', sessionId: 'c' });
  /** @type {string[]} */
  const failures = [];
  for (const name of names) {
    poisons[poison]?.(name);
    let failure;
    try {
      await converse(open(), createEvent, name);
      must(caught.length === 0, 'No inherited setter is called.', caught);
    } catch (error) {
      failure = error;
    }
    Reflect.deleteProperty(Object.prototype, name);
    Reflect.deleteProperty(Array.prototype, name);
    caught.length = 0;
    if (failure !== undefined) failures.push(`${name}: ${String(failure)}`);
  }
  return failures;
}

parentPort?.postMessage(await run().catch((error) => [String(error?.stack ?? error)]));
