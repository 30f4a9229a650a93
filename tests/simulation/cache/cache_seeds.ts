// Seeds as tests of Node's runner. SEED=… BOUNDARY=cache runs one seed, and prints its history.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CacheSimulation } from './cache_simulation.js';

const { SEED, BOUNDARY } = process.env;

/** The number of seeds in one test. */
const CHUNK = 500;

interface Result {
  readonly seed: number;
  readonly problem: string | undefined;
  readonly simulation: CacheSimulation;
}

/** @param first the first seed */
export function simulateCaches(seeds: number, first = 0): void {
  if (SEED !== undefined) {
    // Two files share the seeds; only one of them runs it.
    if (BOUNDARY !== 'cache' || first > 0) return;
    it(`seed ${SEED} loses and doubles nothing`, async () => {
      // The first seed of a process loads the wasm in real time, so its order may be another one.
      await runSeed(Number(SEED));
      const result = await runSeed(Number(SEED));
      console.log(report(result));
      assert.equal(result.problem, undefined);
    });
    return;
  }
  describe('Caches over one remote', () => {
    for (let from = first; from < first + seeds; from += CHUNK) {
      const end = Math.min(from + CHUNK, first + seeds);
      it(`lose and double nothing with the seeds from ${from} to ${end - 1}`, async () => {
        for (let seed = from; seed < end; seed += 1) await requireSound(seed);
      });
    }
  });
}

async function requireSound(seed: number): Promise<void> {
  const result = await runSeed(seed);
  if (result.problem !== undefined) assert.fail(report(await shortest(result)));
}

async function runSeed(seed: number, limit?: number): Promise<Result> {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note).on('uncaughtException', note);
  const simulation = new CacheSimulation(seed, limit);
  let problem: string | undefined;
  try {
    await simulation.run();
    if (unhandled.length > 0) problem = `unhandled error: ${shown(unhandled[0])}`;
  } catch (error) {
    problem = shown(error);
  }
  await simulation.end();
  process.off('unhandledRejection', note).off('uncaughtException', note);
  return { seed, problem, simulation };
}

/** Returns the failure of the same seed with the fewest steps. */
async function shortest(failed: Result): Promise<Result> {
  for (let limit = 1; limit < failed.simulation.stepCount; limit += 1) {
    const result = await runSeed(failed.seed, limit);
    if (result.problem !== undefined) return result;
  }
  return failed;
}

function report({ seed, problem = 'it passed', simulation }: Result): string {
  return [
    `seed ${seed} of the caches: ${problem}`,
    'Its history:',
    ...simulation.trace.map((line) => `  ${line}`),
    `Run this file again with SEED=${seed} BOUNDARY=cache`,
  ].join('\n');
}

function shown(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
}
