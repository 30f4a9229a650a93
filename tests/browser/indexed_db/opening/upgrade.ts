import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import type { StoreName } from '../../../../js/indexed_db/layout.js';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';
import type { Readable, Records } from '../page/opening/upgrade.js';

/** A database of version 1, as the last package with that version stored it. */
const records = JSON.parse(
  readFileSync(new URL('./version_1.json', import.meta.url), 'utf8'),
) as Records;

const SHARED = {
  'user:name': 'Ada',
  'user:one': 'one',
  'user:two': 'two',
  'app:theme': 'dark',
  'app:one': 'one',
  'app:two': 'two',
};
const OWN = { topic: 'tea', last: '00008', one: 'one', two: 'two', replaced: true };
const PAGED = Array.from({ length: 9 }, (_, number) => `paged 0000${number}`);
const EVENTS = [...PAGED, 'one', 'two'].map((id): [string, string] => [
  id,
  id === 'paged 00003' ? 'said again' : id,
]);

/** The data that the public calls read from these records. */
const READABLE: Readable = {
  sessions: {
    long: { state: { ...OWN, ...SHARED }, events: EVENTS },
    empty: { state: SHARED, events: [] },
  },
  listed: [
    ['ada', 'long'],
    ['ada', 'empty'],
    ['bob', 'long'],
  ],
  byCreation: ['long', 'empty', 'long'],
  bob: { name: 'Bob' },
};

const plain = { unique: false, multiEntry: false };
const sessionKey = ['appName', 'userId', 'sessionId'];

const LAYOUT: Record<StoreName, { key: unknown; indexes: Record<string, unknown> }> = {
  sessions: {
    key: sessionKey,
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
  details: {
    key: ['number', 'kind', 'id'],
    indexes: { term: { keyPath: 'terms', unique: false, multiEntry: true } },
  },
  outbox: { key: [...sessionKey, 'position'], indexes: {} },
  leases: { key: 'key', indexes: {} },
};

export function upgrade(context: Context): void {
  it('a database of version 1 is upgraded, and all of it is readable', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      await tab.call('makeVersion1', name, records);
      assert.deepEqual(await tab.call('readUpgradedRecords', name), READABLE);
      assert.deepEqual(await tab.call('layoutOf', name), { version: 2, stores: LAYOUT });
    });
  });

  it('all sessions of version 1 get a createTime, however many there are', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      const ids = Array.from({ length: 1100 }, (_, number) => `s${number + 1000}`);
      const [empty] = records.sessions!.filter(({ sessionId }) => sessionId === 'empty');
      const sessions = ids.map((sessionId, at) => ({ ...empty, sessionId, number: at + 1 }));
      await tab.call('makeVersion1', name, { ...records, events: [], sessions });
      const { byCreation } = await tab.call('readUpgradedRecords', name);
      assert.deepEqual(byCreation, ids);
    });
  });

  it('a new database has the layout of an upgraded one', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      await tab.call('makeNew', name);
      assert.deepEqual(await tab.call('layoutOf', name), { version: 2, stores: LAYOUT });
    });
  });

  it('sessions of version 1 can be appended to, replaced in, sealed and deleted', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      await tab.call('makeVersion1', name, records);
      const { sessions, listed } = await tab.call('writeUpgradedRecords', name, 140);
      const added = Array.from({ length: 140 }, (_, number) => {
        const id = `new ${String(number).padStart(5, '0')}`;
        return [id, id];
      });
      const events = [...EVENTS, ...added].map(([id, text]) =>
        id === 'one' ? [id, 'replaced'] : [id, text],
      );
      assert.deepEqual(sessions.long?.events, events);
      assert.deepEqual(sessions.fresh?.events, [['first', 'first']]);
      const keys = listed.map((key) => key.join('/')).sort();
      assert.deepEqual(keys, ['ada/fresh', 'ada/long', 'bob/long']);
    });
  });

  it('an upgrade that fails leaves the database of version 1, and the next one succeeds', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      await tab.call('makeVersion1', name, records);
      const { failed, version, before, after } = await tab.call('failUpgrade', name);
      assert.equal(failed.code, 'storage_failed');
      assert.match(failed.message, /step 2: QuotaExceededError/);
      assert.equal(version, 1);
      assert.equal(after, before);
      assert.deepEqual(await tab.call('readUpgradedRecords', name), READABLE);
    });
  });

  it('a tab with an older package is notified of the upgrade, and then finds the database too new', async () => {
    await inTwoTabs(context, async (older, newer) => {
      const name = newName();
      await older.call('makeVersion1', name, records);
      await older.call('holdVersion1', name);
      assert.deepEqual(await newer.call('readUpgradedRecords', name), READABLE);
      const seen = await older.call('openVersion1Again', name);
      assert.deepEqual(seen, { wasTold: true, error: 'VersionError' });
    });
  });
}
