// A conversation in a realm whose prototypes are poisoned, in Node or a page.
// @ts-check

/**
 * @typedef {object} Subject
 * @property {() => Promise<any> | any} open opens a new, empty service
 * @property {(parameters: object) => any} createEvent
 * @property {boolean} [keepsState] whether the state of users and apps cannot be deleted
 */

/** @type {(error: unknown) => void} ends the running conversation */
export let fail = () => undefined;

/** @type {unknown[]} */
const caught = [];

/**
 * The functions that poison a realm under a name.
 *
 * @type {Record<string, (name: string) => void>}
 */
const POISONS = {
  data: (name) =>
    put(Object.prototype, name, { value: 'poison', writable: true, enumerable: true }),
  setter: (name) =>
    put(Object.prototype, name, { set: () => void caught.push(caller()), get: () => undefined }),
  array: (name) => put(Array.prototype, name, { value: 'poison', writable: true }),
  frozen: freeze,
  frozenBefore: () => undefined,
};

/** Returns the stack line that assigned the member. */
function caller() {
  return new Error().stack?.split('\n').find((line) => /^ +at (?!.*conversation)/.test(line));
}

export function freeze() {
  for (const each of [Object, Array, String, Function, Promise, Map]) Object.freeze(each.prototype);
}

/** @param {object} prototype @param {string} name @param {PropertyDescriptor} descriptor */
function put(prototype, name, descriptor) {
  Object.defineProperty(prototype, name, { ...descriptor, configurable: true });
}

/** @param {boolean} holds @param {string} rule @param {unknown} [seen] */
function must(holds, rule, seen) {
  if (!holds) throw new Error(`${rule} ${JSON.stringify(seen)}`);
}

/** @param {any} state @param {any} expected @param {string} rule */
function mustEqual(state, expected, rule) {
  const [actual, wanted] = [state, expected].map((value) => JSON.stringify(Object.entries(value).sort()));
  must(actual === wanted, rule, [actual, wanted]);
} // prettier-ignore

/** A number that no other realm over the same storage has, so that data of a failed conversation does not matter. */
let number = Math.floor(Math.random() * 1e12);

/** @param {any} service @param {Subject} subject @param {readonly string[]} names keys of the state */
async function converse(service, { createEvent, keepsState = false }, names) {
  number += 1;
  const [appName, userId] = [`shop ${number}`, `ada ${number}`];
  const key = { appName, userId, sessionId: `s${number}` };
  const withNames = (/** @type {number} */ value) =>
    Object.fromEntries(names.map((name) => [name, value]));
  const [name = ''] = names;
  const given = { 'the cart': ['tea'], ...withNames(1), constructor: 2, toString: 3, 'user:x': 4 };
  const session = await service.createSession({ ...key, state: given });
  must(session.state['the cart'][0] === 'tea', 'The state is as given.', session.state);
  const delta = { 'the sku': 7, ...withNames(8), valueOf: 9, 'the nest': { [name]: [name] } };
  const event = createEvent({
    id: 'e1',
    author: 'user',
    timestamp: 1,
    content: { role: 'user', parts: [{ text: 'hello' }] },
    actions: { stateDelta: { ...delta } },
  });
  await service.appendEvent({ session, event });
  const older = await service.getSession(key);
  await service.appendEvents({
    session,
    events: ['e2', 'e3'].map((id) => createEvent({ id, author: 'agent', timestamp: 2 })),
  });
  await service.updateState({
    ...key,
    stateDelta: { 'the end': true, 'app:y': 5, 'user:x': 6 },
  });
  // A handle that has missed three events.
  await service.appendEvent({ session: older, event: createEvent({ id: 'e5', author: 'user' }) });
  const read = await service.getSession(key);
  const expected = { ...given, ...delta, 'the end': true, 'app:y': 5, 'user:x': 6 };
  for (const handle of [older, read]) {
    mustEqual(handle.state, expected, 'The state is stored.');
    must(handle.events.length === 5, 'The events are stored.', handle.events);
    const [first] = handle.events;
    mustEqual(first.actions.stateDelta, delta, 'The delta is complete.');
    must(first.author === 'user' && first.timestamp === 1, 'The event is complete.', first);
    mustEqual(first.content.parts[0], { text: 'hello' }, 'The content is complete.');
    must(Object.keys(first.content).length === 2, 'Nothing is added.', first.content);
  }
  const last = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
  must(last.events.length === 1 && last.events[0].id === 'e5', 'A window is read.', last.events);
  const listed = await service.listSessions({ appName, userId });
  must(listed.sessions.length === 1 && listed.totalItems === 1, 'The session is listed.', listed);
  mustEqual(listed.sessions[0].state, expected, 'The list has the state.');
  const refused = await service.createSession(key).catch((/** @type {unknown} */ error) => error);
  must(refused.code === 'already_exists', 'A refusal has its code.', String(refused));
  const odd = { session: read, event: createEvent({ actions: { stateDelta: { n: [NaN] } } }) };
  const unserializable = await service
    .appendEvent(odd)
    .catch((/** @type {unknown} */ error) => error);
  must(unserializable.code === 'unserializable', 'A refusal has its code.', String(unserializable));
  must(unserializable.path === 'n[0]', 'A refusal has the path.', unserializable.path);
  await service.deleteSession(key);
  must((await service.getSession(key)) === undefined, 'A deleted session cannot be read.');
  if (keepsState) return;
  await service.deleteUserState({ appName, userId });
  await service.deleteAppState({ appName });
}

