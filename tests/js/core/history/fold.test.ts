import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { countedDeltas, deltasOf, foldState } from '../../../../js/core/history/rules/fold.js';
import { branchesOf } from '../../../../js/core/history/branches.js';
import { branches, rewind, stateAt } from '../../../../js/core/history/index.js';
import { activeEvents } from '../../../../js/core/history/rules/view.js';
import { findAskedCalls } from '../../../../js/server/rights/client_append.js';
import { createEvent, type Event, InMemorySessionService, State } from '../../../../js/index.js';
import { runs } from '../../../properties.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const NAMES = ['i0', 'i1', 'i2', 'i3', ''];

/** An event of an invocation that changes keys, or a rewind with a delta that nobody applies. */
const events = fc
  .array(
    fc.record({
      invocationId: fc.constantFrom(...NAMES),
      target: fc.option(fc.constantFrom(...NAMES, 'unknown'), { nil: undefined, freq: 2 }),
      stateDelta: fc.dictionary(
        fc.constantFrom('a', 'b', 'user:c'),
        fc.constantFrom(1, 2, null, State.REMOVED),
      ),
    }),
    { maxLength: 24 },
  )
  .map((given) =>
    given.map(({ invocationId, target, stateDelta }, number) => {
      const actions = { stateDelta, ...(target && { rewindBeforeInvocationId: target }) };
      return createEvent({ id: `e${number}`, invocationId, author: 'user', actions });
    }),
  );

describe('The fold of a history', () => {
  it('counts the deltas of the events that the core counts', async () => {
    await new InMemorySessionService().createSession(KEY); // loads the wasm
    const counts = (given: readonly Event[]) => {
      assert.deepEqual(countedDeltas(given), deltasOf(activeEvents(given)));
    };
    fc.assert(fc.property(events, counts), runs(500));
  });

  it('gives the state that a session has that is created with the events', async () => {
    const service = new InMemorySessionService();
    let number = 0;
    const creates = async (given: Event[]) => {
      // Each user has a state of its own.
      const key = { ...KEY, userId: `user ${(number += 1)}` };
      const state = { a: 0, 'user:c': 0 };
      const created = await service.createSession({ ...key, state, events: given });
      assert.deepEqual(created.state, foldState(state, given));
    };
    await fc.assert(fc.asyncProperty(events, creates), runs(200));
  });
});

describe('The branches of many rewinds', () => {
  it('are computed with a few reads of each event', () => {
    const reads = (rewinds: number): number => {
      let count = 0;
      const counted = Array.from({ length: rewinds }, (_, number) => {
        const content = { role: 'user', parts: [{ text: 'again' }] };
        const rewindBeforeInvocationId = `i${number}`;
        const target = { actions: { stateDelta: {}, rewindBeforeInvocationId } };
        return [
          createEvent({ invocationId: `i${number}`, author: 'user', content }),
          createEvent({ invocationId: `r${number}`, author: 'user', ...(number % 2 && target) }),
        ];
      })
        .flat()
        .map((event) =>
          Object.defineProperty(event, 'invocationId', {
            get: ((id) => () => ((count += 1), id))(event.invocationId),
          }),
        );
      branchesOf(counted);
      return count;
    };
    assert.ok(reads(2000) < 2.5 * reads(1000), `${reads(1000)}, ${reads(2000)}`);
  });
});

describe('A long history', () => {
  it('is computed in tasks between which others run', async () => {
    const service = new InMemorySessionService();
    const events = Array.from({ length: 5000 }, (_, number) => {
      const actions = { stateDelta: { [`k${number % 7}`]: number } };
      return createEvent({ id: `e${number}`, invocationId: `i${number}`, author: 'user', actions });
    });
    await service.createSession({ ...KEY, state: {}, events });
    const newestFirst = () => service.events({ ...KEY, order: 'desc', view: 'raw' });
    const before = { invocationId: 'i10' };
    let marker: Event | undefined;
    for (const request of [
      async () => void ({ event: marker } = await rewind(service, { ...KEY, before })),
      () => branches(service, KEY),
      () => stateAt(service, { ...KEY, eventId: 'e4000' }),
      () => findAskedCalls(newestFirst(), new Set(['call'])),
    ]) {
      let tasks = 0;
      let next: NodeJS.Immediate;
      const count = () => {
        tasks += 1;
        next = setImmediate(count);
      };
      count();
      await request();
      clearImmediate(next!);
      assert.ok(tasks >= 3, `${tasks} tasks`);
    }
    assert.equal(Object.keys(marker?.actions.stateDelta ?? {}).length, 7);
    const { state } = await stateAt(service, { ...KEY, eventId: marker!.id });
    assert.deepEqual((await service.getSession(KEY))?.state, state);
    assert.deepEqual(state, { k0: 7, k1: 8, k2: 9, k3: 3, k4: 4, k5: 5, k6: 6 });
  });
});
