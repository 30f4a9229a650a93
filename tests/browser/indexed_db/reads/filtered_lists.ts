import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

export function filteredLists(context: Context): void {
  it('a list by title and labels has what a model has, whatever two services wrote before', async () => {
    await inTab(context, async (tab) => {
      const difference = await tab.call('compareLists', newName(), 12);
      // Results come as JSON, which has no `undefined`.
      assert.equal(difference ?? undefined, undefined);
    });
  });
}
