import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import {
  InMemorySessionService,
  type SessionService,
  type StateShape,
} from '../../../../../js/index.js';
import type { LiveStore } from '../../../../../js/ui/live/index.js';
import { sharedSession, sharedSessions } from '../../../../../js/ui/live/components/provided.js';
import type { LiveSessionStore } from '../../../../../js/ui/live/live_session.js';
import { idsOf, KEY, message, textOf } from '../stores.js';

const storeOf = (service: SessionService, number = 1) =>
  sharedSession(service, { ...KEY, sessionId: `s${number}` });

const minutes = (count: number): number => count * 60_000;

/** Replaces the clock of the stores. Returns a function that lets time pass, and a page show another session. */
function clockOf(t: TestContext) {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  return (milliseconds: number, service: SessionService): void => {
    now += milliseconds;
    storeOf(service, 1000 + now);
  };
}

/** Collects what nothing refers to. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // The target of a new `WeakRef` stays until the end of the task.
  await new Promise(setImmediate);
  gc();
}

describe('The stores that components share', () => {
  it('stay while more than 20 components wait for them', async () => {
    const service = new InMemorySessionService();
    // As React renders a boundary: all of its components again, up to the first that has to wait.
    let waiting: Promise<void> | undefined;
    let rounds = 0;
    do {
      rounds += 1;
      waiting = undefined;
      for (let number = 0; number < 60 && waiting === undefined; number += 1) {
        const store = storeOf(service, number);
        if (store.getSnapshot().status === 'loading') waiting = store.load();
      }
      await waiting;
    } while (waiting !== undefined && rounds < 100);
    assert.equal(rounds, 61);
  });

  it('give all components the promise of one load', async () => {
    const service = new InMemorySessionService();
    const loads = Array.from({ length: 30 }, (_, number) => storeOf(service, number).load());
    for (const [number, load] of loads.entries()) {
      assert.equal(storeOf(service, number).load(), load);
    }
    await Promise.all(loads);
  });

  it('read each row once, however many are shown, and if each subscribes twice as in StrictMode', async () => {
    const service = new InMemorySessionService();
    let reads = 0;
    const read = service.getSession.bind(service);
    service.getSession = (request) => {
      reads += 1;
      return read(request);
    };
    // React renders all components, and then runs their effects.
    const rows = Array.from({ length: 60 }, (_, number) => number);
    for (const number of rows) storeOf(service, number);
    const subscribe = (number: number) => storeOf(service, number).subscribe(() => undefined);
    const first = rows.map(subscribe);
    for (const stop of first) stop();
    const stops = rows.map(subscribe);
    await Promise.all(rows.map((number) => storeOf(service, number).load()));
    assert.equal(reads, 60);
    for (const stop of stops) stop();
  });

  it('are collected some minutes after their last use', async (t) => {
    const service = new InMemorySessionService();
    const pass = clockOf(t);
    const load = async (store: LiveStore<unknown>) => {
      await store.load();
      return new WeakRef(store);
    };
    const stores = [await load(sharedSessions(service, { appName: 'shop' }))];
    for (let number = 0; number < 100; number += 1) {
      stores.push(await load(storeOf(service, number)));
    }
    const isKept = async (): Promise<boolean> => {
      await collectGarbage();
      return stores.some((store) => store.deref() !== undefined);
    };
    pass(minutes(1), service);
    assert.equal(await isKept(), true);
    pass(minutes(2), service);
    assert.equal(await isKept(), false);
  });

  it('are the same as long as the program refers to them', async (t) => {
    const service = new InMemorySessionService();
    const pass = clockOf(t);
    const store = storeOf(service);
    await store.load();
    pass(minutes(60), service);
    await collectGarbage();
    assert.equal(storeOf(service), store);
  });

  /** Uses a store that nobody subscribes to, and lets an hour pass. Returns what a component finds then. */
  async function findLater(
    t: TestContext,
    use: (store: LiveSessionStore<StateShape>, service: InMemorySessionService) => Promise<unknown>,
  ) {
    const service = new InMemorySessionService();
    const pass = clockOf(t);
    const leave = storeOf(service).subscribe(() => undefined);
    await use(storeOf(service), service);
    leave();
    for (let minute = 0; minute < 60; minute += 1) pass(minutes(1), service);
    await collectGarbage();
    return { service, store: storeOf(service) };
  }

  it('keep a message that could not be stored', async (t) => {
    const { store } = await findLater(t, async (store, service) => {
      service.appendEvent = () => Promise.reject(new Error('offline'));
      await assert.rejects(store.send(message('e1')), /offline/);
    });
    const { events, unsent } = store.getSnapshot();
    assert.deepEqual(idsOf(events), ['e1']);
    assert.match(String(unsent.e1?.error), /offline/);
    await store.discard('e1');
    assert.equal(store.isUsed, false);
  });

  it('keep a run, whose answer is then shown', async (t) => {
    const { store } = await findLater(t, async (store) => {
      store.agent = async function* () {
        yield { author: 'guide', partial: true, content: { parts: [{ text: 'Green' }] } };
        await new Promise(() => undefined);
      };
      await store.ask({ parts: [{ text: 'Which tea?' }] });
    });
    assert.equal(store.isUsed, true);
    assert.equal(textOf(store.getSnapshot().drafts[0]), 'Green');
    await store.edit(store.getSnapshot().events[0]!.id, { parts: [{ text: 'edited' }] });
    assert.equal(textOf(store.getSnapshot().events[0]), 'edited');
    await store.cancel();
    assert.equal(store.isUsed, false);
  });

  it('keep an error, until a read succeeds', async (t) => {
    const { service, store } = await findLater(t, async (store, service) => {
      await service.createSession({ ...KEY });
      await store.reload();
      service.getSession = () => Promise.reject(new Error('offline'));
      await store.reload();
    });
    assert.match(String(store.getSnapshot().error), /offline/);
    assert.equal(store.getSnapshot().status, 'ready');
    Reflect.deleteProperty(service, 'getSession');
    await store.reload();
    assert.equal(store.isUsed, false);
  });

  it('keep a list with an error', async (t) => {
    const service = new InMemorySessionService();
    const pass = clockOf(t);
    const listOf = () => sharedSessions(service, { appName: 'shop' });
    service.listSessions = (): Promise<never> => Promise.reject(new Error('offline'));
    await listOf().load();
    pass(minutes(60), service);
    await collectGarbage();
    assert.equal(listOf().getSnapshot().status, 'failed');
  });
});
