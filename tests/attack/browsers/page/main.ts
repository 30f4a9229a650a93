// Runs cases over IndexedDB; the page's address says which.

import { type BaseSessionService, IndexedDbSessionService } from 'adk-session-wasm';
import { CaseRunner } from '../../cases/case.js';
import { damagedCase } from '../../cases/damage.js';
import { Random } from '../../cases/random.js';
import { clear, damageRecord } from './damage.js';
import type { Target } from '../../cases/world.js';

/** What went wrong, with the seed. */
export interface Failure {
  readonly seed: number;
  readonly message: string;
}

const uncaught: string[] = [];
addEventListener('unhandledrejection', ({ reason }) => void uncaught.push(String(reason)));
addEventListener('error', ({ message }) => void uncaught.push(message));

const name = 'attacked';

function open(): Promise<IndexedDbSessionService> {
  return Promise.resolve(new IndexedDbSessionService({ name, durability: 'relaxed' }));
}

const target: Target = { name: 'indexeddb', open };

async function runDamaged(service: BaseSessionService, seed: number): Promise<void> {
  const random = new Random(seed);
  await damagedCase(service, random, () => damageRecord(name, random), { isOnce: false });
  await clear(name);
}

async function run(kind: string | null, from: number, to: number): Promise<Failure | undefined> {
  const service = await open();
  const runner = new CaseRunner(service, target);
  for (let seed = from; seed <= to; seed += 1) {
    try {
      await (kind === 'damaged' ? runDamaged(service, seed) : runner.run(seed));
      if (uncaught.length > 0) throw new Error(`Nobody caught: ${uncaught.join('; ')}`);
    } catch (error) {
      return { seed, message: error instanceof Error ? error.message : String(error) };
    }
  }
  await runner.end();
  await service.close();
  await IndexedDbSessionService.deleteDatabase(name);
  return undefined;
}

const parameters = new URLSearchParams(location.search);
const report = run(
  parameters.get('kind'),
  Number(parameters.get('from')),
  Number(parameters.get('to')),
);
// `undefined` is no report to a driver.
Object.assign(globalThis, { report: report.then((failure) => failure ?? null) });
