// All that runs in the page, and again in its worker.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { conformance, type OpenStorage } from 'adk-session-wasm/testing';
import { mapStorage } from '../../../examples/map_storage.js';
import { clear } from '../indexed_db/page/bare.js';
import { behaviours } from './behaviours.js';

export interface Result {
  name: string;
  /** Absent: it passed. */
  error?: string;
}

export interface Results {
  behaviours: Result[];
  memory: Result[];
  map: Result[];
}

/** How the page and the worker write to the browser's database: each in one way, since the suite takes long over it. */
export const DURABILITIES = { page: 'relaxed', worker: 'strict' } as const;

export async function runAll(): Promise<Results> {
  const conforms = (openStorage: OpenStorage) => results(conformance(openStorage));
  return {
    behaviours: await results(behaviours),
    memory: await conforms(() => 'memory'),
    map: await conforms(mapStorage),
  };
}

/** All cases in one database, which is emptied after each: to make a new one takes longer than most cases. */
export async function runDatabase(place: keyof typeof DURABILITIES): Promise<Result[]> {
  const durability = DURABILITIES[place];
  const name = `conformance-${crypto.randomUUID()}`;
  const cases = conformance(
    (options) => new IndexedDbSessionService({ ...options, name, durability }),
  );
  const emptying = cases.map((test) => ({
    name: test.name,
    run: () => test.run().finally(() => clear(name)),
  }));
  const done = await results(emptying);
  await IndexedDbSessionService.deleteDatabase(name);
  return done;
}

async function results(tests: { name: string; run(): void | Promise<void> }[]): Promise<Result[]> {
  const done: Result[] = [];
  for (const test of tests) {
    const { name } = test;
    try {
      await test.run();
      done.push({ name });
    } catch (error) {
      done.push({ name, error: String(error) });
    }
  }
  return done;
}
