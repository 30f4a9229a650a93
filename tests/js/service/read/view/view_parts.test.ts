import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { mapStorage } from '../../../../../examples/map_storage.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isMarker, rewindTargetOf } from '../../../../../js/core/history/marks.js';
import { isSummarised, viewOf } from '../../../../../js/core/history/view.js';
import { createEventActions, type Event, openSessionService } from '../../../../../js/index.js';
import {
  pageOfLast,
  pageOfView,
  tailOfLast,
  tailOfView,
} from '../../../../../js/service/read/view/view_parts.js';
import { tellsWhatWaits } from '../../../../../js/values/model/event/waiting.js';
import { endOf } from './view_model.js';
import { hasCallParts } from '../../../../../js/core/history/calls/call_marks.js';
import { randomWait } from '../random_wait.js';
import { randomNumbers } from '../list_model.js';

const VIEWS = ['transcript', 'model'] as const;
const COUNTS = [1, 2, 20];

/** Makes a history with rewinds, also of rewinds, both kinds of compactions, calls and responses. */
function randomHistory(seed: number, length: number): Event[] {
  const below = randomNumbers(seed);
  const markers = 2 + below(12);
  let time = 1000;
  return Array.from({ length }, (_, at): Event => {
    time += below(3);
    const turn = Math.floor(at / 3);
    const part =
      below(2) === 0
        ? { functionCall: { id: `call${below(12)}`, name: 'f', args: {} } }
        : { functionResponse: { id: `call${below(12)}`, name: 'f', response: {} } };
    const event: Event = {
      id: `e${at}`,
      invocationId: below(8) === 0 ? `i${below(1 + turn)}` : `i${turn}`,
      author: ['user', 'agent', 'helper'][below(3)]!,
      timestamp: below(9) === 0 ? time - below(30) : time,
      actions: createEventActions(),
    };
    if (below(12) > 0) {
      const parts = below(4) === 0 ? [part] : [{ text: event.id }];
      event.content = { role: 'model', parts };
    }
    if (below(10) === 0) Object.assign(event, randomWait(below));
    const kind = below(markers * 4);
    const [startTimestamp, endTimestamp] = [time - below(60), time - below(25)];
    const compactedContent = { role: 'model', parts: [{ text: `summary ${at}` }] };
    const compaction = { startTimestamp, endTimestamp, compactedContent };
    const rewindBeforeInvocationId = `${below(4) === 0 ? 'm' : 'i'}${below(2 + turn)}`;
    if (kind === 0) Object.assign(event.actions, { rewindBeforeInvocationId });
    if (kind === 1) Object.assign(event.actions, { compaction });
    if (kind === 2 && below(3) === 0) {
      Object.assign(event, { isCompacted: true, endTime: endTimestamp, invocationId: '' });
    }
    if (kind < 2) event.invocationId = `m${turn}`;
    return event;
  });
}

/** The events that `readMarkers` returns. */
function markersOf(events: readonly Event[]): Event[] {
  const targets = new Set(events.map(rewindTargetOf));
  const isFirst = (event: Event) =>
    targets.has(event.invocationId) &&
    events.find(({ invocationId }) => invocationId === event.invocationId) === event;
  return events.filter((event) => isMarker(event) || isFirst(event) || tellsWhatWaits(event));
}

