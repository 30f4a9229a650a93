import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SessionError } from '../../../../js/values/errors/errors.js';
import type { StateShape } from '../../../../js/values/state/state_shape.js';
import { State } from '../../../../js/values/state/state.js';
import { stampWrite } from '../../../../js/values/state/write_order.js';

function tracked<S extends StateShape = StateShape>(
  value: StateShape = {},
): { value: StateShape; delta: StateShape; state: State<S> } {
  const delta = {};
  return { value, delta, state: new State<S>(value as Partial<S>, delta) };
}

describe('State reads return', () => {
  it('the value of a key, or the default', () => {
    const { state } = tracked({ a: 1 });
    assert.equal(state.get('a', 2), 1);
    assert.equal(state.get('b', 2), 2);
    assert.equal(state.get('b'), undefined);
  });

  it('a stored null, not the default', () => {
    const { state } = tracked({ a: null });
    assert.equal(state.get('a', 'default'), null);
    assert.equal(state.has('a'), true);
  });

  it('no value of a getter that throws, but fails', () => {
    const { state } = tracked({
      get a(): never {
        throw new Error("the caller's");
      },
    });
    for (const read of [
      () => state.get('a'),
      () => state.has('a'),
      () => state.keys(),
      () => [...state],
      () => state.toRecord(),
      () => JSON.stringify(state),
    ]) {
      assert.throws(read, { code: 'invalid_argument', key: 'a' });
    }
  });

  it('nothing of a revoked proxy, but fail', () => {
    const { proxy, revoke } = Proxy.revocable<StateShape>({ a: 1 }, {});
    const { state } = tracked(proxy);
    const over = new State({}, proxy);
    revoke();
    for (const call of [
      () => state.get('a'),
      () => state.keys(),
      () => state.set('a', 2),
      () => state.delete('a'),
      () => over.hasDelta(),
    ]) {
      assert.throws(call, { code: 'invalid_argument' });
    }
  });

  it('no inherited members', () => {
    const { state } = tracked();
    for (const key of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
      assert.equal(state.has(key), false);
      assert.equal(state.get(key), undefined);
    }
  });

  it('writes of others to the same state object', () => {
    const { value, state } = tracked({ a: 1 });
    const other = new State(value);
    state.set('a', 2);
    other.set('a', 3);
    assert.equal(state.get('a'), 3);
    other.delete('a');
    assert.equal(state.has('a'), false);
    assert.deepEqual(state.keys(), []);
  });

  it('entries of the given delta, before those of the state object', () => {
    const state = new State({ a: 1, b: 1, c: 1 }, { a: 2, b: State.REMOVED, d: 2, e: undefined });
    assert.equal(state.get('a'), 2);
    assert.equal(state.has('b'), false);
    assert.deepEqual(state.toRecord(), { a: 2, c: 1, d: 2 });
    assert.deepEqual(state.keys(), ['a', 'c', 'd']);
    assert.equal(state.hasDelta(), true);
  });

  it('entries that others put into its delta', () => {
    const { delta, state } = tracked({ a: 1 });
    delta.a = 2;
    assert.equal(state.get('a'), 2);
    state.set('a', 3);
    assert.equal(state.get('a'), 3);
    assert.deepEqual(delta, { a: 3 });
  });

  it('keys and entries in the order of the state object', () => {
    const { state } = tracked({ b: 1, a: 2 });
    state.set('user:c', 3);
    assert.deepEqual(state.keys(), ['b', 'a', 'user:c']);
    assert.deepEqual([...state], [['b', 1], ['a', 2], ['user:c', 3]]); // prettier-ignore
  });
});

