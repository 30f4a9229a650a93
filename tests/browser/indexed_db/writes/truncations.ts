import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TRUNCATIONS } from '../../../js/service/verbs/truncations.js';
import { type Context, inTab, newName } from '../context.js';

export function truncations(context: Context): void {
  for (const test of Object.keys(TRUNCATIONS)) {
    it(`replaced end of a history: ${test}`, async () => {
      await inTab(context, (tab) => tab.call('replaceAnEnd', newName(), test));
    });
  }

  it('a replacement whose answer was lost is not repeated, and removes nothing of others', async () => {
    await inTab(context, async (tab) => {
      const { failed, stored } = await tab.call('loseReplacement', newName());
      assert.equal(failed.code, 'connection_lost');
      assert.deepEqual(stored, ['new0', 'new1', 'theirs']);
    });
  });
}
