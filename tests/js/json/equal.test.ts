// Sameness in the wasm is that of JavaScript's own reader.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import '../../js/index.js';
import { isSameJson } from '../../js/wasm/core.js';

interface Vector {
  name: string;
  one: string;
  other: string;
  same: boolean;
}

const vectors = JSON.parse(
  readFileSync(new URL('../vectors/same_json.json', import.meta.url), 'utf8'),
) as Vector[];

/** `undefined` for what is no JSON. */
function read(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) => (Object.is(value, -0) ? 0 : value));
  } catch {
    return undefined;
  }
}

describe('Whether two JSON texts are the same', () => {
  for (const { name, one, other, same } of vectors) {
    it(name, () => {
      assert.equal(isSameJson(one, other), same);
      assert.equal(isSameJson(other, one), same);
      const [left, right] = [read(one), read(other)];
      const isRead = left !== undefined && right !== undefined;
      assert.equal(isRead ? isDeepStrictEqual(left, right) : one === other, same);
    });
  }
});
