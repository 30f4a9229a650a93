import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

const EVENTS = 10_000;

export function deletion(context: Context): void {
  it('deleting a session of 10,000 events deletes one range, without counting', async () => {
    await inTab(context, async (tab) => {
      const { requests, records } = await tab.call('deleteLong', newName(), EVENTS);
      assert.ok(records[0] > 1);
      assert.equal(records[1], 1);
      assert.deepEqual(requests, ['delete of a range']);
    });
  });
}
