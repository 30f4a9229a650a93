// Seeds as tests of Node's runner.
//
//   SEED=7 npm test -- tests/simulation/runs/runs.test.ts             one seed, with its history
//   SEED=7 COUNT=5000 npm test -- tests/simulation/runs/runs.test.ts  5,000 seeds from 7 on
//   SCRIPT='{…}' npm test -- tests/simulation/runs/runs.test.ts       the script that a failure prints

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { World } from '../cache/world.js';
import { describeShortest, playOrPrint } from '../shortest_script.js';
import { play } from './play.js';
import { type Script, scriptOf } from './steps.js';

const { SEED, COUNT = '1', SCRIPT } = process.env;

/** The most failing seeds that are listed. Only the first one is made shorter. */
const MOST_FAILURES = 10;

const SIMPLER: readonly Partial<Script>[] = [
  { isSqlite: false },
  { isApart: false },
  { isRunner: false },
  { isHealthy: true },
];

/**
 * Runs before the first test begins: within a test of Node's runner, promises take twice the time.
 *
 * @param isGate whether a seed that is chosen by hand runs here
 */
export async function checkRuns(seeds: readonly number[], isGate = false): Promise<void> {
  // A program whose promises never settle ends before a test is there, and must not pass.
  process.exitCode = 1;
  const isChosen = SEED !== undefined || SCRIPT !== undefined;
  if (isChosen && !isGate) return void (process.exitCode = 0);
  const script = SCRIPT === undefined ? undefined : (JSON.parse(SCRIPT) as Script);
  if (script !== undefined || (isChosen && COUNT === '1')) {
    const { problem, trace } = await run(script ?? scriptOf(Number(SEED)));
    console.log(trace.join('\n'));
    process.exitCode = 0;
    it('the script keeps the promises of runs', () => assert.equal(problem, undefined));
    return;
  }
  const first = Number(SEED);
  const chosen = isChosen ? seedsFrom(first, Number(COUNT)) : seeds;
  const failures: string[] = [];
  let shortest: string | undefined;
  for (const seed of chosen) {
    const { problem } = await run(scriptOf(seed));
    if (problem === undefined) continue;
    if (isChosen) console.log(`seed ${seed}: ${problem.split('\n', 1)[0]}`);
    failures.push(`seed ${seed}: ${problem}`);
    if (!isChosen) shortest ??= await describeShortest(seed, scriptOf(seed), problem, SIMPLER, run);
    if (!isChosen && failures.length === MOST_FAILURES) break;
  }
  process.exitCode = 0;
  it(`two pages and two servers keep the promises of runs with ${chosen.length} seeds from ${chosen[0]}`, () => {
    assert.equal(failures.length, 0, [...failures.slice(0, MOST_FAILURES), shortest].join('\n'));
  });
}

export function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

let isWarm = false;

async function run(script: Script): Promise<World> {
  // Parts of the package are loaded, and the wasm is compiled, in real time.
  if (!isWarm) for (let seed = 0; seed < 8; seed += 1) await play(scriptOf(seed));
  isWarm = true;
  return playOrPrint(script, play);
}
