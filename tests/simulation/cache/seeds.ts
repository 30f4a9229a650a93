// Seeds as tests of Node's runner.
//
//   SEED=7 npm test -- tests/simulation/cache/cache.test.ts       one seed, with its history
//   SCRIPT='{…}' npm test -- tests/simulation/cache/cache.test.ts    the script that a failure prints

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { call } from './calls.js';
import { Play } from './play.js';
import { settle } from './settle.js';
import { type Script, scriptOf } from './steps.js';
import type { World } from './world.js';

const { SEED, SCRIPT } = process.env;

/** The number of seeds in one test. */
const CHUNK = 500;

/** @param first the first seed */
export function checkCaches(seeds: number, first = 0): void {
  if (SEED !== undefined || SCRIPT !== undefined) {
    // Two files share the seeds; only one of them runs it.
    if (first > 0) return;
    it('the script loses and doubles nothing', async () => {
      const script = SCRIPT === undefined ? scriptOf(Number(SEED)) : (JSON.parse(SCRIPT) as Script);
      const { problem, trace } = await run(script);
      console.log(trace.join('\n'));
      assert.equal(problem, undefined);
    });
    return;
  }
  describe('Caches over one server', () => {
    for (let from = first; from < first + seeds; from += CHUNK) {
      const end = Math.min(from + CHUNK, first + seeds);
      it(`lose and double nothing with the seeds from ${from} to ${end - 1}`, async () => {
        for (let seed = from; seed < end; seed += 1) {
          const { problem } = await run(scriptOf(seed));
          if (problem !== undefined) assert.fail(await report(seed, problem));
        }
      });
    }
  });
}

let isWarm = false;

async function run(script: Script): Promise<World> {
  // The wasm is compiled in real time.
  if (!isWarm) await Play.run(scriptOf(0), call, settle);
  isWarm = true;
  return Play.run(script, call, settle);
}

/** Describes a failure by the shortest script that repeats it. */
export async function report(seed: number, problem: string): Promise<string> {
  const kind = kindOf(problem);
  const fails = async (script: Script): Promise<boolean> =>
    kindOf((await run(script)).problem ?? '') === kind;
  let best = scriptOf(seed);
  for (const simpler of [{ isSqlite: false }, { isBounded: false }]) {
    if (await fails({ ...best, ...simpler })) best = { ...best, ...simpler };
  }
  for (let size = best.steps.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < best.steps.length;) {
      const steps = best.steps.toSpliced(from, size);
      if (await fails({ ...best, steps })) best = { ...best, steps };
      else from += size;
    }
  }
  const { problem: shown, trace } = await run(best);
  const script = `SCRIPT='${JSON.stringify(best)}' repeats it`;
  return [`seed ${seed}: ${shown ?? problem}`, ...trace, script].join('\n');
}

/** A problem without the values in it. */
function kindOf(problem: string): string {
  return problem.replaceAll(/\S*[\d"[{]\S*/g, '').slice(0, 40);
}
