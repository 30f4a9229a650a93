// Runs a seed, and tells all that helps to find out why one fails.

import type { Boundary } from './boundary.js';
import { Simulation } from './simulate.js';

/** Tells of errors that reached nobody. @returns ends it */
export type Listen = (hear: (error: unknown) => void) => () => void;

/** What came of a seed. */
export interface Result {
  readonly seed: number;
  /** What went wrong, if anything did. */
  readonly problem: string | undefined;
  /** Operations that were begun. */
  readonly begun: number;
  readonly simulation: Simulation;
}

/** @param limit how many operations are begun at most */
export async function runSeed(
  boundary: Boundary,
  seed: number,
  listen: Listen,
  limit = Infinity,
): Promise<Result> {
  const unheard: unknown[] = [];
  const stop = listen((error) => unheard.push(error));
  const storage = await boundary.start(seed);
  const simulation = new Simulation(boundary, seed, limit, storage);
  try {
    await simulation.run();
    if (unheard.length > 0) throw new Error(`nobody heard of this: ${shown(unheard[0])}`);
    return { seed, problem: undefined, begun: simulation.begun, simulation };
  } catch (error) {
    return { seed, problem: shown(error), begun: simulation.begun, simulation };
  } finally {
    await storage.end();
    stop();
  }
}

/** The fewest operations of a seed that fail as well; those of the check at the end do not count. */
export async function shortest(
  boundary: Boundary,
  failed: Result,
  listen: Listen,
): Promise<Result> {
  for (let limit = 1; limit < failed.begun; limit += 1) {
    const result = await runSeed(boundary, failed.seed, listen, limit);
    if (result.problem !== undefined) return result;
  }
  return failed;
}

export function report(
  { name }: Boundary,
  { seed, problem = 'nothing is wrong', simulation }: Result,
): string {
  return [
    `seed ${seed} of ${name}: ${problem}`,
    'It does this:',
    ...simulation.trace.map((line) => `  ${line}`),
    `Run this file again with SEED=${seed} BOUNDARY=${name}`,
  ].join('\n');
}

function shown(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