describe('A State write', () => {
  it('changes the state object and the delta', () => {
    const { value, delta, state } = tracked();
    state.set('a', 1);
    state.update({ b: 2, 'temp:c': state });
    assert.deepEqual(Object.keys(value), ['a', 'b', 'temp:c']);
    assert.deepEqual(Object.keys(delta), ['a', 'b', 'temp:c']);
    assert.equal(value['temp:c'], state);
  });

  it('records a removal as REMOVED in the delta', () => {
    const { value, delta, state } = tracked({ a: 1 });
    assert.equal(state.delete('a'), true);
    assert.equal(state.delete('never there'), false);
    assert.deepEqual(value, {});
    assert.deepEqual(delta, { a: State.REMOVED, 'never there': State.REMOVED });
    assert.equal(state.has('a'), false);
  });

  it('treats undefined and REMOVED as removals', () => {
    const { value, delta, state } = tracked({ a: 1, b: 1, c: 1 });
    state.set('a', undefined);
    state.set('b', State.REMOVED);
    state.update({ c: undefined });
    assert.deepEqual(value, {});
    assert.deepEqual(Object.values(delta), [State.REMOVED, State.REMOVED, State.REMOVED]);
  });

  it('restores a removed key', () => {
    const { value, delta, state } = tracked({ a: 1 });
    state.delete('a');
    state.set('a', 2);
    assert.deepEqual(value, { a: 2 });
    assert.deepEqual(delta, { a: 2 });
  });

  it('treats `__proto__` as an ordinary key', () => {
    const { value, delta, state } = tracked();
    state.set('__proto__', { polluted: true });
    assert.deepEqual(Object.keys(value), ['__proto__']);
    assert.deepEqual(Object.keys(delta), ['__proto__']);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.deepEqual(Object.keys(state.toRecord()), ['__proto__']);
    assert.equal(state.delete('__proto__'), true);
    assert.equal(state.has('__proto__'), false);
  });

  it('to a frozen state throws, and changes nothing', () => {
    const delta = {};
    const state = new State(Object.freeze({ a: 1 }), delta);
    const refused = (error: unknown): boolean =>
      error instanceof SessionError && error.code === 'invalid_argument' && error.key === 'a';
    assert.throws(() => state.set('a', 2), refused);
    assert.throws(() => state.delete('a'), refused);
    assert.deepEqual(delta, {});
  });

  it('under a key that is no string throws, and so does a read', () => {
    const state = new State({ 5: 'five' }, {});
    for (const key of [5, 5n, null, undefined, {}, Symbol('key')] as never[]) {
      for (const call of [
        () => state.set(key, 1),
        () => state.get(key),
        () => state.has(key),
        () => state.delete(key),
      ]) {
        assert.throws(call, { code: 'invalid_argument', key: 'key' });
      }
    }
    assert.equal(state.hasDelta(), false);
  });

  it('of changes that are no plain object throws', () => {
    const state = new State({}, {});
    for (const changes of [null, 'x', 5, ['a'], new Map([['a', 1]]), new State({ a: 1 })]) {
      assert.throws(() => state.update(changes as never), { code: 'invalid_argument' });
    }
    assert.equal(state.hasDelta(), false);
  });

  it('is the only source of a delta', () => {
    const { state } = tracked({ a: 1 });
    state.get('a');
    assert.equal(state.hasDelta(), false);
    state.set('a', 1);
    assert.equal(state.hasDelta(), true);
  });
});

it('A State of something else than objects, or with an invalid schema, cannot be made', () => {
  for (const wrong of ['x', 5, null, []] as never[]) {
    assert.throws(() => new State(wrong), { code: 'invalid_argument', key: 'value' });
    assert.throws(() => new State({}, wrong), { code: 'invalid_argument', key: 'delta' });
    assert.throws(() => new State({}, {}, wrong), { code: 'invalid_argument', key: 'stateSchema' });
  }
});

describe('State records changes made in place', () => {
  it('in an object that `get` returned', () => {
    const { delta, state } = tracked({ cart: ['tea'] });
    state.get<string[]>('cart')?.push('milk');
    assert.equal(state.hasDelta(), true);
    assert.deepEqual(delta, { cart: ['tea', 'milk'] });
  });

  it('deep within it', () => {
    const { delta, state } = tracked({ order: { items: [{ n: 1 }] } });
    const order = state.get<{ items: { n: number }[] }>('order');
    assert.ok(order?.items[0]);
    order.items[0].n = 2;
    state.recordChanges();
    assert.deepEqual(delta, { order: { items: [{ n: 2 }] } });
  });

  it('in an object that iteration gave out', () => {
    const { delta, state } = tracked({ cart: ['tea'] });
    for (const [, cart] of state) (cart as string[]).push('milk');
    state.recordChanges();
    assert.deepEqual(delta, { cart: ['tea', 'milk'] });
  });

  it('only if the JSON differs', () => {
    const { state } = tracked({ cart: ['tea'], point: { x: 1 } });
    state.get<string[]>('cart')?.push('milk');
    state.get<string[]>('cart')?.pop();
    (state.get('point') as { y?: number }).y = undefined as never;
    assert.equal(state.hasDelta(), false);
  });

  it('once, until it is changed again', () => {
    const { delta, state } = tracked({ cart: ['tea'] });
    const cart = state.get<string[]>('cart');
    cart?.push('milk');
    state.recordChanges();
    delete delta.cart;
    assert.equal(state.hasDelta(), false);
    cart?.push('bread');
    assert.equal(state.hasDelta(), true);
  });

  it('not in an object that was overwritten or removed meanwhile', () => {
    const { value, delta, state } = tracked({ cart: ['tea'], list: [1] });
    state.get<string[]>('cart')?.push('milk');
    state.get<number[]>('list')?.push(2);
    const other = new State(value);
    other.set('cart', ['coffee']);
    other.delete('list');
    state.recordChanges();
    assert.deepEqual(delta, {});
    assert.deepEqual(value, { cart: ['coffee'] });
  });

  it('not in a default that was not written', () => {
    const { state } = tracked();
    state.get('cart', [] as string[]).push('milk');
    assert.equal(state.hasDelta(), false);
  });

  it('as changed if JSON cannot represent it, so that the append reports it', () => {
    const { delta, state } = tracked({ cart: {} });
    const cart = state.get<{ self?: unknown }>('cart');
    assert.ok(cart);
    cart.self = cart;
    assert.equal(state.hasDelta(), true);
    assert.equal(delta.cart, cart);
  });

  it('never in `temp:` values', () => {
    const connection = {
      toJSON: () => assert.fail('serialised'),
      get secret() {
        return assert.fail('looked at');
      },
    };
    const { state } = tracked({ 'temp:connection': connection });
    assert.equal(state.get('temp:connection'), connection);
    assert.equal(state.hasDelta(), false);
    assert.equal(state.toRecord()['temp:connection'], connection);
    assert.equal(JSON.stringify(state), '{}');
  });
});

