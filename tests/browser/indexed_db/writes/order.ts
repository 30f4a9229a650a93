import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

export function order(context: Context): void {
  it('calls that do not await each other take effect in their order', async () => {
    await inTab(context, async (tab) => {
      const { codes, events, keys } = await tab.call('callAtOnce', newName());
      assert.deepEqual(codes, new Array(codes.length).fill(null));
      assert.deepEqual(events, []);
      assert.deepEqual(keys.sort(), ['c', 'user:early']);
    });
  });

  it('2,000 counts at once by two services add up', async () => {
    await inTab(context, async (tab) => {
      assert.equal(await tab.call('countAtOnce', newName()), 2000);
    });
  });
}
