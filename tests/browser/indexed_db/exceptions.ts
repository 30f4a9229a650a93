import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from './context.js';
import type { ThrowingMethod } from './page/exceptions.js';

/** Which calls of a method throw, of those that the wasm makes. */
const CALLS: Record<ThrowingMethod, number[]> = {
  join: [1],
  push: [1, 40, 300],
  concat: [1],
  pop: [1],
  now: [2, 50, 200],
  stringify: [1],
};

export function exceptions(context: Context): void {
  for (const method of Object.keys(CALLS) as ThrowingMethod[]) {
    for (const call of CALLS[method]) {
      it(`every call settles, and the next ones work, when call ${call} of ${method} throws`, async () => {
        await inTab(context, async (tab) => {
          const result = await tab.call('interrupt', newName(), method, call);
          const { thrown, outcomes, events, acknowledged, appended, uncaught } = result;
          assert.equal(thrown, 1, 'the exception was thrown');
          const codes = outcomes.filter((code) => code !== 'internal');
          assert.deepEqual(codes, []);
          assert.deepEqual(uncaught, []);
          const stored = new Set(events);
          assert.equal(stored.size, events.length, 'each event is stored once');
          assert.deepEqual(
            acknowledged.filter((id) => !stored.has(id)),
            [],
            'what was acknowledged is stored',
          );
          assert.deepEqual(
            events.filter((id) => !appended.includes(id)),
            [],
          );
        });
      });
    }
  }
}
