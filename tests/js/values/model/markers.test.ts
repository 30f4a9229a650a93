import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import type { Event } from '../../../../js/values/model/event/event.js';
import { snapshotEvent } from '../../../../js/values/model/event/snapshot.js';

interface Case {
  name: string;
  event: Event;
  mayBeMarker: boolean;
}

test('a snapshot marks the events that Rust takes for markers', () => {
  const file = new URL('../../../vectors/markers.json', import.meta.url);
  const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];
  assert.ok(cases.length >= 15);
  for (const { name, event, mayBeMarker } of cases) {
    const snapshot = snapshotEvent(
      event,
      () => 0,
      () => 'e',
    );
    assert.equal(snapshot.mayBeMarker, mayBeMarker, name);
  }
});
