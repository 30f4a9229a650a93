import assert from 'node:assert/strict';
import { it } from 'node:test';

import { planOf } from '../../../../js/cache/copies/fetch.js';
import type { Base } from '../../../../js/cache/records/session_record.js';

function base(members: Partial<Base>): Base {
  return { id: 'b1', created: 1, revision: 5, copy: 1, local: 5, usedAt: 0, ...members };
}

const PLANS: [string, Parameters<typeof planOf>, ReturnType<typeof planOf>][] = [
  ['no copy, for a read of all events', [false, undefined, Infinity], Infinity],
  ['no copy, for a read of a few', [false, undefined, 5], 100],
  ['no copy, for a read of many', [false, undefined, 300], 300],
  ['a copy that was created here', [true, undefined, 0], Infinity],
  ['a copy with all events', [true, base({}), Infinity], 'changes'],
  ['a window that is large enough', [true, base({ windowSize: 100 }), 50], 'changes'],
  ['a window that is too small', [true, base({ windowSize: 100 }), 300], 300],
  ['a window, for a read of all events', [true, base({ windowSize: 100 }), Infinity], Infinity],
  ['a copy of a list without events', [true, base({ windowSize: 0 }), 5], 100],
  ['a stale copy with all events', [true, base({ isStale: true }), 5], Infinity],
  ['a stale window', [true, base({ windowSize: 200, isStale: true }), 5], 200],
  ['all events of a remote without revisions', [true, base({ created: null }), 0], Infinity],
  [
    'a window of a remote without revisions',
    [true, base({ created: null, windowSize: 150 }), 0],
    150,
  ],
];

for (const [what, values, plan] of PLANS) {
  it(`the plan for ${what} is ${plan}`, () => assert.equal(planOf(...values), plan));
}
