import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { StoreName } from '../../../../js/indexed_db/layout.js';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';

const plain = { unique: false, multiEntry: false };

const LAYOUT: Record<StoreName, { key: unknown; indexes: Record<string, unknown> }> = {
  sessions: {
    key: ['appName', 'userId', 'sessionId'],
    indexes: {
      app: { ...plain, keyPath: ['appName', 'lastUpdateTime', 'sessionId', 'userId'] },
      user: { ...plain, keyPath: ['appName', 'userId', 'lastUpdateTime', 'sessionId'] },
      appCreation: { ...plain, keyPath: ['appName', 'createTime', 'sessionId', 'userId'] },
      userCreation: { ...plain, keyPath: ['appName', 'userId', 'createTime', 'sessionId'] },
    },
  },
  states: { key: 'key', indexes: {} },
  events: {
    key: ['number', 'seq'],
    indexes: {
      id: { keyPath: 'ids', unique: true, multiEntry: true },
      time: { ...plain, keyPath: ['number', 'time'] },
      replaced: { ...plain, keyPath: 'replaced' },
    },
  },
  meta: { key: 'key', indexes: {} },
};

export function schema(context: Context): void {
  for (const [what, made, code, message] of [
    ['a newer version', 1000, 'storage_newer', /newer version/],
    [
      'an earlier build',
      2,
      'storage_failed',
      /earlier build .* call deleteDatabase: its layout is 2/,
    ],
  ] as const) {
    it(`a database of ${what} is refused by name, and unchanged until it is deleted`, async () => {
      await inTab(context, async (tab) => {
        const { failures, version, before, after, created } = await tab.call(
          'openOtherVersion',
          newName(),
          made,
        );
        assert.deepEqual(
          failures.map((failed) => failed.code),
          [code, code],
        );
        for (const failed of failures) assert.match(failed.message, message);
        assert.equal(version, made);
        assert.deepEqual(after, before);
        assert.deepEqual(created, ['one']);
      });
    });
  }

  it('a new database has the stores and indexes of the layout', async () => {
    await inTab(context, async (tab) => {
      assert.deepEqual(await tab.call('layoutOfNew', newName()), { version: 3, stores: LAYOUT });
    });
  });

  it('an opening that another tab blocks is reported until that tab closes its connection', async () => {
    await inTwoTabs(context, async (holding, opening) => {
      const name = newName();
      await holding.call('holdOlder', name);
      assert.equal((await opening.call('openHeld', name)).code, 'storage_blocked');
      await holding.call('letGo');
      assert.equal((await opening.call('openHeld', name)).code, 'storage_failed');
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
