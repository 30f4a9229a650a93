// A page that is left in the middle of a call, and returned to at once. The test dispatches `pagehide` and `pageshow`.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, type IndexedDbSessionServiceOptions } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { isOpen, rows } from '../page/bare.js';
import { type Failure, failure, idsOf, keyOf, say } from '../page/events.js';
import { type AfterLoss, giveUp, make, open } from '../loss/loss.js';

/** What the tests call in the page. */
export const inPage = {
  make,
  giveUp,
  appendFrozen,
  leaveInCommits,
  leaveInTransactions,
  leaveInNoting,
};
type Page = typeof inPage;

export function leaving(context: Context): void {
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

/** How often the page is left during one call, at most. */
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
    const result = await call();
    if (count === 0) throw new Error(`the call did not use ${String(method)}`);
    return result;
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