/** The number of names that poison a realm together. */
const GROUP_SIZE = 24;

/**
 * Each name is tested in two groups: one name may prevent a call from reaching the code that another name breaks.
 *
 * @param {readonly string[]} names
 */
function groupsOf(names) {
  const count = Math.ceil(names.length / GROUP_SIZE);
  const neighbours = Array.from({ length: count }, (_, index) =>
    names.slice(index * GROUP_SIZE, (index + 1) * GROUP_SIZE),
  );
  const distant = Array.from({ length: count }, (_, first) =>
    names.filter((_, index) => index % count === first),
  );
  return [...neighbours, ...distant];
}

/**
 * @param {string} poison
 * @param {readonly string[]} names
 * @param {Subject} subject
 * @param {boolean} isReopened whether the realm is poisoned before the service opens, and not only while it is used
 * @returns {Promise<string[]>} the failures, with the names that cause them
 */
export async function withstand(poison, names, subject, isReopened) {
  const openUsed = async () => {
    const service = await subject.open();
    // After this, modules are loaded and connections are open.
    await converse(service, subject, ['first']);
    return service;
  };
  let service = await openUsed();
  /** @type {Set<string>} */
  const failures = new Set();

  /** @param {readonly string[]} group @returns {Promise<boolean>} whether the service failed */
  async function search(group) {
    const failure = await failureUnder(group);
    if (failure === undefined) return false;
    service = await openUsed();
    const middle = Math.ceil(group.length / 2);
    const halves = group.length === 1 ? [] : [group.slice(0, middle), group.slice(middle)];
    let isFound = false;
    for (const half of halves) if (await search(half)) isFound = true;
    if (!isFound) failures.add(`${group.join()}: ${String(failure)}`);
    return true;
  }

  /** @param {readonly string[]} group @returns {Promise<unknown>} */
  async function failureUnder(group) {
    for (const name of group) POISONS[poison]?.(name);
    try {
      if (isReopened) {
        await service.close();
        service = await subject.open();
      }
      await Promise.race([
        converse(service, subject, group),
        new Promise((_, reject) => (fail = reject)),
      ]);
      must(caught.length === 0, 'No inherited setter is called.', caught.splice(0, Infinity)[0]);
    } catch (error) {
      return error;
    } finally {
      for (const name of group) {
        Reflect.deleteProperty(Object.prototype, name);
        Reflect.deleteProperty(Array.prototype, name);
      }
      caught.length = 0;
    }
    return undefined;
  }

  for (const group of groupsOf(names)) await search(group);
  return [...failures];
}
