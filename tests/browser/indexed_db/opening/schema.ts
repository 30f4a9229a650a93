// Databases of other versions, and tabs that want the database for themselves.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import type { StoreName } from '../../../../js/stores/indexed_db/layout.js';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';
import {
  answer,
  completion,
  type Dump,
  dump,
  openBare,
  type Row,
  withDatabase,
} from '../page/bare.js';
import { type Failure, failure, idsOf, keyOf, mark } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = {
  openOtherVersion,
  layoutOfNew,
  holdOlder,
  letGo,
  openHeld,
  stayOpen,
  deleteBare,
  deleteByPackage,
  goOn,
};
type Page = typeof inPage;

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
      await inTab<Page>(context, async (tab) => {
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
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(await tab.call('layoutOfNew', newName()), { version: 4, stores: LAYOUT });
    });
  });

  it('an opening that another tab blocks is reported until that tab closes its connection', async () => {
    await inTwoTabs<Page>(context, async (holding, opening) => {
      const name = newName();
      await holding.call('holdOlder', name);
      assert.equal((await opening.call('openHeld', name)).code, 'storage_blocked');
      await holding.call('letGo');
      assert.equal((await opening.call('openHeld', name)).code, 'storage_failed');
    });
  });

  it('a tab that needs exclusive access is not blocked, and the service reopens the database', async () => {
    await inTwoTabs<Page>(context, async (using, deleting) => {
      const name = newName();
      await using.call('stayOpen', name);
      assert.deepEqual(await deleting.call('deleteBare', name), { wasBlocked: false });
      assert.deepEqual(await using.call('goOn'), { gone: true, events: ['after'] });
    });
  });

  it('deleteDatabase deletes a database that services of other tabs use', async () => {
    await inTwoTabs<Page>(context, async (using, deleting) => {
      const name = newName();
      await using.call('stayOpen', name);
      await deleting.call('deleteByPackage', name);
      assert.deepEqual(await using.call('goOn'), { gone: true, events: ['after'] });
    });
  });
}

interface OtherVersionResult {
  failures: Failure[];
  version: number;
  before: Dump;
  after: Dump;
  /** The sessions that were created after `deleteDatabase`. */
  created: string[];
}

async function makeBare(name: string, version: number): Promise<IDBDatabase> {
  const database = await openBare(name, version, (made) => {
    made.createObjectStore('sessions', { keyPath: 'id' });
    made.createObjectStore('others', { autoIncrement: true });
  });
  const transaction = database.transaction(['sessions', 'others'], 'readwrite');
  transaction.objectStore('sessions').put({ id: 'one', told: 'by another version' });
  transaction.objectStore('others').put('kept');
  await completion(transaction);
  return database;
}

/** Opens a database of a version that this package does not have, and then deletes it. */
async function openOtherVersion(name: string, made: number): Promise<OtherVersionResult> {
  (await makeBare(name, made)).close();
  const before = await dump(name);
  const service = new IndexedDbSessionService({ name });
  const failures = [
    await failure(() => service.createSession(keyOf('one'))),
    await failure(() => service.getSession(keyOf('one'))),
  ];
  const version = await withDatabase(name, async (opened) => opened.version);
  const after = await dump(name);
  await IndexedDbSessionService.deleteDatabase(name);
  const { id } = await service.createSession(keyOf('one'));
  await service.close();
  return { failures, version, before, after, created: [id] };
}

/** The stores of a database: their keys, and by name each index with its key. */
type Layout = Record<string, { key: unknown; indexes: Row }>;

/** The layout of a new database. */
async function layoutOfNew(name: string): Promise<{ version: number; stores: Layout }> {
  const service = new IndexedDbSessionService({ name });
  await service.ping();
  await service.close();
  return withDatabase(name, async (database) => {
    const stores: Layout = {};
    const transaction = database.transaction(database.objectStoreNames);
    for (const name of database.objectStoreNames) {
      const store = transaction.objectStore(name);
      const indexes = [...store.indexNames].map((name): [string, unknown] => {
        const { keyPath, unique, multiEntry } = store.index(name);
        return [name, { keyPath, unique, multiEntry }];
      });
      stores[name] = { key: store.keyPath, indexes: Object.fromEntries(indexes) };
    }
    await completion(transaction);
    return { version: database.version, stores };
  });
}

let held: IDBDatabase | undefined;

/** Holds a database of an older version open, as a tab does that knows no manners. */
async function holdOlder(name: string): Promise<void> {
  held = await makeBare(name, 1);
}

function letGo(): void {
  held?.close();
}

async function openHeld(name: string): Promise<Failure> {
  const service = new IndexedDbSessionService({ name, timeoutMs: 1_000 });
  const failed = await failure(() => service.getSession(keyOf('one')));
  await service.close();
  return failed;
}

let open: IndexedDbSessionService | undefined;

/** Leaves a service open, as a tab does that is in use. */
async function stayOpen(name: string): Promise<void> {
  open = new IndexedDbSessionService({ name });
  const session = await open.createSession(keyOf('one'));
  await open.appendEvent({ session, event: mark('before') });
}

/** Deletes the database from another tab: whether anything was in its way. */
async function deleteBare(name: string): Promise<{ wasBlocked: boolean }> {
  const request = indexedDB.deleteDatabase(name);
  let wasBlocked = false;
  request.onblocked = () => (wasBlocked = true);
  await answer(request);
  return { wasBlocked };
}

async function deleteByPackage(name: string): Promise<void> {
  await IndexedDbSessionService.deleteDatabase(name);
}

/** The outcome of a call of the open service after the deletion of its database. */
async function goOn(): Promise<{ gone: boolean; events: string[] }> {
  if (open === undefined) throw new Error('stayOpen comes first');
  const gone = (await open.getSession(keyOf('one'))) === undefined;
  const session = await open.createSession(keyOf('one'));
  await open.appendEvent({ session, event: mark('after') });
  return { gone, events: idsOf(await open.getSession(keyOf('one'))) };
}
