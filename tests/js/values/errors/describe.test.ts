import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import vm from 'node:vm';

import { describeValue, kindOf, messageOf } from '../../../../js/values/errors/describe.js';

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

describe('describeValue', () => {
  const shown: [unknown, string][] = [
    ['tea', '"tea"'],
    ['', '""'],
    ['\ud800"', '"\\ud800\\""'],
    ['x'.repeat(40), `"${'x'.repeat(40)}"`],
    ['x'.repeat(41), `"${'x'.repeat(40)}…" of 41 characters`],
    [-0.5, '-0.5'],
    [NaN, 'NaN'],
    [true, 'true'],
    [undefined, 'undefined'],
    [{ secret: 'tea' }, 'an instance of Object'],
    [() => 'secret', 'a function'],
  ];
  for (const [value, text] of shown) {
    it(`returns ${text}`, () => assert.equal(describeValue(value), text));
  }
});

describe('messageOf', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const silent = Object.defineProperty(new Error(), 'message', {
    get() {
      throw new Error('no message today');
    },
  });
  const thrown: [string, unknown, string][] = [
    ['an error', new TypeError('no name today'), 'no name today'],
    ['a text', 'no name today', 'no name today'],
    ['a number', 5, 'a number'],
    ['a revoked proxy', revoked.proxy, 'an object that cannot be read'],
    ['an error whose message throws', silent, 'an instance of Error'],
  ];
  for (const [what, value, text] of thrown) {
    it(`returns ${text} for ${what}`, () => assert.equal(messageOf(value), text));
  }
});
