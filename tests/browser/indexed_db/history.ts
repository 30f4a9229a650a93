import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from './context.js';

export function history(context: Context): void {
  it('a page that returns from another one continues, and resyncs if it was restored', async (test) => {
    await inTab(context, async (tab) => {
      const name = newName();
      await tab.call('visit', name);
      await tab.open(context.site.elsewhere);
      await tab.back();
      const { wasRestored, resync, events } = await tab.call('comeBack', name);
      test.diagnostic(`${context.browser.name} ${wasRestored ? 'restored' : 'reloaded'} the page`);
      assert.equal(resync, wasRestored);
      assert.deepEqual(events, ['before', 'after']);
    });
  });
}
