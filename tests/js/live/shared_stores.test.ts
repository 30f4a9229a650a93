import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import { sharedSession } from '../../../js/live/stores.js';
import { KEY } from './stores.js';

const storeOf = (service: InMemorySessionService, number: number) =>
  sharedSession(service, { ...KEY, sessionId: `s${number}` });

describe('The stores that components share', () => {
  it('stay while more than 20 components wait for them', async () => {
    const service = new InMemorySessionService();
    // As React renders a boundary: all of its components again, up to the first that has to wait.
    let waiting: Promise<void> | undefined;
    let rounds = 0;
    do {
      rounds += 1;
      waiting = undefined;
      for (let number = 0; number < 30 && waiting === undefined; number += 1) {
        const store = storeOf(service, number);
        if (store.getSnapshot().status === 'loading') waiting = store.load();
      }
      await waiting;
    } while (waiting !== undefined && rounds < 100);
    assert.equal(rounds, 31);
  });

  it('give all components the promise of one load', async () => {
    const service = new InMemorySessionService();
    const loads = Array.from({ length: 30 }, (_, number) => storeOf(service, number).load());
    for (const [number, load] of loads.entries()) {
      assert.equal(storeOf(service, number).load(), load);
    }
    await Promise.all(loads);
  });

  it('are dropped when nobody uses them, but for the last 20', async (t) => {
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const service = new InMemorySessionService();
    const first = Array.from({ length: 30 }, (_, number) => storeOf(service, number));
    // Ten were awaited, and their components never subscribed.
    const awaited = Array.from({ length: 10 }, (_, number) => storeOf(service, 100 + number));
    await Promise.all(awaited.map((store) => store.load()));
    assert.notEqual(storeOf(service, 0), first[0]);
    assert.equal(storeOf(service, 29), first[29]);
    assert.equal(storeOf(service, 100), awaited[0]);
    now = 60_000;
    for (let number = 200; number < 230; number += 1) storeOf(service, number);
    assert.notEqual(storeOf(service, 101), awaited[1]);
  });
});
