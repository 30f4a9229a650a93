import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { InMemorySessionService, type Session } from '../../../../js/index.js';
import type { ComputeDelta } from '../../../../js/values/state/state_shape.js';
import { APP, begin, failure, KEY, overStorages, says, stored, USER } from '../fixture.js';

/** The owners whose calls may change a key. */
const SCOPED = { n: [KEY], 'user:n': [USER, KEY], 'app:n': [APP, USER, KEY] };

/** A change of a key by an owner's function; without an owner an event. */
const change = fc.record({
  owner: fc.constantFrom(undefined, APP, USER, KEY),
  key: fc.constantFrom('n' as const, 'user:n' as const, 'app:n' as const),
  amount: fc.integer({ min: -3, max: 3 }),
  fails: fc.boolean(),
});

overStorages('updateState with a function', (open) => {
  it('adds up 2,000 concurrent calls', async () => {
    const { service } = await begin(open);
    const add = ({ 'app:total': total = 0 }: Record<string, unknown>) => ({
      'app:total': Number(total) + 1,
    });
    await Promise.all(
      Array.from({ length: 2000 }, () => service.updateState({ ...APP, stateDelta: add })),
    );
    assert.deepEqual(await service.getAppState(APP), { total: 2000 });
  });

  it('refuses the calls of the service that the function makes, and stores what it returns', async () => {
    const { service } = await begin(open);
    const calls = [
      () => service.getSession(KEY),
      () => service.updateState({ ...KEY, stateDelta: { inner: 1 } }),
      () => service.updateState({ ...APP, stateDelta: () => ({ 'app:inner': 1 }) }),
      () => service.createSession({ ...KEY, sessionId: 'inner' }),
      () => service.deleteSession(KEY),
    ];
    for (const [index, call] of calls.entries()) {
      const refused: Promise<unknown>[] = [];
      const stateDelta = () => {
        refused.push(failure(call(), 'invalid_argument'));
        return { outer: index };
      };
      await service.updateState({ ...KEY, stateDelta });
      await Promise.all(refused);
      assert.equal((await stored(service)).state.outer, index);
    }
    assert.equal((await stored(service)).state.inner, undefined);
    assert.equal(await service.getSession({ ...KEY, sessionId: 'inner' }), undefined);
  });

  it('adds up 20 turns of one session', async () => {
    const { service } = await begin(open);
    const turn = () =>
      service.updateState({ ...KEY, stateDelta: ({ n = 0 }) => ({ n: Number(n) + 1 }) });
    await Promise.all(Array.from({ length: 20 }, turn));
    const { state, events } = await stored(service);
    assert.equal(state.n, 20);
    assert.deepEqual(
      events.map(({ actions }) => actions.stateDelta.n),
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it('gives the function the state of the scopes that the key names', async () => {
    const { service } = await begin(open, { own: 1, 'user:u': 2, 'app:a': 3 });
    const seen: unknown[] = [];
    for (const key of [APP, USER, KEY]) {
      const stateDelta: ComputeDelta = (state) => {
        seen.push(structuredClone(state));
        return {};
      };
      await service.updateState({ ...key, stateDelta });
    }
    assert.deepEqual(seen, [
      { 'app:a': 3 },
      { 'app:a': 3, 'user:u': 2 },
      { 'app:a': 3, 'user:u': 2, own: 1 },
    ]);
    assert.deepEqual((await stored(service)).events, []);
  });

  it('passes on what the function throws, and writes nothing', async () => {
    const { service } = await begin(open, { n: 1 });
    const before = await stored(service);
    const error = new TypeError('mine');
    for (const key of [APP, USER, KEY]) {
      const stateDelta = () => {
        throw error;
      };
      const refused = service.updateState({ ...key, stateDelta });
      await assert.rejects(refused, (thrown) => thrown === error);
    }
    assert.deepEqual(await stored(service), before);
  });

  it('refuses an invalid delta, and writes nothing', async () => {
    const { service } = await begin(open, { n: 1 });
    const before = await stored(service);
    const invalid = () => ({ 'app:n': 1n });
    await failure(service.updateState({ ...APP, stateDelta: invalid }), 'unserializable');
    await failure(service.updateState({ ...KEY, stateDelta: invalid }), 'unserializable');
    for (const result of [undefined, null, 7, [], Promise.resolve({ n: 2 })]) {
      for (const key of [APP, KEY]) {
        const refused = service.updateState({ ...key, stateDelta: () => result as never });
        await failure(refused, 'invalid_argument');
      }
    }
    const rejecting = () => Promise.reject(new Error('later')) as never;
    await failure(service.updateState({ ...KEY, stateDelta: rejecting }), 'invalid_argument');
    assert.deepEqual(await stored(service), before);
  });

  it('removes keys, and stores no temp: keys', async () => {
    const { service } = await begin(open, { n: 1, m: 2 });
    await service.updateState({
      ...KEY,
      stateDelta: () => ({ n: undefined, 'temp:t': 1 }),
    });
    await service.updateState({ ...KEY, stateDelta: () => ({ 'temp:t': 1 }) });
    const { state, events } = await stored(service);
    assert.deepEqual(state, { m: 2 });
    assert.equal(events.length, 1);
  });

  it('gives the function a state of its own', async () => {
    const { service } = await begin(open, { list: [1] });
    const add = (state: Record<string, unknown>) => {
      const list = state.list as number[];
      list.push(list.length + 1);
      return { list };
    };
    await service.updateState({ ...KEY, stateDelta: add });
    await service.updateState({ ...KEY, stateDelta: add });
    assert.deepEqual((await stored(service)).state, { list: [1, 2, 3] });
  });

  it('adds up any concurrent changes, and none that is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const { service, session } = await begin(open);
        const sums: Record<string, number> = {};
        let count = 0;
        const calls = changes.map(async ({ owner, key, amount, fails }) => {
          if (owner === undefined) {
            count += 1;
            return service.appendEvent({ session, event: says('', { other: amount }) });
          }
          const isKnown = (SCOPED[key] as object[]).includes(owner);
          if (isKnown && !fails) sums[key] = (sums[key] ?? 0) + amount;
          if (isKnown && !fails && owner === KEY) count += 1;
          const stateDelta: ComputeDelta = (state) => {
            if (fails) throw new RangeError('on purpose');
            return { [key]: Number(state[key] ?? 0) + amount };
          };
          const call = service.updateState({ ...owner, stateDelta });
          if (fails) return assert.rejects(call, RangeError);
          return isKnown ? call : failure(call, 'invalid_argument');
        });
        await Promise.all(calls);
        const { state, events } = await stored(service);
        Reflect.deleteProperty(state, 'other');
        assert.deepEqual(state, sums);
        assert.equal(events.length, count);
      }),
      { numRuns: 50 },
    );
  });

  it('tells watchers only of changes', async () => {
    const { service } = await begin(open);
    const told: string[] = [];
    service.watch(APP, { onNotice: ({ type }) => void told.push(type) });
    await service.updateState({ ...KEY, stateDelta: () => ({}) });
    await service.updateState({ ...APP, stateDelta: () => ({}) });
    await service.updateState({ ...KEY, stateDelta: () => ({ n: 1 }) });
    await service.updateState({ ...APP, stateDelta: () => ({ 'app:n': 1 }) });
    await service.close();
    assert.deepEqual(told, ['appended', 'stateChanged']);
  });
});

