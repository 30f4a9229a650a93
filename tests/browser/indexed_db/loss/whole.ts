import assert from 'node:assert/strict';
import { BATCH, type Stored } from '../page/loss/burst.js';

/** All that was acknowledged is stored, and whatever is stored is whole. */
export function assertWhole({ sessions, userKeys, appKeys, total }: Stored, told: string[]): void {
  const events = Object.values(sessions).flatMap((session) => session.events);
  const stored = new Set(events);
  const lost = told.flatMap((ids) => ids.split('\n')).filter((id) => !stored.has(id));
  assert.deepEqual(lost, [], 'acknowledged events are stored');
  assert.equal(stored.size, events.length, 'no event is stored twice');
  for (const session of Object.values(sessions)) {
    assert.deepEqual([...session.keys].sort(), [...session.events].sort(), 'events and their keys');
  }
  events.sort();
  assert.deepEqual([...userKeys].sort(), events, 'events and their keys in the user state');
  assert.deepEqual([...appKeys].sort(), events, 'events and their keys in the app state');
  assert.equal(total, Object.keys(sessions).length, 'sessions are counted');
  for (const { events } of Object.values(sessions)) assertLanes(events);
}

/** A lane appends one event after the other, so no earlier event may be missing, and no batch may be divided. */
function assertLanes(events: string[]): void {
  const lanes = new Map<string, number[]>();
  for (const id of events) {
    const [, lane, number, place] = /^(.*):(\d+):(\d+)$/.exec(id)!;
    const size = lane!.endsWith(':d') ? BATCH : 1;
    const numbers = lanes.get(lane!) ?? [];
    lanes.set(lane!, [...numbers, Number(number) * size + Number(place)]);
  }
  for (const [lane, numbers] of lanes) {
    const all = numbers.map((_, position) => position);
    assert.deepEqual(numbers, all, `the events of lane ${lane} follow each other`);
    if (lane.endsWith(':d')) assert.equal(numbers.length % BATCH, 0, 'batches are whole');
  }
}
