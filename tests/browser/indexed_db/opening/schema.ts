import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';

export function schema(context: Context): void {
  it('a database of a newer version is refused and unchanged', async () => {
    await inTab(context, async (tab) => {
      const { failures, version, before, after } = await tab.call('openNewer', newName());
      const codes = failures.map(({ code }) => code);
      assert.deepEqual(codes, ['storage_newer', 'storage_newer']);
      assert.equal(version, 1000);
      assert.deepEqual(after, before);
    });
  });

  it('an upgrade blocked by another tab is reported, and completes when that tab closes its connection', async () => {
    await inTwoTabs(context, async (holding, upgrading) => {
      const name = newName();
      const older = await holding.call('holdOpen', name);
      const { code } = await upgrading.call('upgradeBlocked', name);
      assert.equal(code, 'storage_blocked');
      await holding.call('letGo');
      const { events, version } = await upgrading.call('readUpgraded', name);
      assert.deepEqual(events, ['before']);
      assert.equal(version, older + 1);
    });
  });

  it('an upgrade blocked by another tab completes when that tab is closed', async () => {
    await inTwoTabs(context, async (holding, upgrading) => {
      const name = newName();
      await holding.call('holdOpen', name);
      const { code } = await upgrading.call('upgradeBlocked', name);
      assert.equal(code, 'storage_blocked');
      await holding.close();
      assert.deepEqual((await upgrading.call('readUpgraded', name)).events, ['before']);
    });
  });

  it('a tab that needs exclusive access is not blocked, and the service reopens the database', async () => {
    await inTwoTabs(context, async (using, deleting) => {
      const name = newName();
      await using.call('stayOpen', name);
      assert.deepEqual(await deleting.call('deleteBare', name), { wasBlocked: false });
      assert.deepEqual(await using.call('goOn'), { gone: true, events: ['after'] });
    });
  });

  it('deleteDatabase deletes a database that services of other tabs use', async () => {
    await inTwoTabs(context, async (using, deleting) => {
      const name = newName();
      await using.call('stayOpen', name);
      await deleting.call('deleteByPackage', name);
      assert.deepEqual(await using.call('goOn'), { gone: true, events: ['after'] });
    });
  });
}
