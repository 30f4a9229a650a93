// Runs cases over IndexedDB; the page's address says which.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { runCase } from '../case.js';
import type { Target } from '../world.js';

/** What went wrong, with the seed. */
export interface Failure {
  readonly seed: number;
  readonly message: string;
}

const uncaught: string[] = [];
addEventListener('unhandledrejection', ({ reason }) => void uncaught.push(String(reason)));
addEventListener('error', ({ message }) => void uncaught.push(message));

async function run(from: number, to: number): Promise<Failure | undefined> {
  const name = 'attacked';
  const target: Target = {
    name: 'indexeddb',
    open: () => Promise.resolve(new IndexedDbSessionService({ name, durability: 'relaxed' })),
  };
  const service = await target.open();
  for (let seed = from; seed <= to; seed += 1) {
    try {
      await runCase(service, target, seed);
      if (uncaught.length > 0) throw new Error(`Nobody caught: ${uncaught.join('; ')}`);
    } catch (error) {
      return { seed, message: error instanceof Error ? error.message : String(error) };
    }
  }
  await service.close();
  await IndexedDbSessionService.deleteDatabase(name);
  return undefined;
}

const parameters = new URLSearchParams(location.search);
const report = run(Number(parameters.get('from')), Number(parameters.get('to')));
// `undefined` is no report to a driver.
Object.assign(globalThis, { report: report.then((failure) => failure ?? null) });
