// Seeds as tests of Node's runner. SEED=… BOUNDARY=… runs one seed, and prints its history.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Boundary } from './boundary.js';
import { type Listen, report, runSeed, shortest } from './run_seed.js';
import { TimeLimits } from './time_limits.js';

const { SEED, BOUNDARY } = process.env;

/** The first seed of the rest. The gate begins with 0. */
export const FIRST_SEED = Number(process.env.REST_SEED ?? 2000);

/** The number of seeds in one test. */
const CHUNK = 500;

/** Without these listeners, an unhandled error would end the program. */
const listen: Listen = (onError) => {
  process.on('unhandledRejection', onError).on('uncaughtException', onError);
  return () => process.off('unhandledRejection', onError).off('uncaughtException', onError);
};

/** Runs seeds of a boundary. @param first the first seed */
export function simulate(boundary: Boundary, seeds: number, first = 0): void {
  const { name } = boundary;
  const chosen = SEED === undefined ? undefined : Number(SEED);
  if (chosen !== undefined) {
    // If several files share a boundary's seeds, only one of them runs it.
    if ((BOUNDARY ?? name) !== name || first > 0) return;
    it(`seed ${chosen} of ${name} keeps the contract`, async () => {
      const result = await runSeed(boundary, chosen, listen);
      console.log(report(boundary, result));
      assert.equal(result.problem, undefined);
    });
    return;
  }
  describe(`A storage whose requests fail at the boundary "${name}"`, () => {
    for (let from = first; from < first + seeds; from += CHUNK) {
      const end = Math.min(from + CHUNK, first + seeds);
      it(`keeps the contract with the seeds from ${from} to ${end - 1}`, async () => {
        for (let seed = from; seed < end; seed += 1) await requireSound(boundary, seed);
      });
    }
  });
}

/** The number of concurrent seeds in real time: they mostly wait. */
const AT_ONCE = 20;

/**
 * Runs seeds of a boundary in real time, several concurrently.
 *
 * @param boundary called after the start of its server
 * @param from the first seed
 */
export function simulateTogether(
  name: string,
  boundary: () => Boundary,
  seeds: number,
  from = 0,
): void {
  const chosen = SEED === undefined ? undefined : Number(SEED);
  if (chosen !== undefined && (BOUNDARY !== name || from > 0)) return;
  const [first, end] = chosen === undefined ? [from, from + seeds] : [chosen, chosen + 1];
  const run = async (): Promise<void> => {
    const reports: string[] = [];
    const stop = listen((error) => reports.push(`unhandled error: ${String(error)}`));
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
  };
  it(`keeps the contract with the seeds from ${first} to ${end - 1} of ${name}`, run);
}

async function requireSound(boundary: Boundary, seed: number): Promise<void> {
  const result = await runSeed(boundary, seed, listen);
  if (result.problem === undefined) return;
  assert.fail(report(boundary, await shortest(boundary, result, listen)));
}
