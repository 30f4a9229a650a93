// What the memory of a cache knows of the unsent writes to shared states.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { MutationMemory } from '../../../../../js/stores/cache/data/mutation_memory.js';
import type { NumberedWrite } from '../../../../../js/stores/cache/outbox/mutation.js';
import { NO_STATE, overlayState } from '../../../../../js/stores/cache/overlay/shared_overlay.js'; // prettier-ignore
import { REMOVED } from '../../../../../js/values/state/scope.js';

function writeOf(number: number, change: Partial<NumberedWrite> = {}): NumberedWrite {
  const values = [[`k${number % 3}`, number % 4 === 0 ? REMOVED : number]] as const;
  const none = { isCleared: false, isRefused: false, isOfDeletedUser: false };
  return { ...none, values, number, userId: 'u', ...change };
}

describe('The memory of shared states', () => {
  it('shows a state as if all writes were folded at once, whatever was shown before', () => {
    const memory = new MutationMemory();
    const record = { ...NO_STATE, state: '{"k1":0,"other":1}', localVersion: 1 };
    let writes: readonly NumberedWrite[] = [];
    let shownRecord: typeof record | undefined = record;
    for (let number = 2; number < 60; number += 1) {
      if (number % 7 === 0) writes = writes.slice(1);
      if (number % 11 === 0) writes = writes.map((write) => ({ ...write, isRefused: true }));
      if (number === 30) shownRecord = { ...record, state: '{"k2":5}', localVersion: 29 };
      if (number === 40) shownRecord = undefined;
      writes = [...writes, writeOf(number, { isCleared: number % 13 === 0 })];
      const shown = memory.shown('name', shownRecord, writes);
      assert.deepEqual(shown, overlayState(shownRecord, writes));
      assert.deepEqual(memory.shown('name', shownRecord, writes), shown);
    }
    assert.equal(memory.shown('name', undefined, []), undefined);
  });
});
