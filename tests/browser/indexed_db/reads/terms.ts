import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

/** More sessions have the frequent label than the index is used for. */
const SESSIONS = 1100;

export function terms(context: Context): void {
  it('a list by title and labels has what a model has, whatever two services wrote before', async () => {
    await inTab(context, async (tab) => {
      const difference = await tab.call('compareLists', newName(), 12);
      // Results come as JSON, which has no `undefined`.
      assert.equal(difference ?? undefined, undefined);
    });
  });

  it('a list by a rare label reads the sessions that have it, and no others', async () => {
    await inTab(context, async (tab) => {
      const result = await tab.call('listByLabel', newName(), SESSIONS);
      const { first, second, filled, refilled, frequent } = result;
      const ids = [`s${SESSIONS - 1}`, 's10', 's1'];
      for (const found of [first, second, filled, refilled]) assert.deepEqual(found.ids, ids);
      const gets = ids.map(() => 'get of object');
      assert.deepEqual(second.requests, gets);
      assert.deepEqual(refilled.requests, gets);
      const last = Array.from({ length: 5 }, (_, number) => `s${SESSIONS - 1 - number}`);
      assert.deepEqual(frequent.ids, last);
      assert.ok(!frequent.requests.includes('get of object'), frequent.requests.join());
      // One of them is the note that no session lacks its record.
      assert.deepEqual(result.records, [SESSIONS + 1, SESSIONS + 1 - ids.length]);
      assert.equal(result.deleted, ids.length);
    });
  });
}
