// The events of an open handle follow the order of the store, whatever is appended, replaced and loaded.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import {
  InMemorySessionService,
  isSessionError,
  type Session,
  type SessionServiceOptions,
  type SessionService,
} from '../../../../js/index.js';
import { openRemote } from '../../stores/remote/fixture.js';

const KEY = { appName: 'app', userId: 'ada', sessionId: 's1' };

const SERVICES: Record<string, (options: SessionServiceOptions) => SessionService> = {
  memory: (options) => new InMemorySessionService(options),
  SQLite: (options) => new DatabaseSessionService('sqlite::memory:', options),
  'a remote service': (options) => openRemote(options).remote,
};

const id = fc.integer({ min: 1, max: 14 }).map((number) => `e${number}`);
/** Times are in no order. */
const timestamp = fc.integer({ min: 1, max: 20 });
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ verb: fc.constant('own' as const), id, timestamp }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('other' as const), id, timestamp }) },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant('older' as const),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
);
const plan = fc.record({
  stale: fc.constantFrom('merge' as const, 'append' as const, 'reject' as const),
  config: fc.oneof(
    fc.constant({}),
    fc.record({ numRecentEvents: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ afterTimestamp: timestamp }),
    fc.record({ numRecentEvents: fc.integer({ min: 1, max: 5 }), afterTimestamp: timestamp }),
  ),
  stored: fc.uniqueArray(fc.record({ id, timestamp }), { maxLength: 8, selector: ({ id }) => id }),
  operations: fc.array(operation, { maxLength: 10 }),
});

/** A handle that was read from a time on lacks `e3`, although `loadOlder` reaches the first event. */
const WITH_GAP = {
  stale: 'merge' as const,
  config: { numRecentEvents: 1, afterTimestamp: 2 },
  stored: [
    { id: 'e1', timestamp: 1 },
    { id: 'e2', timestamp: 2 },
    { id: 'e3', timestamp: 1 },
  ],
  operations: [
    { verb: 'own' as const, id: 'e4', timestamp: 1 },
    { verb: 'older' as const, limit: 1 },
    { verb: 'other' as const, id: 'e1', timestamp: 1 },
    { verb: 'own' as const, id: 'e1', timestamp: 1 },
  ],
};

/** The same, and the event that it lacks was replaced by one that belongs to its window. */
const WITH_REPLACED_GAP = {
  stale: 'merge' as const,
  config: { afterTimestamp: 2 },
  stored: [
    { id: 'e1', timestamp: 2 },
    { id: 'e7', timestamp: 1 },
  ],
  operations: [
    { verb: 'other' as const, id: 'e7', timestamp: 2 },
    { verb: 'own' as const, id: 'e2', timestamp: 1 },
    { verb: 'other' as const, id: 'e1', timestamp: 1 },
    { verb: 'own' as const, id: 'e1', timestamp: 1 },
  ],
};

const idsOf = ({ events }: Session) => events.map(({ id }) => id);

for (const [name, open] of Object.entries(SERVICES)) {
  it(`The events of an open handle are those of a whole read, over ${name}`, async () => {
    const property = fc.asyncProperty(plan, async ({ stale, config, stored, operations }) => {
      const service = open({ stale });
      let count = 0;
      const append = (session: Session, given: { id: string; timestamp: number }) => {
        const content = { role: 'user', parts: [{ text: `${(count += 1)}` }] };
        return service.appendEvent({ session, event: { ...given, invocationId: 'i', content } });
      };
      const read = async () => (await service.getSession(KEY))!;
      const writer = await service.createSession(KEY);
      for (const event of stored) await append(writer, event);
      const handle = (await service.getSession({ ...KEY, config }))!;
      const isByTime = 'afterTimestamp' in config;
      let isCurrent = true;
      /** Whether the handle has an event at its end that it replaced outside of its window. */
      let hasMoved = false;
      const assertOrder = async (isWhole: boolean): Promise<void> => {
        const whole = await read();
        const known = new Set(idsOf(handle));
        assert.deepEqual(
          idsOf(handle),
          idsOf(whole).filter((id) => known.has(id)),
        );
        if (stale !== 'merge' || !isCurrent || isByTime || known.size === 0) return;
        const window = isWhole ? whole.events : whole.events.slice(-handle.events.length);
        assert.deepEqual(handle.events, window);
      };
      for (const operation of operations) {
        if (operation.verb === 'older') {
          await service.loadOlder(handle, operation.limit);
        } else if (operation.verb === 'other') {
          await append(await read(), operation);
          isCurrent = false;
        } else {
          const isStored = idsOf(await read()).includes(operation.id);
          const isOutside = isStored && !idsOf(handle).includes(operation.id);
          // Such a handle may lack events in its middle; an empty one has no place for an older event.
          const hasGaps = isByTime || stale === 'append';
          if (isOutside && (hasGaps || handle.events.length === 0)) continue;
          try {
            await append(handle, operation);
            hasMoved ||= isOutside;
            isCurrent ||= stale === 'merge';
          } catch (error) {
            if (!isSessionError(error, 'stale_session')) throw error;
          }
        }
        if (!hasMoved) await assertOrder(false);
      }
      while (await service.loadOlder(handle, 2));
      // Nothing older is missing, so everything has its place.
      await assertOrder(true);
      await service.close();
    });
    await fc.assert(property, { numRuns: 100, examples: [[WITH_GAP], [WITH_REPLACED_GAP]] });
  });
}
