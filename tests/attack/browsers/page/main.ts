// Runs the cases of the page's address over IndexedDB.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { CaseRunner } from '../../cases/case.js';
import { runFields } from './fields.js';
import type { Target } from '../../cases/world.js';

/** The failure of a seed. */
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

async function run(from: number, to: number): Promise<Failure | undefined> {
  const service = await open();
  const runner = new CaseRunner(service, target);
  for (let seed = from; seed <= to; seed += 1) {
    try {
      await runner.run(seed);
      if (uncaught.length > 0) throw new Error(`Uncaught: ${uncaught.join('; ')}`);
    } catch (error) {
      return { seed, message: error instanceof Error ? error.message : String(error) };
    }
  }
  await runner.end();
  await service.close();
  await IndexedDbSessionService.deleteDatabase(name);
  return undefined;
}

/** @returns the failures */
async function runDamaged(first: number, step: number): Promise<string> {
  const wrong = await runFields(name, first, step);
  return uncaught.length === 0 ? wrong : `${wrong}\nUncaught: ${uncaught.join('; ')}`;
}

const parameters = new URLSearchParams(location.search);
const number = (name: string): number => Number(parameters.get(name));
const report = parameters.has('step')
  ? runDamaged(number('first'), number('step'))
  : // `undefined` is no report to a driver.
    run(number('from'), number('to')).then((failure) => failure ?? null);
Object.assign(globalThis, { report });
