// Runs a seed, and reports a failure with its history.

import type { Boundary } from './boundary.js';
import { Simulation } from './simulate.js';

/** Listens to unhandled errors. @returns removes the listener */
export type Listen = (onError: (error: unknown) => void) => () => void;

/** The result of a seed. */
export interface Result {
  readonly seed: number;
  /** The failure, if the seed failed. */
  readonly problem: string | undefined;
  /** The number of operations that were started. */
  readonly startedCount: number;
  readonly simulation: Simulation;
}

/** @param limit the maximum number of operations to start */
export async function runSeed(
  boundary: Boundary,
  seed: number,
  listen: Listen,
  limit = Infinity,
): Promise<Result> {
  const unhandled: unknown[] = [];
  const stop = listen((error) => unhandled.push(error));
  const storage = await boundary.start(seed);
  const simulation = new Simulation(boundary, seed, limit, storage);
  try {
    await simulation.run();
    if (unhandled.length > 0) throw new Error(`unhandled error: ${shown(unhandled[0])}`);
    return { seed, problem: undefined, startedCount: simulation.startedCount, simulation };
  } catch (error) {
    return { seed, problem: shown(error), startedCount: simulation.startedCount, simulation };
  } finally {
    await storage.end();
    stop();
  }
}

/** Returns the failure of the same seed with the fewest operations, not counting the final check. */
export async function shortest(
  boundary: Boundary,
  failed: Result,
  listen: Listen,
): Promise<Result> {
  for (let limit = 1; limit < failed.startedCount; limit += 1) {
    const result = await runSeed(boundary, failed.seed, listen, limit);
    if (result.problem !== undefined) return result;
  }
  return failed;
}

export function report(
  { name }: Boundary,
  { seed, problem = 'it passed', simulation }: Result,
): string {
  return [
    `seed ${seed} of ${name}: ${problem}`,
    'Its history:',
    ...simulation.trace.map((line) => `  ${line}`),
    `To repeat: SEED=${seed} BOUNDARY=${name} npm test -- simulation rest-simulation`,
  ].join('\n');
}

function shown(error: unknown): string {
  // WebKit's stacks lack the message.
  return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
}
