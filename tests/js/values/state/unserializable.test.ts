import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { StateShape } from '../../../../js/values/state/state_shape.js';
import { State } from '../../../../js/values/state/state.js';

describe('A value that JSON cannot represent', () => {
  const cycle: StateShape = {};
  cycle.self = cycle;
  const refused: [value: unknown, path: string][] = [
    [{ items: [{ price: 1n }] }, 'cart.items[0].price'],
    [{ at: new Map() }, 'cart.at'],
    [NaN, 'cart'],
    [() => 1, 'cart'],
    [cycle, 'cart.self'],
    ['\ud800', 'cart'],
  ];

  for (const [bad, path] of refused) {
    it(`is refused by the write, at ${path} (${typeof bad})`, () => {
      const [value, delta] = [{ cart: 'old' }, {}];
      const state = new State<StateShape>(value, delta);
      for (const write of [
        () => state.set('cart', bad),
        () => state.update({ first: 1, cart: bad }),
      ]) {
        assert.throws(write, { code: 'unserializable', path });
        assert.deepEqual([value, delta], [{ cart: 'old' }, {}]);
      }
    });
  }

  it('is checked as it is written, if a getter returns another value each time', () => {
    const value = {};
    const state = new State(value);
    let reads = 0;
    state.update({
      get topic() {
        reads += 1;
        return reads === 1 ? 'tea' : () => 'tea';
      },
    });
    assert.deepEqual(value, { topic: 'tea' });
    const throwing = {
      first: 1,
      get topic(): string {
        throw new Error('no');
      },
    };
    assert.throws(() => state.update(throwing), { code: 'unserializable', path: 'topic' });
    assert.deepEqual(value, { topic: 'tea' });
  });

  it('is allowed under a `temp:` key, or with a toJSON', () => {
    const state = new State<StateShape>();
    const socket = new Map();
    state.set('temp:socket', socket);
    state.update({ 'temp:other': () => 1, when: new Date(0), gone: undefined });
    assert.equal(state.get('temp:socket'), socket);
  });

  it('can be a key with half of a surrogate pair', () => {
    const state = new State<StateShape>();
    assert.throws(() => state.set('\ud800', 1), { code: 'unserializable' });
    assert.throws(() => state.delete('\ud800'), { code: 'unserializable' });
  });
});
