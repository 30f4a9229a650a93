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

  it('listChanges does not wait for other calls of listChanges, and sees what was appended', async () => {
    await inTab(context, async (tab) => {
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
      const { events, steps } = await tab.call('listChangesAtOnce', newName(), ids);
      assert.deepEqual(
        events,
        ids.map((id) => [id]),
      );
      assert.match(steps.join(), /begins,begins/);
    });
  });

  it('2,000 counts at once by two services add up', async () => {
    await inTab(context, async (tab) => {
      assert.equal(await tab.call('countAtOnce', newName()), 2000);
    });
  });
}
