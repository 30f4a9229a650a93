// The positions of events that a service remembers, and how many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SeenEvents } from '../../../../../js/stores/vertex/events/seen_events.js';

const URL = 'https://vertex/sessions/s1';
const CREATED = 1_700_000_000_000_000;
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => {
    const number = from + index;
    return { id: `e${number}`, seq: CREATED + number * 1_000_000 };
  });

describe('SeenEvents', () => {
  it('returns the first position of an event', () => {
    const seen = new SeenEvents();
    seen.record(URL, CREATED, rows(0, 3));
    const place = seen.earliestPosition(URL, CREATED, ['e2', 'e1', 'other']);
    assert.ok(place <= CREATED + 1_000_000 && place > CREATED);
    assert.equal(seen.earliestPosition(URL, CREATED + 1, ['e1']), Infinity);
  });

  it('remembers only the last thousand events of a session', () => {
    const seen = new SeenEvents();
    seen.record(URL, CREATED, rows(0, 1500));
    assert.equal(seen.earliestPosition(URL, CREATED, ['e499']), Infinity);
    assert.notEqual(seen.earliestPosition(URL, CREATED, ['e500']), Infinity);
    seen.record(URL, CREATED, rows(500, 501));
    seen.record(URL, CREATED, rows(1500, 1501));
    assert.notEqual(seen.earliestPosition(URL, CREATED, ['e500']), Infinity);
    assert.equal(seen.earliestPosition(URL, CREATED, ['e501']), Infinity);
  });
});
