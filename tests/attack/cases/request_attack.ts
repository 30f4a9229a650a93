// Invalid requests: invalid ids, numbers out of range, inherited options.

import type { Session } from 'adk-session-wasm';
import { deltaOf, freshId } from './events.js';
import { invalidId } from './ids.js';
import { isSameJson, must, outcomeOf, requireTypedError } from './oracle.js';
import { define, DROPPED, OPEN, REFUSED } from './values.js';
import { textEvent, type World } from './world.js';

const NUMBERS = [-1, 0, 0.5, 1, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, '1', null, {}, [], 1n, Symbol('n'), true]; // prettier-ignore

type Method =
  'createSession' | 'getSession' | 'listSessions' | 'deleteSession' | 'appendEvent' | 'updateState';

/** Calls a method with any value as a request. */
export async function attackRequest(world: World): Promise<void> {
  const { service, random, key } = world;
  const before = await world.readBefore();
  const method = random.pick<Method>(['createSession', 'getSession', 'listSessions', 'deleteSession', 'appendEvent', 'updateState']); // prettier-ignore
  const request = oddRequest(world, method);
  const callable = service as unknown as Record<Method, (request: unknown) => unknown>;
  const outcome = await outcomeOf(() => callable[method](request));
  requireTypedError(outcome);
  const after = await world.read();
  must(isSameJson(before, after), `An odd ${method} changes nothing.`, before, after);
  // Deletes the session that the call may have created.
  if (outcome.isDone && method === 'createSession') {
    const { appName, userId, id } = outcome.value as Session;
    must(id !== key.sessionId || userId !== key.userId, 'A used id is refused.', id);
    await service.deleteSession({ appName, userId, sessionId: id });
  }
}

function oddRequest({ random, key }: World, method: Method): unknown {
  const number = (): unknown => random.pick(NUMBERS);
  const thrower = (): never => {
    throw new TypeError('a getter threw');
  };
  const field = random.pick(['appName', 'userId', 'sessionId']);
  return random.pick<() => unknown>([
    () => random.pick<unknown>([undefined, null, 7, 'request', [], {}, () => 1, Symbol('r'), new Map()]),
    () => ({ ...key, [field]: invalidId(random) === undefined ? '' : invalidId(random) }),
    () => Object.defineProperty({ ...key }, field, { get: thrower, enumerable: true }),
    () => new Proxy({ ...key }, { get: thrower }),
    () => (method === 'deleteSession' ? null : { ...key, signal: AbortSignal.abort('no') }),
    () => (method === 'deleteSession' ? {} : { ...key, sessionId: '', signal: AbortSignal.abort() }),
    () => ({ ...key, appName: '', config: { numRecentEvents: number(), afterTimestamp: number() } }),
    () => (method === 'getSession' ? { ...key, config: { numRecentEvents: number(), afterTimestamp: number() } } : null),
    () => (method === 'listSessions' ? { appName: key.appName, limit: number(), page: number(), order: random.pick(['asc', 'desc', 'up', null, 7]) } : null),
    () => (method === 'createSession' ? { ...key, state: { n: 'another' } } : null),
    () => (method === 'createSession' ? { ...key, sessionId: undefined, lastUpdateTime: number() } : null),
    () => (method === 'updateState' ? { ...key, stateDelta: random.pick<unknown>([null, 7, 'x', [], new Map()]) } : null),
    () => (method === 'appendEvent' ? { session: undefined, event: textEvent(freshId()) } : null),
  ])();
} // prettier-ignore

/** Creates a session with a hostile state, or calls `updateState` with such a delta. */
export async function attackState(world: World): Promise<void> {
  const { service, random, key, target } = world;
  const { value, inState } = deltaOf(random);
  const isCreate = random.once(2);
  const sessionId = target.vertexIds ? `${key.sessionId}n` : `${key.sessionId.slice(0, 90)}n`;
  const fresh = { ...key, sessionId };
  const before = await world.readBefore();
  const outcome = await outcomeOf(() =>
    isCreate
      ? service.createSession({ ...fresh, state: value as never })
      : service.updateState({ ...key, stateDelta: value as never }),
  );
  requireTypedError(outcome);
  const read = await service.getSession(isCreate ? fresh : key);
  if (!outcome.isDone) {
    const isRefusedHere = target.refusesNulInText === true && JSON.stringify(inState)?.includes('\\u0000');
    must(inState === OPEN || inState === REFUSED || isRefusedHere, 'An allowed state is stored.', outcome.error);
    must(isCreate ? read === undefined : isSameJson(before?.state, read?.state), 'A refused state changes nothing.', read);
    return;
  }
  must(inState !== REFUSED, 'What JSON cannot say is refused.', read?.state);
  if (inState !== OPEN) {
    const state: Record<string, unknown> = { ...before?.state };
    // The new session has the shared keys from before.
    if (isCreate) for (const name of Object.keys(state)) if (!/^(?:app|user):/.test(name)) Reflect.deleteProperty(state, name);
    for (const [name, stored] of Object.entries(inState as object)) {
      const isRemoved = stored === DROPPED || (stored === null && target.nullRemoves === true);
      if (isRemoved) Reflect.deleteProperty(state, name);
      else define(state, name, stored);
    }
    must(isSameJson(read?.state, state), 'The state is as given.', read?.state, state);
  }
  if (isCreate) await service.deleteSession(fresh);
} // prettier-ignore
