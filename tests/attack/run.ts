// Runs the cases of a storage, and prints how to repeat a failed one.
//
//   npm test -- attack                          all cases
//   ATTACK=memory:1234 npm test -- attack       the case of one seed, with the earlier ones on the same sessions
//   ATTACK=memory npm test -- attack            all cases of one target
//
// `cases/` has the attacks and the rules that must hold after them. `storages/` and `browsers/` run them over each
// storage. `frozen/` runs a conversation in realms with frozen prototypes.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CaseRunner, firstSeedOfWorld } from './cases/case.js';
import type { Target } from './cases/world.js';

/** The target and the seed of `ATTACK`. */
export const [onlyTarget, onlySeed] = (process.env.ATTACK ?? '').split(':');

/** The first seed of the rest, another one in each run. Never that of the gate, which is 1. */
export const FIRST_SEED = Number(process.env.FIRST_SEED ?? 200_000);

/** The first and the last seed of a target with the given number of cases. */
export function seedsOf(count: number, first = 1): readonly [from: number, to: number] {
  if (onlySeed) return [firstSeedOfWorld(Number(onlySeed)), Number(onlySeed)];
  const from = firstSeedOfWorld(first);
  return [from, from + count - 1];
}

/** The number of cases per service; then another service is opened. */
const CASES_PER_SERVICE = 600;

/** Uncaught errors, with the running seed. */
const uncaught: string[] = [];
let running = '';
const note = (error: unknown): void => void uncaught.push(`${running}: ${String(error)}`);

/** Runs a storage's cases, many on one service. */
export function attack(target: Target, count: number, first = 1): void {
  let runner: CaseRunner | undefined;
  let cases = 0;
  const close = async (): Promise<void> => {
    await runner?.end();
    await runner?.service.close();
    runner = undefined;
  };
  const run = async (seed: number): Promise<void> => {
    runner ??= new CaseRunner(await target.open(), target);
    await runner.run(seed);
    cases += 1;
    if (cases % CASES_PER_SERVICE === 0) await close();
  };
  repeat(target.name, count, run, close, first);
}

/** Runs cases by their seeds. @param end runs after the last one */
export function repeat(
  name: string,
  count: number,
  run: (seed: number) => Promise<void>,
  end?: () => Promise<void>,
  first = 1,
): void {
  if (onlyTarget && onlyTarget !== name) return;
  const [from, to] = seedsOf(count, first);
  const runAll = async (): Promise<void> => {
    process.on('unhandledRejection', note).on('uncaughtException', note);
    try {
      for (let seed = from; seed <= to; seed += 1) {
        running = `${name}:${seed}`;
        try {
          await run(seed);
        } catch (error) {
          const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
          assert.fail(`To repeat it: ATTACK=${running} npm test -- attack\n${message}`);
        }
        // Node reports uncaught errors between turns of the event loop.
        if (seed % 50 === 0) await new Promise(setImmediate);
      }
      await end?.();
      await new Promise(setImmediate);
      assert.deepEqual(uncaught.splice(0), []);
    } finally {
      process.off('unhandledRejection', note).off('uncaughtException', note);
    }
  };
  it(`${name} withstands the attacks of seeds ${from} to ${to}`, runAll);
}
