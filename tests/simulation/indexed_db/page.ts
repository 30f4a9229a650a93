// The page in which seeds run over the browser's IndexedDB.

import { exposeScenarios } from '../../browser/expose_scenarios.js';
import { indexedDbBoundary } from '../boundaries/indexed_db.js';
import { type Listen, report, runSeed } from '../run/run_seed.js';

const listen: Listen = (onError) => {
  const listener = (event: PromiseRejectionEvent | ErrorEvent): void =>
    onError('reason' in event ? event.reason : event.error);
  addEventListener('unhandledrejection', listener);
  addEventListener('error', listener);
  return () => {
    removeEventListener('unhandledrejection', listener);
    removeEventListener('error', listener);
  };
};

const scenarios = {
  /** Runs seeds concurrently. @returns reports of the failed ones */
  async simulate(first: number, count: number): Promise<string[]> {
    const seeds = Array.from({ length: count }, (_, number) => first + number);
    const results = await Promise.all(
      seeds.map((seed) => runSeed(indexedDbBoundary, seed, listen)),
    );
    const failed = results.filter(({ problem }) => problem !== undefined);
    return failed.map((result) => report(indexedDbBoundary, result));
  },
};

export type SimulationPage = typeof scenarios;

exposeScenarios(scenarios);
