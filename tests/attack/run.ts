// Runs the cases of a storage, and says how to repeat the one that failed.
//
//   npm test -- attack                          all cases
//   ATTACK=memory:1234 npm test -- attack       the case of one seed, with those before it on the same sessions
//   ATTACK=memory npm test -- attack            all cases of one target
//   ATTACK_FROM=5000 npm test -- attack         as many cases, but from another seed on
//
// `cases/` holds what an attack does and what must hold behind it, `storages/` and `browsers/` run it over each
// storage, and `poison/` runs a conversation in realms whose prototypes are changed.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CaseRunner, firstSeedBeside } from './cases/case.js';
import type { Target } from './cases/world.js';

/** See above. */
export const [onlyTarget, onlySeed] = (process.env.ATTACK ?? '').split(':');
const FROM = Number(process.env.ATTACK_FROM ?? 1);

/** The first and the last seed of a target that has so many cases. */
export function seedsOf(count: number): readonly [from: number, to: number] {
  if (onlySeed) return [firstSeedBeside(Number(onlySeed)), Number(onlySeed)];
  const from = firstSeedBeside(FROM);
  return [from, from + count - 1];
}

/** A service serves so many cases; then another one is opened. */
const CASES_A_SERVICE = 600;

/** What nobody caught, with the seed that was running. */
const uncaught: string[] = [];
let running = '';
const note = (error: unknown): void => void uncaught.push(`${running}: ${String(error)}`);

/** Runs a storage's cases, many on one service. */
export function attack(target: Target, count: number): void {
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
    if (cases % CASES_A_SERVICE === 0) await close();
  };
  repeat(target.name, count, run, close);
}

/** Runs cases by their seeds. @param end runs behind the last one */
export function repeat(
  name: string,
  count: number,
  run: (seed: number) => Promise<void>,
  end?: () => Promise<void>,
): void {
  if (onlyTarget && onlyTarget !== name) return;
  const [from, to] = seedsOf(count);
  it(`${name} withstands the attacks of seeds ${from} to ${to}`, async () => {
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
        // What nobody caught is told between turns of the event loop.
        if (seed % 50 === 0) await new Promise(setImmediate);
      }
      await end?.();
      await new Promise(setImmediate);
      assert.deepEqual(uncaught.splice(0), []);
    } finally {
      process.off('unhandledRejection', note).off('uncaughtException', note);
    }
  });
}
