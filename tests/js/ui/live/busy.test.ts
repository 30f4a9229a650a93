// Calls that settle although others change the session all the time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { InMemorySessionService } from '../../../../js/index.js';
import { liveSession, liveSessions } from '../../../../js/ui/live/index.js';
import { idsOf, KEY, message, sessionOf } from './stores.js';

/** Lets another client change the session during each read. Returns what ends that. */
function disturb(service: InMemorySessionService, method: 'listSessions' | 'listChanges') {
  const real = service[method].bind(service) as (...request: unknown[]) => Promise<unknown>;
  let count = 0;
  const disturbed = async (...request: unknown[]): Promise<unknown> => {
    const result = await real(...request);
    await service.updateState({ ...KEY, stateDelta: { count: (count += 1) } });
    await new Promise((resolve) => setTimeout(resolve, 1));
    return result;
  };
  Object.assign(service, { [method]: disturbed });
  return () => void Object.assign(service, { [method]: real });
}

/** Fails if a call does not settle. */
async function settles(call: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The call has not settled.')), 500);
  });
  await Promise.race([call, late]).finally(() => clearTimeout(timer));
}

describe('While others change sessions all the time', () => {
  it('a live session settles its writes', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await store.load();
    const end = disturb(service, 'listChanges');
    try {
      await settles(store.send(message('mine')));
      assert.ok(idsOf(store.getSnapshot().events).includes('mine'));
      await settles(store.updateState({ a: 1 }));
      assert.equal(store.getSnapshot().state.a, 1);
      await settles(store.reload());
    } finally {
      end();
      stop();
    }
  });

  it('a live list settles its calls, and loads more again and again', async () => {
    const { service } = await sessionOf(0);
    for (let id = 2; id < 6; id += 1) await service.createSession({ ...KEY, sessionId: `s${id}` });
    const list = liveSessions(service, { appName: 'shop', userId: 'ada', limit: 1 });
    const stop = list.subscribe(() => undefined);
    await list.load();
    const end = disturb(service, 'listSessions');
    try {
      await settles(list.loadMore());
      await settles(list.loadMore());
      assert.equal(list.getSnapshot().sessions.length, 3);
      await settles(list.rename({ id: 's2', userId: 'ada' }, 'Tea'));
    } finally {
      end();
      stop();
    }
  });
});
