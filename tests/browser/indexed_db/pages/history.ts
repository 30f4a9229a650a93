import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';

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

  leaving(context);

  it('a page that is left in the middle of an upgrade blocks no other page, and upgrades when the user returns', async () => {
    const name = newName();
    await inTwoTabs(context, async (left, other) => {
      await left.call('beginUpgrade', name);
      await left.open(context.site.elsewhere);
      assert.deepEqual(await other.call('appendBeside', name, 'one', 'beside'), ['beside']);
      await left.back();
      await left.call('endOpening');
    });
  });

  it('a page that is left while onDataLoss fills its database blocks no upgrade in another page', async (test) => {
    const name = newName();
    await inTwoTabs(context, async (left, other) => {
      await left.call('beginFilling', name);
      await left.open(context.site.elsewhere);
      await other.call('upgradeInVain', name);
      await left.back();
      const { wasRestored } = await left.call('endOpening');
      test.diagnostic(`${context.browser.name} ${wasRestored ? 'restored' : 'reloaded'} the page`);
    });
  });

  it('a call continues however often the page is left in the middle of its transactions', async () => {
    await inTab(context, async (tab) => {
      assert.deepEqual(await tab.call('leaveInTransactions', newName()), [
        'append',
        'append to two',
        'count',
        'create',
        'read',
        'list changes',
        'list',
        'list by title',
        'delete',
        'counted 1',
        'a',
        'b',
      ]);
    });
  });

  it('a page that is left while it opens a lost database closes its connections, and reports the loss once', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
    });
    await inTab(context, async (tab) => {
      const { lost, notices, connections, left } = await tab.call('leaveInNoting', name);
      assert.ok(connections > 0);
      assert.equal(left, 0);
      assert.match(lost.after, /gave up the database/);
      assert.deepEqual(
        notices.filter((type) => type === 'lost'),
        ['lost'],
      );
    });
  });
}

/** What a page does that is left in the middle of its work. */
function leaving(context: Context): void {
  it('a page that is left in the middle of its work blocks no other page, and continues when the user returns', async (test) => {
    const name = newName();
    await inTwoTabs(context, async (left, other) => {
      await left.call('keepBusy', { name });
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

  it('a page that is left during a commit repeats an append, and no deletion', async () => {
    await inTab(context, async (tab) => {
      const { events, deletion, isDeleted } = await tab.call('leaveInCommits', {
        name: newName(),
      });
      assert.deepEqual(events, ['appended']);
      assert.equal(deletion.code, 'connection_lost');
      assert.match(deletion.message, /the page was left/);
      assert.equal(isDeleted, true);
    });
  });
}
