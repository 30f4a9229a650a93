// The page in which seeds run over the engine's own IndexedDB.

import { exposeScenarios } from '../../browser/expose_scenarios.js';
import { indexedDbBoundary } from '../boundaries/indexed_db.js';
import { type Listen, report, runSeed } from '../run/run_seed.js';

const listen: Listen = (hear) => {
  const heard = (event: PromiseRejectionEvent | ErrorEvent): void =>
    hear('reason' in event ? event.reason : event.error);
  addEventListener('unhandledrejection', heard);
  addEventListener('error', heard);
  return () => {
    removeEventListener('unhandledrejection', heard);
    removeEventListener('error', heard);
  };
};

const scenarios = {
  /** Runs seeds at once. @returns reports of those that fail */
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
