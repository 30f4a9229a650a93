// A page to which the user returns: it is restored from the back/forward cache, or loaded again.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, type IndexedDbSessionServiceOptions } from 'adk-session-wasm';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';
import { around } from '../page/around.js';
import { isOpen, rows, withDatabase } from '../page/bare.js';
import { type Failure, failure, idsOf, keyOf, mark, say } from '../page/events.js';
import { Feed } from '../page/feed.js';
import { type AfterLoss, giveUp, make, open } from '../loss/loss.js';

/** What the tests call in the page. */
export const inPage = {
  make,
  giveUp,
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
  appendFrozen,
  leaveInCommits,
  leaveInTransactions,
  leaveInNoting,
};
type Page = typeof inPage;

export function history(context: Context): void {
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

  leaving(context);

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

  it('a call continues however often the page is left in the middle of its transactions', async () => {
    await inTab<Page>(context, async (tab) => {
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
    await inTab<Page>(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
    });
    await inTab<Page>(context, async (tab) => {
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

  it('a frozen tab begins no transaction until it resumes', async () => {
    await inTab<Page>(context, async (tab) => {
      const { whileFrozen, events } = await tab.call('appendFrozen', newName());
      assert.equal(whileFrozen, 0);
      assert.deepEqual(events, ['appended']);
    });
  });

  it('a page that is left during a commit repeats an append, and no deletion', async () => {
    await inTab<Page>(context, async (tab) => {
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

/** How often the page is left during one call. */
const TIMES = 3;

function leave(): void {
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
}

function comeBackTo(): void {
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
}

/** Appends in a tab that Chromium says it freezes. Counts the transactions that write before it resumes. */
async function appendFrozen(name: string): Promise<{ whileFrozen: number; events: string[] }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  let count = 0;
  const end = around(IDBDatabase.prototype, 'transaction', (_database, values, proceed) => {
    if (values[1] === 'readwrite') count += 1;
    return proceed(...values);
  });
  document.dispatchEvent(new Event('freeze'));
  const appended = service.appendEvent({ session, event: say('appended') });
  // A transaction of the append would have begun before this one.
  await rows(name, 'sessions');
  const whileFrozen = count;
  document.dispatchEvent(new Event('resume'));
  await appended;
  end();
  const events = idsOf(await service.getSession(keyOf('one')));
  await service.close();
  return { whileFrozen, events };
}

/** Leaves the page in the middle of the commits of an append, and of a deletion. Each time the user returns. */
async function leaveInCommits(
  options: IndexedDbSessionServiceOptions,
): Promise<{ events: string[]; deletion: Failure; isDeleted: boolean }> {
  const service = new IndexedDbSessionService(options);
  const session = await service.createSession(keyOf('one'));
  await leftIn(IDBTransaction.prototype, 'commit', () =>
    service.appendEvent({ session, event: say('appended') }),
  );
  const events = idsOf(await service.getSession(keyOf('one')));
  const deletion = await leftIn(IDBTransaction.prototype, 'commit', () =>
    failure(() => service.deleteSession(keyOf('one'))),
  );
  const isDeleted = (await service.getSession(keyOf('one'))) === undefined;
  await service.close();
  return { events, deletion, isDeleted };
}

/** Leaves the page in the middle of the transactions of each kind of call. Returns what the calls that succeeded did. */
async function leaveInTransactions(name: string): Promise<string[]> {
  const service = new IndexedDbSessionService({ name });
  const { appName } = keyOf('');
  const one = await service.createSession({ ...keyOf('one'), title: 'One' });
  const two = await service.createSession(keyOf('two'));
  const append = (session: typeof one, id: string) =>
    service.appendEvent({ session, event: say(id) });
  const calls: [call: string, run: () => Promise<unknown>][] = [
    ['append', () => append(one, 'a')],
    ['append to two', () => Promise.all([append(one, 'b'), append(two, 'b')])],
    [
      'count',
      () =>
        service.updateState({
          appName,
          stateDelta: ({ 'app:n': n = 0 }) => ({ 'app:n': Number(n) + 1 }),
        }),
    ],
    ['create', () => service.createSession(keyOf('three'))],
    ['read', () => service.getSession(keyOf('one'))],
    ['list changes', () => service.listChanges({ ...keyOf('one'), since: 0 })],
    ['list', () => service.listSessions({ appName })],
    ['list by title', () => service.listSessions({ appName, title: 'one' })],
    ['delete', () => service.deleteSession(keyOf('three'))],
  ];
  const done: string[] = [];
  for (const [call, run] of calls) {
    try {
      await leftIn(IDBDatabase.prototype, 'transaction', run);
      done.push(call);
    } catch (error) {
      done.push(`${call}: ${String(error)}`);
    }
  }
  const { n } = await service.getAppState({ appName });
  done.push(`counted ${String(n)}`, ...idsOf(await service.getSession(keyOf('one'))));
  await service.close();
  return done;
}

/** Leaves the page right after the first calls of a method, and returns to it each time. */
async function leftIn<T extends object, R>(
  prototype: T,
  method: keyof T,
  call: () => Promise<R>,
): Promise<R> {
  let count = 0;
  const end = around(prototype, method, (_target, values, proceed) => {
    const result = proceed(...values);
    if ((count += 1) <= TIMES) {
      queueMicrotask(() => {
        leave();
        setTimeout(comeBackTo);
      });
    }
    return result;
  });
  try {
    return await call();
  } finally {
    end();
  }
}

interface LeftInNoting extends AfterLoss {
  /** The number of connections that the package had opened, and of those that were open after the page was left. */
  connections: number;
  left: number;
}

/** Opens a database that was lost, and leaves the page while the commit that notes the loss is under way. */
async function leaveInNoting(name: string): Promise<LeftInNoting> {
  const connections: IDBDatabase[] = [];
  let counts = { connections: 0, left: 0 };
  let noting: IDBTransaction | undefined;
  const ends = [
    around(IDBFactory.prototype, 'open', (_factory, values, proceed) => {
      const request = proceed(...values) as IDBOpenDBRequest;
      request.addEventListener('success', () => connections.push(request.result));
      return request;
    }),
    around(IDBObjectStore.prototype, 'put', (store, values, proceed) => {
      if ('loss' in (values[0] as object)) noting = store.transaction;
      return proceed(...values);
    }),
    around(IDBTransaction.prototype, 'commit', (transaction, values, proceed) => {
      proceed(...values);
      if (transaction !== noting) return;
      noting = undefined;
      queueMicrotask(() => {
        leave();
        setTimeout(() => {
          counts = { connections: connections.length, left: connections.filter(isOpen).length };
          comeBackTo();
        });
      });
    }),
  ];
  try {
    return { ...(await open(name)), ...counts };
  } finally {
    for (const end of ends) end();
  }
}
