// Seeds as tests of Node's runner.
//
//   SEED=7 npm test -- tests/simulation/cache/cache.test.ts       one seed, with its history
//   SCRIPT='{…}' npm test -- tests/simulation/cache/cache.test.ts    the script that a failure prints
//
// The schedules that change histories have files of their own: http_histories.test.ts and cache_histories.test.ts.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeShortest, playOrPrint } from '../shortest_script.js';
import { call } from './calls.js';
import { historyScriptOf } from './history_steps.js';
import { Play } from './play.js';
import { settle } from './settle.js';
import { type Script, scriptOf } from './steps.js';
import type { World } from './world.js';

const { SEED, SCRIPT } = process.env;

/** The most failing seeds that are listed. Only the first one is made shorter. */
const MOST_FAILURES = 10;

const SIMPLER: readonly Partial<Script>[] = [{ isSqlite: false }, { isBounded: false }];

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
    shortest ??= await describeShortest(seed, scriptOf(seed), problem, SIMPLER, run);
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
  return playOrPrint(script, (script) => Play.run(script, call, settle));
}
