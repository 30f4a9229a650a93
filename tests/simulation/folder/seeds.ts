// Seeds of a folder as tests of Node's runner.
//
//   SEED=7 npm test -- tests/simulation/folder/folder.test.ts             one seed
//   SEED=7 COUNT=5000 npm test -- tests/simulation/folder/folder.test.ts  5,000 seeds from 7 on

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { play } from './play.js';

const { SEED, COUNT = '1' } = process.env;

/** @param isGate whether seeds that are chosen by hand run here */
export function checkFolder(first: number, count: number, isGate = false): void {
  if (SEED !== undefined && !isGate) return;
  const [begin, all] = SEED === undefined ? [first, count] : [Number(SEED), Number(COUNT)];
  it(`three programs keep the files of a folder with ${all} seeds from ${begin}`, async () => {
    for (let seed = begin; seed < begin + all; seed += 1) {
      await play(seed).catch((error: unknown) => {
        assert.fail(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`);
      });
    }
  });
}
