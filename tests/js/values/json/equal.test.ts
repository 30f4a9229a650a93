// The vectors of `src/core/json/same.rs`: the core and TypeScript have one rule.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { isEqualJson, isEqualText, keepEqual } from '../../../../js/values/json/equal.js';

interface Vector {
  name: string;
  one: string;
  other: string;
  same: boolean;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/same_json.json', import.meta.url), 'utf8'),
) as Vector[];

/** `undefined` for what is no JSON. */
function read(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) => (Object.is(value, -0) ? 0 : value));
  } catch {
    return undefined;
  }
}

describe('Whether two JSON texts are equal', () => {
  for (const { name, one, other, same } of vectors) {
    it(name, () => {
      assert.equal(isEqualText(one, other), same);
      assert.equal(isEqualText(other, one), same);
      const [left, right] = [read(one), read(other)];
      const isRead = left !== undefined && right !== undefined;
      assert.equal(isRead ? isDeepStrictEqual(left, right) : one === other, same);
    });
  }
});

describe('Whether two JSON values are equal', () => {
  it('does not depend on the order of keys, nor on the sign of zero', () => {
    assert.ok(isEqualJson({ a: 0, b: [{}] }, { b: [{}], a: -0 }));
    assert.ok(!isEqualJson({ a: 1 }, { a: 1, b: undefined }));
    assert.ok(!isEqualJson([], {}));
    assert.ok(!isEqualJson({}, 5));
    assert.ok(!isEqualJson(5, {}));
  });

  it('is what keeps a part of the last value', () => {
    const last = { zero: 0, list: [{ a: 1 }] };
    assert.equal(keepEqual(last, { list: [{ a: 1 }], zero: -0 }), last);
    const next = keepEqual(last, { zero: 1, list: [{ a: 1 }] });
    assert.deepEqual(next, { zero: 1, list: [{ a: 1 }] });
    assert.equal(next.list, last.list);
  });

  it('keeps each equal part, and changes neither value', () => {
    const last = Object.freeze({ one: { a: 1 }, two: [1], three: 1 });
    const next = Object.freeze({ one: { a: 1 }, two: [1], three: 2 });
    const kept = keepEqual(last, next);
    assert.deepEqual(kept, next);
    assert.deepEqual([kept.one === last.one, kept.two === last.two], [true, true]);
  });
});
