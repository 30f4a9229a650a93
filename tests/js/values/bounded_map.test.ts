import assert from 'node:assert/strict';
import { it } from 'node:test';

import { putLast } from '../../../js/values/bounded_map.js';

it('a bounded map drops the entry that was put longest ago, also if it was put before', () => {
  const map = new Map<string, number>();
  for (const key of ['a', 'b', 'c']) putLast(map, key, 1, 3);
  putLast(map, 'a', 2, 3);
  putLast(map, 'd', 1, 3);
  assert.deepEqual(
    [...map],
    [
      ['c', 1],
      ['a', 2],
      ['d', 1],
    ],
  );
  putLast(map, 'c', 3, 1);
  assert.deepEqual([...map], [['c', 3]]);
});