describe('State as a record', () => {
  it('is a copy whose changes are not writes', () => {
    const { value, state } = tracked({ cart: ['tea'] });
    const record = state.toRecord();
    (record.cart as string[]).push('milk');
    record.new = 1;
    assert.deepEqual(value, { cart: ['tea'] });
    assert.equal(state.hasDelta(), false);
    assert.deepEqual(state.toRecord(), { cart: ['tea'] });
  });

  it('has the `temp:` values themselves', () => {
    const cache = { hits: 0 };
    assert.equal(new State({ 'temp:cache': cache }).toRecord()['temp:cache'], cache);
  });

  it('equals what JSON prints', () => {
    assert.equal(JSON.stringify(new State({ a: [1], 'temp:b': 2 })), '{"a":[1]}');
  });
});

describe('State statics', () => {
  it('are the prefixes and REMOVED', () => {
    assert.deepEqual(
      [State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX, State.REMOVED],
      ['app:', 'user:', 'temp:', '__ADK_SENTINEL_REMOVED__'],
    );
  });
});

describe('State types', () => {
  interface Shape extends StateShape {
    topic: string;
    'user:name': string;
    tags?: string[];
  }
  // An interface has no index signature, which a state's shape needs.
  // eslint-disable-next-line @typescript-eslint/consistent-type-definitions
  type Closed = { topic: string; 'user:name': string; tags?: string[] };
  const state = new State<Closed>({ topic: 'tea' });

  it('know the type of a named key', () => {
    const topic: string | undefined = state.get('topic');
    const name: string | null = state.get('user:name', null);
    const tags: string[] = state.get('tags', []);
    state.set('topic', 'coffee');
    state.update({ topic: undefined, tags: ['a'] });
    state.update({ 'user:name': State.REMOVED });
    assert.deepEqual([topic, name, tags], ['tea', null, []]);
    // For the compiler alone.
    void ((): void => {
      // @ts-expect-error a number is no string
      state.set('topic', 5);
      // @ts-expect-error nor here
      state.update({ topic: 5 });
      // @ts-expect-error nor in the first state
      new State<Closed>({ topic: 5 });
      // @ts-expect-error it may be missing
      const missing: string = state.get('topic');
      void missing;
    });
  });

  it('allow other keys, as unknown or as the type of the default', () => {
    const unknown: unknown = state.get('other');
    // @ts-expect-error it is unknown
    const text: string = state.get('other');
    const next: number = state.get('count', 0) + 1;
    const asked: number | undefined = state.get<number>('count');
    state.set('other', 5);
    state.set('other', 6);
    assert.deepEqual([unknown, text, next, asked], [undefined, undefined, 1, undefined]);
  });

  it('pass a typed state where any state is expected', () => {
    const take = (any: State): unknown => any.get('topic');
    take(state);
    take(new State<Shape>());
    const untyped = new State({ cart: [] });
    untyped.set('cart', ['milk']);
    assert.deepEqual(untyped.get('cart'), ['milk']);
  });
});

it('a stamped entry of a delta is read from the state object, which is newer', () => {
  const value: StateShape = { a: 'newer' };
  const delta = { a: 'older' };
  stampWrite(value, delta, 'a');
  assert.equal(new State(value, delta).get('a'), 'newer');
});
