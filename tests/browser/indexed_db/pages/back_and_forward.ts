// A page to which the user returns: it is restored from the back/forward cache, or loaded again.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, type IndexedDbSessionServiceOptions } from 'adk-session-wasm';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';
import { withDatabase } from '../page/bare.js';
import { idsOf, keyOf, mark, say } from '../page/events.js';
import { Feed } from '../page/feed.js';
import { giveUp, make } from '../loss/loss.js';

/** What the tests call in the page. */
export const inPage = {
  visit,
  comeBack,
  keepBusy,
  makeProgress,
  endWork,
  beginUpgrade,
  beginFilling,
  endOpening,
  upgradeInVain,
  appendBeside,
};
type Page = typeof inPage;

export function backAndForward(context: Context): void {
  it('a page that returns from another one continues, and resyncs if it was restored', async (test) => {
    await inTab<Page>(context, async (tab) => {
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
    await inTwoTabs<Page>(context, async (left, other) => {
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

  it('a page that is left in the middle of an upgrade blocks no other page, and upgrades when the user returns', async () => {
    const name = newName();
    await inTwoTabs<Page>(context, async (left, other) => {
      await left.call('beginUpgrade', name);
      await left.open(context.site.elsewhere);
      assert.deepEqual(await other.call('appendBeside', name, 'one', 'beside'), ['beside']);
      await left.back();
      await left.call('endOpening');
    });
  });

  it('a page that is left while onDataLoss fills its database blocks no upgrade in another page', async (test) => {
    const name = newName();
    await inTwoTabs<Page>(context, async (left, other) => {
      await left.call('beginFilling', name);
      await left.open(context.site.elsewhere);
      await other.call('upgradeInVain', name);
      await left.back();
      const { wasRestored } = await left.call('endOpening');
      test.diagnostic(`${context.browser.name} ${wasRestored ? 'restored' : 'reloaded'} the page`);
    });
  });
}

let state: { service: IndexedDbSessionService; feed: Feed } | undefined;
let wasRestored = false;

function noteReturn(): void {
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) wasRestored = true;
  });
}

/** Begins to work, with a feed and an open connection. */
async function visit(name: string): Promise<void> {
  noteReturn();
  const service = new IndexedDbSessionService({ name });
  state = { service, feed: new Feed(service, { appName: keyOf('').appName }) };
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
}

interface Returned {
  wasRestored: boolean;
  /** Whether the feed yielded it; waited for where the page was restored. */
  resync: boolean;
  events: string[];
}

/** Goes on with what is left of the page. */
async function comeBack(name: string): Promise<Returned> {
  if (wasRestored !== (state !== undefined))
    throw new Error('the page is neither new nor restored');
  if (state === undefined) await visit(name);
  const { service, feed } = state!;
  const isThere = (): boolean => feed.changes.some(({ type }) => type === 'resync');
  if (wasRestored) await feed.until(isThere);
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('after') });
  const events = idsOf(await service.getSession(keyOf('one')));
  await feed.until(() => (feed.revisions().one ?? []).length > 0);
  await feed.stop();
  await service.close();
  return { wasRestored, resync: isThere(), events };
}

interface Work {
  readonly service: IndexedDbSessionService;
  /** How often each kind of work has been done. */
  readonly counts: { appends: number; reads: number; lists: number };
  isDone: boolean;
  readonly ended: Promise<unknown>;
}

let work: Work | undefined;

/** Reads, lists and appends without a pause, so that the page is left in the middle. */
async function keepBusy(options: IndexedDbSessionServiceOptions): Promise<void> {
  noteReturn();
  const service = new IndexedDbSessionService(options);
  const key = keyOf('busy');
  const session = await service.getOrCreateSession({ ...key, title: 'Busy' });
  const counts = { appends: 0, reads: 0, lists: 0 };
  const repeat = async (kind: keyof Work['counts'], run: () => Promise<unknown>): Promise<void> => {
    while (work?.isDone !== true) {
      await run();
      counts[kind] += 1;
    }
  };
  const ended = Promise.all([
    repeat('appends', () => service.appendEvent({ session, event: say(`busy ${counts.appends}`) })),
    repeat('reads', () => service.getSession(key)),
    repeat('lists', () => service.listSessions({ appName: key.appName, title: 'busy' })),
  ]);
  ended.catch(() => undefined);
  work = { service, counts, isDone: false, ended };
}

/** Waits until each kind of work has been done once more. A page that was loaded again has no work. */
async function makeProgress(): Promise<void> {
  const { counts, ended } = work ?? {};
  if (counts === undefined) return;
  const before = Object.values(counts);
  while (Object.values(counts).some((count, index) => count <= before[index]!)) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10))]);
  }
}

/** Ends the work, and returns how many events were acknowledged. A page that was loaded again has no work. */
async function endWork(): Promise<{ wasRestored: boolean; acknowledged: number }> {
  if (work === undefined) return { wasRestored, acknowledged: 0 };
  work.isDone = true;
  await work.ended;
  await work.service.close();
  return { wasRestored, acknowledged: work.counts.appends };
}

let opened: Promise<void> | undefined;

/** Opens a new database, and returns in the middle of its upgrade. The first upgrade of this page does not end. */
async function beginUpgrade(name: string): Promise<void> {
  noteReturn();
  const { prototype } = IDBFactory;
  const open = prototype.open.bind(indexedDB);
  const isUpgrading = new Promise<void>((resolve) => {
    prototype.open = (...parameters) => {
      prototype.open = open;
      const request = open(...parameters);
      const read = (): void => {
        const store = request.transaction!.objectStore('meta');
        store.get('none').onsuccess = read;
        resolve();
      };
      // The package sets its listener after this function, and the stores exist after that.
      queueMicrotask(() => request.addEventListener('upgradeneeded', read));
      return request;
    };
  });
  const service = new IndexedDbSessionService({ name });
  opened = service.getOrCreateSession(keyOf('one')).then(() => service.close());
  opened.catch(() => undefined);
  await isUpgrading;
}

let endFilling = (): void => undefined;

/** Opens a database that was lost, and returns while `onDataLoss` fills it. */
async function beginFilling(name: string): Promise<void> {
  noteReturn();
  await make(name);
  await giveUp(name);
  const mayEnd = new Promise<void>((resolve) => (endFilling = resolve));
  await new Promise<void>((begin) => {
    const service = new IndexedDbSessionService({
      name,
      onDataLoss() {
        begin();
        return mayEnd;
      },
    });
    opened = service.getOrCreateSession(keyOf('one')).then(() => service.close());
    opened.catch(() => undefined);
  });
}

/** Waits for the call of `beginUpgrade` or `beginFilling`, unless the page was loaded again. */
async function endOpening(): Promise<{ wasRestored: boolean }> {
  endFilling();
  await opened;
  return { wasRestored };
}

/** Begins an upgrade, which waits until no page has the database open, and aborts it. */
async function upgradeInVain(name: string): Promise<void> {
  const version = await withDatabase(name, (database) => Promise.resolve(database.version));
  await new Promise<void>((resolve) => {
    const request = indexedDB.open(name, version + 1);
    request.onupgradeneeded = () => {
      request.transaction?.abort();
      resolve();
    };
  });
}

/** Appends to a session of another page, and returns the ids of all its events. */
async function appendBeside(name: string, sessionId: string, id: string): Promise<string[]> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.getOrCreateSession(keyOf(sessionId));
  await service.appendEvent({ session, event: say(id) });
  const ids = idsOf(await service.getSession(keyOf(sessionId)));
  await service.close();
  return ids;
}
