/**
 * The conformance suite: what every storage must do, for adapters of your own.
 *
 * @module adk-session-wasm/testing
 */
import cases from './cases.js';
import { type OpenStorage, runCase } from './run_case.js';

export type { OpenStorage } from './run_case.js';

/**
 * A sentence that must hold, and the test of it.
 *
 * @example
 * ```ts
 * import { conformance, type ConformanceCase } from 'adk-session-wasm/testing';
 *
 * const [first]: ConformanceCase[] = conformance(() => 'memory');
 * console.log(first?.name); // 'a created session is returned whole'
 * ```
 */
export interface ConformanceCase {
  readonly name: string;
  /** Rejects with an `Error` that says which step ended otherwise than it must. */
  run(): Promise<void>;
}

/**
 * The suite over a storage, one case for each test of your own test runner. It needs none itself.
 *
 * @param openStorage is called once a case and must give a storage that is empty, or a service over one.
 *   The service is closed at the end of the case, and so is the adapter, if it has a `close`.
 *
 * @example
 * ```ts
 * import type { StorageAdapter } from 'adk-session-wasm';
 * import { conformance } from 'adk-session-wasm/testing';
 *
 * declare function openMyAdapter(): Promise<StorageAdapter>;
 * declare function test(name: string, run: () => Promise<void>): void; // node:test, vitest, jest, …
 *
 * for (const { name, run } of conformance(openMyAdapter)) test(name, run);
 * ```
 */
export function conformance(openStorage: OpenStorage): ConformanceCase[] {
  return cases.map((testCase) => ({
    name: testCase.name,
    run: () => runCase(testCase, openStorage),
  }));
}
