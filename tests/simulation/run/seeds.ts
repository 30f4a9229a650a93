// Seeds as tests of Node's runner. SEED=… BOUNDARY=… runs one alone, and shows what it does.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Boundary } from './boundary.js';
import { type Listen, report, runSeed, shortest } from './run_seed.js';
import { TimeLimits } from './time_limits.js';

const { SEED, BOUNDARY } = process.env;

/** So many seeds make one test. */
const CHUNK = 500;

/** What nobody handles would end the program. */
const listen: Listen = (hear) => {
  process.on('unhandledRejection', hear).on('uncaughtException', hear);
  return () => process.off('unhandledRejection', hear).off('uncaughtException', hear);
};

/** Runs so many seeds of a boundary. @param first the first of them */
export function simulate(boundary: Boundary, seeds: number, first = 0): void {
  const { name } = boundary;
  const chosen = SEED === undefined ? undefined : Number(SEED);
  if (chosen !== undefined) {
    // Of the files that share a boundary's seeds, one runs it.
    if ((BOUNDARY ?? name) !== name || first > 0) return;
    it(`seed ${chosen} of ${name} keeps the contract`, async () => {
      const result = await runSeed(boundary, chosen, listen);
      console.log(report(boundary, result));
      assert.equal(result.problem, undefined);
    });
    return;
  }
  describe(`a storage whose requests fail at the boundary "${name}"`, () => {
    for (let from = first; from < first + seeds; from += CHUNK) {
      const end = Math.min(from + CHUNK, first + seeds);
      it(`keeps the contract with the seeds from ${from} to ${end - 1}`, async () => {
        for (let seed = from; seed < end; seed += 1) await requireSound(boundary, seed);
      });
    }
  });
}

/** How many seeds run at once where time is real: they mostly wait. */
const AT_ONCE = 20;

/**
 * Runs seeds of a boundary in real time, several at once. Each that ends makes room for the next.
 *
 * @param boundary called when its server is there
 * @param from the first of them
 */
export function simulateTogether(
  name: string,
  boundary: () => Boundary,
  seeds: number,
  from = 0,
): void {
  const chosen = SEED === undefined ? undefined : Number(SEED);
  if (chosen !== undefined && BOUNDARY !== name) return;
  const [first, end] = chosen === undefined ? [from, from + seeds] : [chosen, chosen + 1];
  it(`keeps the contract with the seeds from ${first} to ${end - 1} of ${name}`, async () => {
    const reports: string[] = [];
    const stop = listen((error) => reports.push(`nobody heard of this: ${String(error)}`));
    const restore = TimeLimits.install();
    let next = first;
    const work = async (): Promise<void> => {
      while (next < end) {
        const result = await runSeed(boundary(), next++, () => () => undefined);
        if (result.problem !== undefined) reports.push(report(boundary(), result));
        else if (chosen !== undefined) console.log(report(boundary(), result));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    restore();
    stop();
    assert.equal(reports.length, 0, reports.join('\n\n'));
  });
}

async function requireSound(boundary: Boundary, seed: number): Promise<void> {
  const result = await runSeed(boundary, seed, listen);
  if (result.problem === undefined) return;
  assert.fail(report(boundary, await shortest(boundary, result, listen)));
}
