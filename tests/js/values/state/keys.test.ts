import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { joinScopes, scopedKey, splitByScope, writeKey } from '../../../../js/values/state/keys.js';
import { REMOVED } from '../../../../js/values/state/scope.js';

describe('The keys of a state', () => {
  it('lose their prefixes in the states of their scopes, and get them back', () => {
    const all = { topic: 'tea', 'user:name': 'Ada', 'app:open': true, 'cart:items': [1] };
    const split = splitByScope({ ...all, 'temp:draft': 1 });
    assert.deepEqual(split, {
      session: { topic: 'tea', 'cart:items': [1] },
      user: { name: 'Ada' },
      app: { open: true },
    });
    assert.deepEqual(joinScopes(split), all);
    assert.deepEqual(scopedKey('user:'), ['user', '']);
  });

  it('may have the names of what objects inherit', () => {
    const all = JSON.parse('{"__proto__": 1, "user:__proto__": 2}') as Record<string, unknown>;
    const split = splitByScope(all);
    assert.equal(JSON.stringify(split.session), '{"__proto__":1}');
    assert.equal(JSON.stringify(split.user), '{"__proto__":2}');
    assert.equal(JSON.stringify(joinScopes(split)), JSON.stringify(all));
  });

  it('are set and removed, and a removed key comes back as the last one', () => {
    const state: Record<string, unknown> = { a: 1, b: 2 };
    writeKey(state, 'a', REMOVED);
    writeKey(state, 'c', null);
    writeKey(state, 'b', undefined);
    writeKey(state, 'a', 3);
    assert.deepEqual(Object.entries(state), [
      ['c', null],
      ['a', 3],
    ]);
    writeKey(Object.freeze(state), 'a', 4);
    assert.equal(state.a, 3);
  });
});
