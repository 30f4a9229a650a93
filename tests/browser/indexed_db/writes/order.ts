// Calls that do not await each other.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { APP, failure, idsOf, keyOf, mark } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { countAtOnce, callAtOnce, listChangesAtOnce, getEventsOfPage };
type Page = typeof inPage;

export function order(context: Context): void {
  it('calls that do not await each other take effect in their order', async () => {
    await inTab<Page>(context, async (tab) => {
      const { codes, events, keys } = await tab.call('callAtOnce', newName());
      assert.deepEqual(codes, new Array(codes.length).fill(null));
      assert.deepEqual(events, []);
      assert.deepEqual(keys.sort(), ['c', 'user:early']);
    });
  });

  it('listChanges does not wait for other calls of listChanges, and sees what was appended', async () => {
    await inTab<Page>(context, async (tab) => {
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
      const { events, steps } = await tab.call('listChangesAtOnce', newName(), ids);
      assert.deepEqual(
        events,
        ids.map((id) => [id]),
      );
      assert.match(steps.join(), /begins,begins/);
    });
  });

  it('getEvents does not wait as a write for the writes of other tabs, and finds events of one record', async () => {
    await inTab<Page>(context, async (tab) => {
      const { events, modes } = await tab.call('getEventsOfPage', newName());
      assert.deepEqual(events, ['e19', 'e3', 'e0']);
      assert.deepEqual(modes, ['readonly']);
    });
  });

  it('2,000 counts at once by two services add up', async () => {
    await inTab<Page>(context, async (tab) => {
      assert.equal(await tab.call('countAtOnce', newName()), 2000);
    });
  });
}

interface CallsAtOnce {
  /** By call: the code that it failed with, or nothing. */
  codes: (string | null)[];
  /** The events and the keys of the session afterwards. */
  events: string[];
  keys: string[];
}

/** Adds 1 to a number 2,000 times at once, by two services in turns. Returns the sum. */
async function countAtOnce(name: string): Promise<unknown> {
  const services = [new IndexedDbSessionService({ name }), new IndexedDbSessionService({ name })];
  const key = { appName: APP };
  const add = ({ 'app:total': total = 0 }: Record<string, unknown>) => ({
    'app:total': Number(total) + 1,
  });
  const counts = Array.from({ length: 2000 }, (_, number) =>
    services[number % 2]!.updateState({ ...key, stateDelta: add }),
  );
  await Promise.all(counts);
  const { total } = await services[0]!.getAppState(key);
  for (const service of services) await service.close();
  return total;
}

/** Calls one after the other without awaiting them, each of which needs the one before. */
async function callAtOnce(name: string): Promise<CallsAtOnce> {
  const service = new IndexedDbSessionService({ name });
  const key = keyOf('one');
  const session = await service.createSession(key);
  const calls: Promise<unknown>[] = [
    service.appendEvent({ session, event: mark('early') }),
    service.deleteSession(key),
    service.createSession({ ...key, state: { a: 1 } }),
    service.updateState({ ...key, stateDelta: { b: 2 } }),
    service.deleteSession(key),
    service.createSession({ ...key, state: { c: 3 } }),
    service.updateState({ appName: APP, stateDelta: { 'app:d': 4 } }),
    service.deleteAppState({ appName: APP }),
  ];
  const codes = await Promise.all(
    calls.map((call) =>
      call.then(
        () => null,
        async () => (await failure(() => call)).code,
      ),
    ),
  );
  const read = await service.getSession(key);
  await service.close();
  return { codes, events: idsOf(read), keys: Object.keys(read?.state ?? {}) };
}

/** Reads events that were stored as one page. Returns their ids, and the modes of the transactions. */
async function getEventsOfPage(name: string): Promise<{ events: string[]; modes: unknown[] }> {
  const service = new IndexedDbSessionService({ name });
  const key = keyOf('one');
  const session = await service.createSession(key);
  const events = Array.from({ length: 20 }, (_, number) => mark(`e${number}`));
  await service.appendEvents({ session, events });
  const modes: unknown[] = [];
  const end = around(IDBDatabase.prototype, 'transaction', (_database, values, proceed) => {
    modes.push(values[1]);
    return proceed(...values);
  });
  const found = await service.getEvents({ ...key, eventIds: ['e19', 'none', 'e3', 'e0'] });
  end();
  await service.close();
  return { events: found.events.map(({ event }) => event.id), modes };
}

interface ChangesAtOnce {
  /** The new events of each session. */
  events: (string[] | undefined)[];
  /** When the transactions that read the events of the calls began, and when their requests were answered. */
  steps: ('begins' | 'is answered')[];
}

/** Lists the changes of sessions at once, after an append to each of them. */
async function listChangesAtOnce(name: string, ids: string[]): Promise<ChangesAtOnce> {
  const service = new IndexedDbSessionService({ name });
  const steps: ChangesAtOnce['steps'] = [];
  const requests = [];
  for (const id of ids) {
    const session = await service.createSession(keyOf(id));
    const since = service.revisionOf(session) ?? 0;
    await service.appendEvent({ session, event: mark(id) });
    requests.push({ ...keyOf(id), since });
  }
  const readsEvents = (transaction: IDBTransaction) =>
    transaction.objectStoreNames.contains('events');
  const ends = [
    around(IDBDatabase.prototype, 'transaction', (_database, values, proceed) => {
      const transaction = proceed(...values) as IDBTransaction;
      if (readsEvents(transaction)) steps.push('begins');
      return transaction;
    }),
    around(IDBObjectStore.prototype, 'get', (store, values, proceed) => {
      const request = proceed(...values) as IDBRequest;
      if (readsEvents(store.transaction)) {
        request.addEventListener('success', () => steps.push('is answered'));
      }
      return request;
    }),
  ];
  const changes = await Promise.all(requests.map((request) => service.listChanges(request)));
  for (const end of ends) end();
  const events = changes.map((change) => change?.events?.map(({ event }) => event.id));
  await service.close();
  return { events, steps };
}
