// Runs the cases of the page's address over IndexedDB.

import { IndexedDbSessionService } from 'adk-session-wasm';
import fc from 'fast-check';
import { attacksOn } from '../../cases/case.js';
import { runFields } from './fields.js';
import type { runs } from '../../../properties.js';
import type { Target } from '../../cases/world.js';

const uncaught: string[] = [];
addEventListener('unhandledrejection', ({ reason }) => void uncaught.push(String(reason)));
addEventListener('error', ({ message }) => void uncaught.push(message));

const name = 'attacked';

/** @returns the failure, and how to repeat it */
async function run(given: ReturnType<typeof runs>): Promise<string> {
  const service = new IndexedDbSessionService({ name, durability: 'relaxed' });
  const target: Target = { name: 'indexeddb', open: () => Promise.resolve(service) };
  const property = attacksOn(service, target, () => {
    if (uncaught.length > 0) throw new Error(`Uncaught: ${uncaught.splice(0).join('; ')}`);
  });
  const failure = await fc.check(property, given);
  await service.close();
  await IndexedDbSessionService.deleteDatabase(name);
  return fc.defaultReportMessage(failure) ?? '';
}

/** @returns the failures */
async function runDamaged(first: number, step: number): Promise<string> {
  const wrong = await runFields(name, first, step);
  return uncaught.length === 0 ? wrong : `${wrong}\nUncaught: ${uncaught.join('; ')}`;
}

const parameters = new URLSearchParams(location.search);
const number = (name: string): number => Number(parameters.get(name));
const given = parameters.get('runs');
const report =
  given === null
    ? runDamaged(number('first'), number('step'))
    : run(JSON.parse(given) as ReturnType<typeof runs>);
Object.assign(globalThis, { report });
