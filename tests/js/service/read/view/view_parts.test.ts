import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { mapStorage } from '../../../../../examples/map_storage.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import {
  isMarker,
  isSummarised,
  rewindTargetOf,
} from '../../../../../js/values/model/event/markers.js';
import { hasCallParts } from '../../../../../js/values/model/event/parts.js';
import { viewOf } from '../../../../../js/core/history/rules/view.js';
import { createEventActions, type Event, openSessionService } from '../../../../../js/index.js';
import {
  pageOfKnown,
  pageOfView,
  tailOfKnown,
  tailOfView,
} from '../../../../../js/core/history/views/view_parts.js';
import { readBack, type KnownEvents } from '../../../../../js/core/history/views/read_back.js';
import type { SessionRead } from '../../../../../js/core/read.js';
import { runPlanNow } from '../../../../../js/core/storage/reads/read_plan.js';
import type { Undecided } from '../../../../../js/core/wasm/packed_marks.js';
import { tellsWhatWaits } from '../../../../../js/values/model/event/waiting.js';
import { endOf } from './view_model.js';
import { randomWait } from '../random_wait.js';
import { randomNumbers } from '../list_model.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
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
function markersOf(events: readonly Event[], eventId?: string): Event[] {
  const targets = new Set(events.map(rewindTargetOf));
  const isFirst = (event: Event) =>
    targets.has(event.invocationId) &&
    events.find(({ invocationId }) => invocationId === event.invocationId) === event;
  return events.filter(
    (event) => isMarker(event) || isFirst(event) || tellsWhatWaits(event) || event.id === eventId,
  );
}

/** What is known after the events of a range and the markers were read. */
function knownOf(
  events: readonly Event[],
  markers: readonly Event[],
  [from, end]: readonly [from: number, end: number],
): KnownEvents {
  const placeOf = (event: Event) => events.indexOf(event);
  return {
    earlier: markers.filter((event) => placeOf(event) < from),
    last: events.slice(from, end),
    later: markers.filter((event) => placeOf(event) >= end),
    firstId: events[from]?.id,
    isFromStart: from === 0,
  };
}

/** Reads back in a session that has these events. Returns how many it read, too. */
function readBackIn<Part extends object>(
  events: readonly Event[],
  markers: readonly Event[],
  [from, end]: readonly [from: number, end: number],
  count: number,
  decide: (known: KnownEvents) => Part | Undecided,
) {
  const head = { created: 1, revision: 2 };
  const known = { ...knownOf(events, markers, [from, end]), isFromStart: false };
  const plan = readBack({ key: KEY }, { ...head, events: [...markers] }, known, count, decide);
  let read = 0;
  const part = runPlanNow(plan, (request) => {
    const { eventId, limit } = request as SessionRead<'page'>;
    const before =
      eventId === undefined ? events.length : events.findIndex(({ id }) => id === eventId);
    const start = Math.max(0, before - limit);
    read += before - start;
    const page = events.slice(start, before);
    return { ...head, events: page, hasOlder: start > 0, firstId: page[0]?.id };
  });
  return { part, read };
}

