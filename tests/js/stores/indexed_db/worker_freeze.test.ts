// The lock of a worker's transactions, with Web Locks and a clock of the test.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { withTransactions } from '../../../../js/stores/indexed_db/worker_freeze.js';
import { FakeLocks } from '../../service/runs/fake_locks.js';

const navigators = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
let names = 0;

describe('Calls that open transactions', () => {
  let locks: FakeLocks;
  let name: string;

  /** The number of locks that are held, once everything that runs without a timer has run. */
  async function held(): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    return (await locks.query()).held.length;
  }

  function asWorker(): void {
    Object.assign(globalThis, { DedicatedWorkerGlobalScope: class {} });
  }

  beforeEach(() => {
    locks = new FakeLocks();
    names += 1;
    name = `database ${names}`;
    Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
    Reflect.deleteProperty(globalThis, 'DedicatedWorkerGlobalScope');
    if (navigators === undefined) Reflect.deleteProperty(globalThis, 'navigator');
    else Object.defineProperty(globalThis, 'navigator', navigators);
  });

  it('hold one shared lock in a worker, until a second after the last of a burst', async () => {
    asWorker();
    const request = mock.method(locks, 'request');
    let end = (): void => undefined;
    const calls = [
      withTransactions(name, () => new Promise<void>((resolve) => (end = resolve))),
      withTransactions(name, () => 'a result'),
    ];
    assert.equal(await held(), 1);
    end();
    assert.deepEqual(await Promise.all(calls), [undefined, 'a result']);
    mock.timers.tick(999);
    await withTransactions(name, () => undefined);
    mock.timers.tick(999);
    assert.equal(await held(), 1);
    mock.timers.tick(1);
    assert.equal(await held(), 0);
    assert.deepEqual(
      request.mock.calls.map(({ arguments: [lock, options] }) => [lock, options]),
      [[`adk-session-wasm:transactions:${name}`, { mode: 'shared' }]],
    );
  });

  it('take another lock in a worker after the first was given back', async () => {
    asWorker();
    await withTransactions(name, () => undefined);
    mock.timers.tick(1000);
    assert.equal(await held(), 0);
    await withTransactions(name, () => undefined);
    assert.equal(await held(), 1);
    mock.timers.tick(1000);
  });

  it('keep the lock in Chromium, which tells a frozen shared worker of no deletion', async () => {
    asWorker();
    const dataLoss = { prototype: { dataLoss: 'none' } };
    Object.assign(globalThis, { IDBVersionChangeEvent: dataLoss });
    await withTransactions(name, () => undefined);
    Reflect.deleteProperty(globalThis, 'IDBVersionChangeEvent');
    mock.timers.tick(5000);
    assert.equal(await held(), 1);
  });

  it('hold no lock in a page', async () => {
    const inside = await withTransactions(name, held);
    assert.equal(inside, 0);
  });

  it('ask for the locks each second while they wait, and no longer', async () => {
    const query = mock.method(locks, 'query');
    let end = (): void => undefined;
    const call = withTransactions(name, () => new Promise<void>((resolve) => (end = resolve)));
    mock.timers.tick(999);
    assert.equal(query.mock.callCount(), 0);
    mock.timers.tick(1001);
    assert.equal(query.mock.callCount(), 2);
    end();
    await call;
    mock.timers.tick(5000);
    assert.equal(query.mock.callCount(), 2);
  });

  it('run without Web Locks, and fail as their work does', async () => {
    asWorker();
    Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
    const late = withTransactions(name, () => Promise.reject(new Error('the work failed')));
    mock.timers.tick(1000);
    await assert.rejects(late, /the work failed/);
    mock.timers.tick(1000);
  });
});
