import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import vm from 'node:vm';

import { kindOf } from '../../../js/json/rules.js';

describe('kindOf', () => {
  const hidden = new Proxy(
    {},
    {
      get() {
        throw new Error('hidden');
      },
    },
  );
  class Cart {}
  const kinds: [unknown, string][] = [
    [undefined, 'undefined'],
    [null, 'null'],
    [1n, 'a BigInt'],
    ['tea', 'a string'],
    [[], 'an array'],
    [vm.runInNewContext('[]'), 'an array'],
    [new Cart(), 'an instance of Cart'],
    [new (class {})(), 'a class instance'],
    [hidden, 'an object that cannot be read'],
  ];
  for (const [value, kind] of kinds) {
    it(`returns ${kind}`, () => assert.equal(kindOf(value), kind));
  }
});