describe('The end of a view, computed from markers and the last events,', () => {
  it('equals the end of the whole view, or asks for more events', () => {
    let [decided, undecided] = [0, 0];
    for (let seed = 1; seed <= 400; seed += 1) {
      const events = randomHistory(seed, 20 + (seed % 60));
      const markers = markersOf(events);
      for (const view of VIEWS) {
        const whole = viewOf([...events], view);
        for (const count of COUNTS) {
          const expected = endOf(whole.events, count, view);
          const summarised = expected.map(({ id }) => whole.summarised.has(id));
          const ofWhole = tailOfView({ events }, view, count);
          assert.deepEqual(ofWhole.events, expected, `seed ${seed}, ${view}, ${count} of all`);
          assert.equal(ofWhole.start, whole.events.length - expected.length);
          for (const last of [count, 2 * count, 8 * count]) {
            if (last >= events.length) continue;
            const known = knownOf(events, markers, [events.length - last, events.length]);
            const end = tailOfKnown(known, view, count);
            if ('answer' in end) {
              undecided += 1;
              continue;
            }
            decided += 1;
            const message = `seed ${seed}, ${view}, ${count} of ${last}`;
            assert.deepEqual(end.events, expected, message);
            const named = end.events.map(({ id }) => end.summarised.has(id));
            assert.deepEqual(named, summarised, message);
          }
        }
      }
    }
    assert.ok(decided > undecided, `${decided} decided, ${undecided} undecided`);
  });

  it('gives the pages of the whole view, or asks for more events', () => {
    let [decided, undecided] = [0, 0];
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
            const from = Math.max(0, end - last);
            const known = knownOf(events, markers, [from, end]);
            // Without the event it is not known which markers are later.
            if (isDamaged && from > 0) continue;
            const page = pageOfKnown(known, view, { eventId, limit });
            // The summary of a later compaction may stand anywhere.
            const isCompacted = markers.some((event) => isMarker(event) && !rewindTargetOf(event));
            const isDecidable = view === 'transcript' || !isCompacted;
            if (!isDecidable) {
              assert.ok('answer' in page && page.answer === 'needsAll');
              continue;
            }
            if ('answer' in page) {
              assert.equal(page.answer, 'needsEarlier');
              undecided += 1;
              continue;
            }
            decided += 1;
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
    assert.ok(decided > undecided, `${decided} decided, ${undecided} undecided`);
  });

  it('and a page are those of the whole view, read back from any place', () => {
    for (let seed = 2000; seed < 2400; seed += 1) {
      const below = randomNumbers(seed);
      const events = randomHistory(seed, 20 + (seed % 100));
      const markers = markersOf(events);
      const { length } = events;
      for (const view of VIEWS) {
        const whole = viewOf([...events], view);
        for (const count of COUNTS) {
          const message = `seed ${seed}, ${view}, ${count}`;
          const first = 1 + below(8);
          const from = Math.max(0, length - below(2 * count));
          const tail = readBackIn(events, markers, [from, length], first, (known) =>
            tailOfKnown(known, view, count),
          );
          if (tail.part !== 'needsAll') {
            assert.ok(typeof tail.part === 'object', message);
            assert.deepEqual(tail.part.events, endOf(whole.events, count, view), message);
          }
          const end = below(2) === 0 ? length : below(length);
          const eventId = events[end]?.id;
          const request = { direction: 'before', eventId, limit: count } as const;
          const all = eventId === undefined ? markers : markersOf(events, eventId);
          const page = readBackIn(events, all, [end, end], first, (known) =>
            pageOfKnown(known, view, request),
          );
          if (page.part === 'needsAll') continue;
          const { events: expected, hasOlder } = pageOfView({ events }, view, request)!;
          assert.ok(typeof page.part === 'object', message);
          assert.deepEqual(page.part.events, expected, message);
          assert.equal(page.part.hasOlder, hasOlder, message);
        }
      }
    }
  });

  it('skips what rewinds have undone, also one behind another', () => {
    const turn = (at: number, invocationId: string): Event => ({
      id: `e${at}`,
      invocationId,
      author: 'user',
      timestamp: at,
      content: { role: 'user', parts: [{ text: 'x' }] },
      actions: createEventActions(),
    });
    const events = Array.from({ length: 10_000 }, (_, at) => turn(at, `i${Math.floor(at / 1000)}`));
    // The events 2000 to 4500 and 5000 to 9900 are undone.
    for (const [at, before] of [
      [4500, 'i2'],
      [9900, 'i5'],
    ] as const) {
      Object.assign(events[at]!.actions, { rewindBeforeInvocationId: before });
    }
    const markers = markersOf(events);
    for (const view of VIEWS) {
      const shown = viewOf([...events], view).events;
      for (const [count, most] of [
        [120, 400],
        [700, 3000],
      ] as const) {
        const { part, read } = readBackIn(events, markers, [9990, 10_000], count, (known) =>
          tailOfKnown(known, view, count),
        );
        assert.ok(typeof part === 'object');
        assert.deepEqual(part.events, shown.slice(-count));
        assert.ok(read <= most, `${read} events for ${count}`);
      }
    }
  });

  for (const storage of ['SQLite', 'a storage without readMarkers']) {
    it(`is what a read over ${storage} returns`, async () => {
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
          for (const numRecentEvents of COUNTS) {
            const config = { view, numRecentEvents };
            const { events } = (await service.getSession({ ...key, config }))!;
            const last = raw.slice(-numRecentEvents);
            const isPlain = view === 'transcript' || !last.some(hasCallParts);
            const known = knownOf(raw, [], [raw.length - last.length, raw.length]);
            const tail = tailOfKnown({ ...known, isFromStart: false }, view, numRecentEvents);
            const decided = 'answer' in tail ? undefined : tail.events;
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
