// Invalid requests: invalid ids, numbers out of range, inherited options.

import type { Session } from 'adk-session-wasm';
import fc from 'fast-check';
import { hostileDelta } from './events.js';
import { INVALID_IDS, type Key } from './ids.js';
import { isSameJson, must, outcomeOf, requireTypedError } from './oracle.js';
import { freshFrom, planned } from './planned.js';
import { define, DROPPED, OPEN, REFUSED } from './values.js';
import { freshId, textEvent, type World } from './world.js';

const NUMBERS = [-1, 0, 0.5, 1, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, '1', null, {}, [], 1n, Symbol('n'), true]; // prettier-ignore

const METHODS = ['createSession', 'getSession', 'listSessions', 'deleteSession', 'appendEvent', 'updateState'] as const; // prettier-ignore

const oddRequest = fc.record({
  method: fc.constantFrom(...METHODS),
  field: fc.constantFrom('appName', 'userId', 'sessionId'),
  id: fc.constantFrom(...INVALID_IDS),
  number: fc.constantFrom(...NUMBERS),
  otherNumber: fc.constantFrom(...NUMBERS),
  order: fc.constantFrom('asc', 'desc', 'up', null, 7),
  delta: freshFrom(() => [null, 7, 'x', [], new Map()]),
  other: freshFrom(() => [undefined, null, 7, 'request', [], {}, () => 1, Symbol('r'), new Map()]),
});
type OddRequest = typeof oddRequest extends fc.Arbitrary<infer T> ? T : never;

const thrower = (): never => {
  throw new TypeError('a getter threw');
};

/** A request to any of the methods, or to one of them. */
const REQUESTS: readonly ((key: Key, odd: OddRequest) => unknown)[] = [
  (_, { other }) => other,
  (key, { field, id }) => ({ ...key, [field]: id }),
  (key, { field }) => Object.defineProperty({ ...key }, field, { get: thrower, enumerable: true }),
  (key) => new Proxy({ ...key }, { get: thrower }),
  (key, { method }) => (method === 'deleteSession' ? null : { ...key, signal: AbortSignal.abort('no') }),
  (key, { method }) => (method === 'deleteSession' ? {} : { ...key, sessionId: '', signal: AbortSignal.abort() }),
  (key, { number, otherNumber }) => ({ ...key, appName: '', config: { numRecentEvents: number, afterTimestamp: otherNumber } }),
  (key, { method, number, otherNumber }) => (method === 'getSession' ? { ...key, config: { numRecentEvents: number, afterTimestamp: otherNumber } } : null),
  ({ appName }, { method, number, otherNumber, order }) => (method === 'listSessions' ? { appName, limit: number, page: otherNumber, order } : null),
  (key, { method }) => (method === 'createSession' ? { ...key, state: { n: 'another' } } : null),
  (key, { method, number }) => (method === 'createSession' ? { ...key, sessionId: undefined, lastUpdateTime: number } : null),
  (key, { method, delta }) => (method === 'updateState' ? { ...key, stateDelta: delta } : null),
  (_, { method }) => (method === 'appendEvent' ? { session: undefined, event: textEvent(freshId()) } : null),
]; // prettier-ignore

/** Calls a method with any value as a request. */
export const attackRequest = planned(
  'request ',
  fc.record({ odd: oddRequest, request: fc.constantFrom(...REQUESTS) }),
  async ({ odd, request: requestOf }, world: World): Promise<void> => {
    const { service, key } = world;
    const { method } = odd;
    const before = await world.readBefore();
    const request = requestOf(key, odd);
    const callable = service as unknown as Record<typeof method, (request: unknown) => unknown>;
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
  },
);

/** Creates a session with a hostile state, or calls `updateState` with such a delta. */
export const attackState = planned(
  'state ',
  fc.record({ delta: hostileDelta, isCreate: fc.boolean() }),
  async ({ delta, isCreate }, world: World): Promise<void> => {
    const { service, key, target } = world;
    const { value, inState } = delta();
    const sessionId = target.vertexIds ? `${key.sessionId}n` : `${key.sessionId.slice(0, 90)}n`;
    const fresh = { ...key, sessionId };
    const before = await world.readBefore();
    const outcome = await outcomeOf(() =>
      isCreate
        ? service.createSession({ ...fresh, state: value })
        : service.updateState({ ...key, stateDelta: value }),
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
  },
); // prettier-ignore
