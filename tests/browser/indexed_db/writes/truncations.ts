import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TRUNCATIONS } from '../../../js/service/verbs/truncations.js';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, newName } from '../context.js';

export function truncations(context: Context, browserName: BrowserName): void {
  for (const test of Object.keys(TRUNCATIONS)) {
    it(`replaced end of a history: ${test}`, async () => {
      await inTab(context, (tab) => tab.call('replaceAnEnd', newName(), test, false));
    });
  }

  it('a replacement whose answer was lost is not repeated, and removes nothing of others', async () => {
    await inTab(context, async (tab) => {
      const { failed, stored } = await tab.call('loseReplacement', newName());
      assert.equal(failed.code, 'connection_lost');
      assert.deepEqual(stored, ['new0', 'new1', 'theirs']);
    });
  });

  if (browserName !== 'chromium') return;
  it('replaced end of a history: the mirror has the same records', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      await tab.call('replaceAnEnd', name, 'a long history is cut in its middle', true);
      const { primary, mirror } = await tab.call('copies', name);
      assert.ok(mirror.length > 0);
      assert.deepEqual(mirror, primary);
    });
  });
}
