// After any changes by two services, a live session shows what a read of the session returns.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import { openSessionService } from '../../../../js/index.js';
import { wholeStorage } from '../../service/whole_storage.js';
import { liveSession } from '../../../../js/ui/live/index.js';
import { KEY, message, sessionOf, snapshotOf } from './stores.js';

const APP = { appName: KEY.appName };
const USER = { ...APP, userId: KEY.userId };

const place = fc.constantFrom<0 | 1>(0, 1);
const eventId = fc.integer({ min: 1, max: 12 }).map((number) => `e${number}`);
const delta = fc.dictionary(
  fc.constantFrom('a', 'b', 'user:a', 'app:a', '__proto__'),
  fc.oneof(fc.constant(undefined), fc.jsonValue({ maxDepth: 2 })),
  { maxKeys: 3 },
);
const operation = fc.oneof(
  { weight: 8, arbitrary: fc.record({ verb: fc.constant('append'), place, eventId, delta }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('send'), place, eventId, delta }) },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constantFrom('session', 'user', 'app'),
      place,
      eventId,
      delta,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constantFrom('rename', 'older', 'reload', 'wait', 'delete', 'deleteUser', 'leave'),
      place,
      eventId,
      delta,
    }),
  },
);

it('A live session shows what getSession returns, after any changes by two services', async () => {
  const run = fc.asyncProperty(
    fc.array(operation, { maxLength: 25 }),
    fc.integer({ min: 1, max: 4 }),
    async (operations, window) => {
      const storage = wholeStorage();
      const services = [
        await openSessionService({ storage }),
        await openSessionService({ storage }),
      ] as const;
      const store = liveSession(services[0], KEY, { window });
      let stop = store.subscribe(() => undefined);
      const works = operations.map(async ({ verb, place, eventId, delta }, index) => {
        const service = services[place];
        const actions = { ...EMPTY, stateDelta: delta };
        const event = { ...message(eventId, `${index}`), actions };
        if (verb === 'append') {
          const session = await service.getOrCreateSession(KEY);
          await service.appendEvent({ session, event });
        } else if (verb === 'send') await store.send(event);
        else if (verb === 'session') await service.updateState({ ...KEY, stateDelta: delta });
        else if (verb === 'user')
          await service.updateState({ ...USER, stateDelta: own(delta, 'user:') });
        else if (verb === 'app')
          await service.updateState({ ...APP, stateDelta: own(delta, 'app:') });
        else if (verb === 'rename') await service.updateSession(KEY, { title: `${index}` });
        else if (verb === 'older') await store.loadOlder();
        else if (verb === 'reload') await store.reload();
        else if (verb === 'delete') await service.deleteSession(KEY);
        else if (verb === 'deleteUser') await service.deleteUser(USER);
        else if (verb === 'leave') {
          stop();
          stop = store.subscribe(() => undefined);
        } else await new Promise((done) => setTimeout(done, 2));
      });
      // A session that is deleted refuses what comes late.
      await Promise.allSettled(works);
      await new Promise((done) => setTimeout(done, 5));
      stop();
      for (const id of Object.keys(store.getSnapshot().unsent)) await store.discard(id);
      const { status, error, events, hasOlder, state, title, lastUpdateTime } = store.getSnapshot();
      assert.equal(error, undefined);
      const stored = await services[1].getSession(KEY);
      await Promise.all(services.map((service) => service.close()));
      if (stored === undefined) {
        assert.ok(status === 'missing' || status === 'deleted', status);
        assert.deepEqual([events, state, title], [[], {}, undefined]);
        return;
      }
      assert.equal(status, 'ready');
      const shown = stored.events.slice(stored.events.length - events.length);
      assert.deepEqual(events, shown);
      assert.equal(hasOlder, events.length < stored.events.length);
      assert.ok(events.length >= Math.min(window, stored.events.length));
      assert.deepEqual({ ...state }, { ...stored.state });
      assert.deepEqual([title, lastUpdateTime], [stored.title, stored.lastUpdateTime]);
    },
  );
  await fc.assert(run, { numRuns: 150 });
});

it('A live session of any length shows every event once, in order', async () => {
  const { service, session } = await sessionOf(1200);
  const store = liveSession(service, KEY, { window: 300 });
  const stop = store.subscribe(() => undefined);
  await snapshotOf(store, ({ status }) => status === 'ready');
  while (await store.loadOlder());
  for (let turn = 0; turn < 300; turn += 1) {
    await service.appendEvent({ session, event: message(`n${turn}`) });
  }
  await snapshotOf(store, ({ events }) => events.length === 1500);
  assert.deepEqual(store.getSnapshot().events, (await service.getSession(KEY))?.events);
  stop();
});

const EMPTY = { artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };

function own(delta: Record<string, unknown>, prefix: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(delta).filter(([key]) => key.startsWith(prefix)));
}
