// Runs the cases of a storage, and says how to repeat the one that failed.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BaseSessionService } from 'adk-session-wasm';
import { runCase } from './case.js';
import type { Target } from './world.js';

/** `ATTACK=memory:1234` runs that case alone; `ATTACK_FROM=5000` begins with another seed. */
export const [onlyTarget, onlySeed] = (process.env.ATTACK ?? '').split(':');
export const FROM = Number(process.env.ATTACK_FROM ?? 1);

/** A service serves so many cases; then another one is opened. */
const CASES_A_SERVICE = 500;

/** What nobody caught, with the seed that was running. */
const uncaught: string[] = [];
let running = '';
const note = (error: unknown): void => void uncaught.push(`${running}: ${String(error)}`);

/** Runs a storage's cases, many on one service. */
export function attack(target: Target, count: number): void {
  let service: BaseSessionService | undefined;
  let cases = 0;
  const close = async (): Promise<void> => {
    await service?.close();
    service = undefined;
  };
  const run = async (seed: number): Promise<void> => {
    service ??= await target.open();
    await runCase(service, target, seed);
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
  const [from, to] = onlySeed ? [Number(onlySeed), Number(onlySeed)] : [FROM, FROM + count - 1];
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
