// All that runs in the page, and again in its worker.

import { conformance, type OpenStorage } from 'adk-session-wasm/testing';
import { mapAdapter } from '../../../js/examples/map_adapter.js';
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

export async function runAll(): Promise<Results> {
  const conforms = (openStorage: OpenStorage) => results(conformance(openStorage));
  return {
    behaviours: await results(behaviours),
    memory: await conforms(() => 'memory'),
    map: await conforms(mapAdapter),
  };
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