describe('The end of a view, computed from markers and the last events,', () => {
  it('equals the end of the whole view, or asks for more events', () => {
    let [known, unknown] = [0, 0];
    for (let seed = 1; seed <= 400; seed += 1) {
      const events = randomHistory(seed, 20 + (seed % 60));
      const markers = markersOf(events);
      for (const view of VIEWS) {
        const whole = viewOf([...events], view);
        for (const count of COUNTS) {
          const expected = endOf(whole.events, count, view);
          const summarised = expected.map(({ id }) => whole.summarised.has(id));
          const ofWhole = tailOfView({ events }, view, { count });
          assert.deepEqual(ofWhole.events, expected, `seed ${seed}, ${view}, ${count} of all`);
          assert.equal(ofWhole.start, whole.events.length - expected.length);
          for (const last of [count, 2 * count, 8 * count]) {
            if (last >= events.length) continue;
            const within = Math.ceil(count / 2);
            const size = { count, within };
            const end = tailOfLast(markers, events.slice(-last), view, size);
            if (typeof end === 'string') {
              unknown += 1;
              continue;
            }
            known += 1;
            const message = `seed ${seed}, ${view}, ${count} of ${last}`;
            assert.deepEqual(end.events, expected, message);
            assert.deepEqual(end.events.slice(end.within), endOf(expected, within, view), message);
            const named = end.events.map(({ id }) => end.summarised.has(id));
            assert.deepEqual(named, summarised, message);
          }
        }
      }
    }
    assert.ok(known > unknown, `${known} known, ${unknown} unknown`);
  });

  it('gives the pages of the whole view, or asks for more events', () => {
    let [known, unknown] = [0, 0];
    for (let seed = 500; seed < 800; seed += 1) {
      const below = randomNumbers(seed);
      const events = randomHistory(seed, 30 + (seed % 60));
      const end = below(2) === 0 ? events.length : below(events.length);
      const eventId = events[end]?.id;
      // A damaged event of a cursor is not among the events that were read.
      const isDamaged = below(5) === 0;
      const markers = events.filter((event) =>
        event.id === eventId ? !isDamaged : markersOf(events).includes(event),
      );
      const isMarkerDamaged = isDamaged && markersOf(events).some(({ id }) => id === eventId);
      if (isMarkerDamaged) continue;
      for (const view of VIEWS) {
        const isNamed = viewOf([...events], view).summarised;
        for (const limit of COUNTS) {
          const request = { direction: 'before', eventId, limit } as const;
          const whole = pageOfView({ events }, view, request)!;
          for (const last of [2 * limit, 8 * limit, events.length]) {
            const part = events.slice(Math.max(0, end - last), end);
            const isFirst = part.length === end;
            const page = pageOfLast(markers, part, view, { eventId, limit }, isFirst);
            // The summary of a later compaction may stand anywhere.
            const isCompacted = markers.some((event) => isMarker(event) && !rewindTargetOf(event));
            const isDecidable = view === 'transcript' || !isCompacted;
            if (!isDecidable) {
              assert.ok(page === 'needsAll' || (isDamaged && page === 'needsEarlier'));
              continue;
            }
            assert.notEqual(page, 'needsAll');
            if (typeof page === 'string') {
              unknown += 1;
              continue;
            }
            known += 1;
            const message = `seed ${seed}, ${view}, ${limit} of ${last} before ${eventId}`;
            assert.deepEqual(page.events, whole.events, message);
            assert.equal(page.hasOlder, whole.hasOlder, message);
            const named = page.events.map(isSummarised);
            const ids = whole.events.map(({ id }) => isNamed.has(id));
            assert.deepEqual(named, ids, message);
          }
        }
      }
    }
    assert.ok(known > unknown, `${known} known, ${unknown} unknown`);
  });

  for (const storage of ['SQLite', 'a storage without readMarkers']) {
    it(`is what a first read over ${storage} returns`, async () => {
      const service =
        storage === 'SQLite'
          ? new DatabaseSessionService('sqlite::memory:')
          : await openSessionService({ storage: mapStorage() });
      after(() => service.close());
      for (let seed = 1000; seed < 1060; seed += 1) {
        const key = { appName: 'shop', userId: 'ada', sessionId: `s${seed}` };
        const session = await service.createSession(key);
        await service.appendEvents({ session, events: randomHistory(seed, 60 + (seed % 60)) });
        const raw = (await service.getSession(key))!.events;
        for (const view of VIEWS) {
          // The end that is kept for a smaller window does not serve a larger one, so each read is a first read.
          for (const numRecentEvents of COUNTS) {
            const config = { view, numRecentEvents };
            const { events } = (await service.getSession({ ...key, config }))!;
            const last = raw.slice(-numRecentEvents);
            const isPlain = view === 'transcript' || !last.some(hasCallParts);
            const tail = tailOfLast([], last, view, { count: numRecentEvents });
            const decided = typeof tail === 'string' ? undefined : tail.events;
            const plain = isPlain ? last : decided;
            const end = endOf(viewOf([...raw], view).events, numRecentEvents, view);
            const isDecided = !last.some(isMarker) && plain !== undefined;
            assert.deepEqual(events, isDecided ? plain : end, `${seed} ${view}`);
          }
        }
      }
    });
  }
});
