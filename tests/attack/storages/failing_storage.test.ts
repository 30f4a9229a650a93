// Each call of a storage fails once, in several ways. Afterwards the handle and the storage agree, and calls work
// again.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { isSessionError, openSessionService, type Session } from 'adk-session-wasm';
import type { Storage } from 'adk-session-wasm/storage';
import { wholeStorage } from '../../js/service/whole_storage.js';
import { textEvent } from '../cases/world.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

type Call = () => unknown;

/** What becomes of the call of a verb. */
const FAULTS: Readonly<Record<string, (call: Call) => unknown>> = {
  'throws before it does anything': () => {
    throw new Error('it broke');
  },
  'rejects with a text': () => Promise.reject('it broke'),
  'rejects after the commit': async (call) => {
    await call();
    throw new Error('the answer is lost');
  },
  'gives nonsense': async (call) => {
    await call();
    return { nonsense: true };
  },
  'ends at once': () => undefined,
};

/** Returns a storage whose n-th call has the fault, and whether there was such a call. */
function failing(fault: (call: Call) => unknown, n: number) {
  const whole = wholeStorage();
  let calls = 0;
  const members = Object.entries(whole) as [string, unknown][];
  const entries = members.map(([name, verb]): [string, unknown] => {
    if (typeof verb !== 'function') return [name, verb];
    const run = (...parameters: unknown[]): unknown => {
      const call: Call = () =>
        Reflect.apply(verb as (...given: unknown[]) => unknown, whole, parameters);
      calls += 1;
      return calls === n ? fault(call) : call();
    };
    return [name, run];
  });
  const storage: Storage = { ...whole, ...Object.fromEntries(entries) };
  return { whole, storage, hasFailed: () => calls >= n };
}

for (const [title, fault] of Object.entries(FAULTS)) {
  it(`a handle and its storage agree after any call of a storage ${title}`, async () => {
    for (let n = 1, isOver = false; !isOver; n += 1) {
      const { whole, storage, hasFailed } = failing(fault, n);
      const service = await openSessionService({ storage });
      const other = await openSessionService({ storage: whole });
      const attempt = async (call: () => Promise<unknown>): Promise<void> => {
        const failed = hasFailed();
        const error: unknown = await call().then(
          () => undefined,
          (error: unknown) => error,
        );
        assert.ok(error === undefined || isSessionError(error), String(error));
        // A creation may be stored although its answer is lost.
        const isKnown = isSessionError(error, 'already_exists');
        assert.ok(error === undefined || isKnown || !failed, String(error));
      };
      await attempt(() => service.createSession({ ...KEY, state: { a: 1, 'user:u': 1 } }));
      await attempt(() => service.getOrCreateSession(KEY));
      const session: Session = (await other.getSession(KEY)) ?? (await other.createSession(KEY));
      const handle = (await service.getSession(KEY).catch(() => undefined)) ?? session;
      const { events, state } = handle;
      for (const id of ['e1', 'e2', 'e1']) {
        const before = JSON.stringify(handle);
        const event = { ...textEvent(id), actions: { stateDelta: { [id]: before.length } } };
        const isStored = await service.appendEvent({ session: handle, event: event as never }).then(
          () => true,
          (error: unknown) => {
            assert.ok(isSessionError(error), String(error));
            return false;
          },
        );
        if (!isStored) assert.equal(JSON.stringify(handle), before);
        else if (handle !== session) {
          const stored = await other.getSession(KEY);
          assert.deepEqual(handle.events, stored?.events);
          assert.deepEqual({ ...handle.state }, { ...stored?.state });
        }
      }
      assert.ok(handle.events === events && handle.state === state);
      await attempt(() => service.updateState({ ...KEY, stateDelta: () => ({ b: 1 }) }));
      await attempt(() => service.updateSession(KEY, { title: 'Tea' }));
      await attempt(() => service.listSessions({ appName: 'shop' }));
      await attempt(() => service.sessionInfo(KEY));
      await attempt(() => service.deleteSession(KEY));
      isOver = !hasFailed();
      await service.close();
    }
  });
}
