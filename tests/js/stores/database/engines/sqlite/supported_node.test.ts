import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { lowestMajorOf } from '../../../../../../js/stores/database/engines/sqlite/sqlite_file.js';

describe('The lowest Node that a driver supports', () => {
  for (const [range, expected] of [
    ['>=22', 22],
    ['>= 8.0', 8],
    ['20.x || 22.x || 23.x || 24.x', 20],
    ['^20.19 || >=22.12', 20],
    ['>=20 <26', 20],
    ['<26', undefined],
    ['*', undefined],
    [undefined, undefined],
  ] as const) {
    it(`of the range ${range} is ${expected}`, () => {
      assert.equal(lowestMajorOf(range), expected);
    });
  }
});