describe('The function of updateState', () => {
  it('is checked by the schema', async () => {
    const number = { '~standard': { version: 1 as const, vendor: 'test', validate: numbers } };
    const service = new InMemorySessionService({ stateSchema: { 'app:n': number, n: number } });
    await service.createSession(KEY);
    await service.updateState({ ...KEY, stateDelta: ({ n = 0 }) => ({ n: Number(n) + 1 }) });
    const wrong = { 'app:n': 'one' } as never;
    await failure(service.updateState({ ...APP, stateDelta: () => wrong }), 'schema_violation');
    await failure(service.updateState({ ...KEY, stateDelta: () => wrong }), 'schema_violation');
  });

  it('must not call a service in memory', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const stateDelta = () => {
      service.getSessionSync(KEY);
      return { n: 1 };
    };
    const refused = service.updateState({ ...KEY, stateDelta });
    await failure(refused, 'invalid_argument');
    assert.deepEqual(service.getSessionSync(KEY)?.state, {});
  });

  it('may call another service', async () => {
    const [service, other] = [new InMemorySessionService(), new InMemorySessionService()];
    await service.createSession(KEY);
    await other.createSession({ ...KEY, state: { n: 1 } });
    let reading: Promise<Session | undefined> | undefined;
    const stateDelta = () => {
      reading = other.getSession(KEY);
      return { n: Number(other.getSessionSync(KEY)?.state.n) + 1 };
    };
    await service.updateState({ ...KEY, stateDelta });
    assert.deepEqual(service.getSessionSync(KEY)?.state, { n: 2 });
    assert.deepEqual((await reading)?.state, { n: 1 });
  });
});

function numbers(value: unknown) {
  return typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] };
}
