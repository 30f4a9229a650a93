// Seeds as tests of Node's runner.
//
//   SEED=7 npm test -- tests/simulation/cache/cache.test.ts       one seed, with its history
//   SCRIPT='{…}' npm test -- tests/simulation/cache/cache.test.ts    the script that a failure prints
//
// The schedules that change histories have files of their own: http_histories.test.ts and cache_histories.test.ts.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { call } from './calls.js';
import { historyScriptOf } from './history_steps.js';
import { Play } from './play.js';
import { settle } from './settle.js';
import { type Script, scriptOf } from './steps.js';
import type { World } from './world.js';

const { SEED, SCRIPT } = process.env;

/** The most failing seeds that are listed. Only the first one is made shorter. */
const MOST_FAILURES = 10;

/**
 * Runs before the first test begins: within a test of Node's runner, promises take twice the time.
 *
 * @param first the first seed
 * @param others further seeds
 */
export function checkCaches(
  seeds: number,
  first = 0,
  others: readonly number[] = [],
): Promise<void> {
  return checkSeeds(
    'caches over one server lose and double nothing',
    scriptOf,
    seeds,
    first,
    others,
  );
}

/** Like {@link checkCaches}, with steps that change histories, over a server that hides credentials. */
export function checkHistories(
  histories: 'http' | 'cache',
  seeds: number,
  first = 0,
  others: readonly number[] = [],
): Promise<void> {
  const title = `histories over ${histories} are those over memory, and show no secret,`;
  return checkSeeds(title, historyScriptOf(histories), seeds, first, others);
}

async function checkSeeds(
  title: string,
  scriptOf: (seed: number) => Script,
  seeds: number,
  first: number,
  others: readonly number[],
): Promise<void> {
  // A program whose promises never settle ends before a test is there, and must not pass.
  process.exitCode = 1;
  if (SEED !== undefined || SCRIPT !== undefined) {
    // Two files share the seeds; only one of them runs it.
    if (first > 0) return;
    const script = SCRIPT === undefined ? scriptOf(Number(SEED)) : (JSON.parse(SCRIPT) as Script);
    const { problem, trace } = await run(script);
    console.log(trace.join('\n'));
    process.exitCode = 0;
    it('the script loses and doubles nothing', () => assert.equal(problem, undefined));
    return;
  }
  const failures: string[] = [];
  let shortest: string | undefined;
  const check = async (seed: number): Promise<void> => {
    if (failures.length === MOST_FAILURES) return;
    const { problem } = await run(scriptOf(seed));
    if (problem === undefined) return;
    failures.push(`seed ${seed}: ${problem}`);
    shortest ??= await report(seed, scriptOf(seed), problem);
  };
  for (const seed of others) await check(seed);
  for (let seed = first; seed < first + seeds; seed += 1) await check(seed);
  process.exitCode = 0;
  it(`${title} with ${seeds} seeds from ${first}`, () => {
    assert.equal(failures.length, 0, [...failures, shortest].join('\n'));
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
async function report(seed: number, whole: Script, problem: string): Promise<string> {
  const kind = kindOf(problem);
  const fails = async (script: Script): Promise<boolean> =>
    kindOf((await run(script)).problem ?? '') === kind;
  let best = whole;
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

/** The first line of a problem without the values in it. The others show values. */
function kindOf(problem: string): string {
  const [sentence = ''] = problem.split('\n', 1);
  return sentence.replaceAll(/\S*[\d"[{]\S*/g, '');
}
