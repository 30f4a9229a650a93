import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

export function walks(context: Context): void {
  it('a walk gives each session and each event once, whatever two services write meanwhile', async () => {
    await inTab(context, async (tab) => {
      const fault = await tab.call('findLost', newName(), 12);
      // Results come as JSON, which has no `undefined`.
      assert.equal(fault ?? undefined, undefined);
    });
  });

  it('deleteSessions keeps a session that got an event after it was listed', async () => {
    await inTab(context, async (tab) => {
      const fault = await tab.call('deleteAndAppend', newName());
      assert.equal(fault ?? undefined, undefined);
    });
  });
}
