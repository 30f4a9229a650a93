// The order in which calls at the same time are stored.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { liveSession, liveSessions } from '../../../../js/ui/live/index.js';
import { idsOf, KEY, message, sessionOf } from './stores.js';

type Method = 'getSession' | 'getOrCreateSession' | 'updateState' | 'updateSession';

/** Delays the first calls of a method, as a network may. The others are not delayed. */
function delay(
  service: InMemorySessionService,
  method: Method,
  isDelayed: (request: { config?: { numRecentEvents?: number } }) => boolean = () => true,
): void {
  const real = service[method].bind(service) as (...request: unknown[]) => Promise<unknown>;
  let isFirst = true;
  const delayed = async (...request: [{ config?: { numRecentEvents?: number } }]) => {
    const isSlow = isFirst && isDelayed(request[0]);
    if (isSlow) isFirst = false;
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 30));
    return real(...request);
  };
  Object.assign(service, { [method]: delayed });
}

/** Whether a read gets only a handle, for appends. */
const isForHandle = ({ config }: { config?: { numRecentEvents?: number } }): boolean =>
  config?.numRecentEvents === 0;

const storedIds = async (service: InMemorySessionService): Promise<string[]> =>
  idsOf((await service.getSession(KEY))!.events);

describe('A live session stores in the order of the calls', () => {
  it('also if its first read ends while an earlier event waits for a handle', async () => {
    const { service } = await sessionOf(0);
    delay(service, 'getSession', isForHandle);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const first = store.send(message('first'));
    await store.load();
    await Promise.all([first, store.send(message('second'))]);
    stop();
    assert.deepEqual(await storedIds(service), ['first', 'second']);
  });

  it('also if its last subscriber leaves meanwhile', async () => {
    const { service } = await sessionOf(0);
    delay(service, 'getSession', isForHandle);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const first = store.send(message('first'));
    await new Promise(setImmediate);
    stop();
    await Promise.all([first, store.send(message('second'))]);
    assert.deepEqual(await storedIds(service), ['first', 'second']);
  });

  it('also if the first event creates the session', async () => {
    const service = new InMemorySessionService();
    delay(service, 'getOrCreateSession');
    const store = liveSession(service, KEY);
    await Promise.all([store.send(message('first')), store.send(message('second'))]);
    assert.deepEqual(await storedIds(service), ['first', 'second']);
  });

  it('also what changes its state and title', async () => {
    const { service } = await sessionOf(0);
    delay(service, 'updateState');
    delay(service, 'updateSession');
    const store = liveSession(service, KEY);
    await Promise.all([
      store.updateState({ theme: 'dark' }),
      store.updateState({ theme: 'light' }),
      store.rename('Te'),
      store.rename('Tea'),
    ]);
    const { state, title } = (await service.getSession(KEY))!;
    assert.deepEqual([state, title], [{ theme: 'light' }, 'Tea']);
  });

  it('also what a list renames', async () => {
    const { service, session } = await sessionOf(0);
    delay(service, 'updateSession');
    const list = liveSessions(service, { appName: 'shop', userId: 'ada' });
    await Promise.all([list.rename(session, 'Te'), list.rename(session, 'Tea')]);
    assert.equal((await service.getSession(KEY))!.title, 'Tea');
  });
});
