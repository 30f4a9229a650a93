import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, inTwoTabs, newName } from './context.js';

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

  it('a page that is left in the middle of its work blocks no other page, and continues when the user returns', async (test) => {
    const name = newName();
    await inTwoTabs(context, async (left, other) => {
      await left.call('keepBusy', name);
      for (let turn = 0; turn < 5; turn += 1) {
        await left.open(context.site.elsewhere);
        const id = `beside ${turn}`;
        assert.ok((await other.call('appendBeside', name, 'busy', id)).includes(id));
        await left.back();
        await left.call('makeProgress');
      }
      const { wasRestored, acknowledged } = await left.call('endWork');
      test.diagnostic(`${context.browser.name} ${wasRestored ? 'restored' : 'reloaded'} the page`);
      const ids = await other.call('appendBeside', name, 'busy', 'last');
      const stored = ids.filter((id) => id.startsWith('busy'));
      assert.deepEqual(
        stored,
        stored.map((_, number) => `busy ${number}`),
      );
      assert.ok(stored.length >= acknowledged);
    });
  });

  it('a page that is left in the middle of an upgrade blocks no other page, and upgrades when the user returns', async () => {
    const name = newName();
    await inTwoTabs(context, async (left, other) => {
      await left.call('beginUpgrade', name);
      await left.open(context.site.elsewhere);
      assert.deepEqual(await other.call('appendBeside', name, 'one', 'beside'), ['beside']);
      await left.back();
      await left.call('endUpgrade');
    });
  });

  it('a page that is left during a commit repeats an append, and no deletion', async () => {
    await inTab(context, async (tab) => {
      const { events, deletion, isDeleted } = await tab.call('leaveInCommits', newName());
      assert.deepEqual(events, ['appended']);
      assert.equal(deletion.code, 'connection_lost');
      assert.match(deletion.message, /the page was left during the commit/);
      assert.equal(isDeleted, true);
    });
  });
}
