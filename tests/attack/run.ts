// Runs random cases, and lets fast-check print and shrink a failed one.
//
//   npm test -- attack                                                  all cases of the gate
//   SEED=… CASE=… npm test -- tests/attack/storages/memory.test.ts      one case, by the seed and the path of its failure
//
// `cases/` has the attacks and the rules that must hold after them. `storages/` and `browsers/` run them over each
// storage. `frozen/` runs a conversation in realms with frozen prototypes.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { runs } from '../properties.js';
import { attacksOn } from './cases/case.js';
import type { Target } from './cases/world.js';

/** Runs pairs of sessions of a storage. Each is attacked six times on average. */
export function attack(target: Target, pairs: number, isRest = false): void {
  it(`${target.name} withstands the attacks on ${pairs} pairs of sessions`, async () => {
    const service = await target.open();
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    const requireNoUncaught = async (): Promise<void> => {
      // Node reports uncaught errors between turns of the event loop.
      await new Promise(setImmediate);
      assert.deepEqual(uncaught.splice(0), []);
    };
    process.on('unhandledRejection', note).on('uncaughtException', note);
    try {
      await fc.assert(attacksOn(service, target, requireNoUncaught), runs(pairs, isRest));
    } finally {
      process.off('unhandledRejection', note).off('uncaughtException', note);
      await service.close();
    }
  });
}

/** Runs a property that holds for every case. */
export function withstands<T>(name: string, property: fc.IAsyncProperty<T>, cases: number): void {
  it(`${name} withstands ${cases} attacks`, () => fc.assert(property, runs(cases)));
}
