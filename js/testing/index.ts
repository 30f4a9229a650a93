/**
 * The conformance suite: tests for storages, your own included.
 *
 * @module adk-session-wasm/testing
 */
import { cases } from './cases.js';
import { type OpenStorage, runCase } from './run_case.js';
import { verbCases } from './verb_cases.js';

export type { OpenedStorage, OpenStorage } from './run_case.js';

/** A requirement, stated as a sentence, and its test. */
export interface ConformanceCase {
  /** The requirement, as a sentence. */
  readonly name: string;
  /** Runs the test. Rejects with an `Error` that names the step that failed. */
  run(): Promise<void>;
}

/**
 * Returns the suite for a storage: one case for each test of your test runner. The suite itself needs no test
 * runner. The cases whose name begins with `verbs:` need a storage; they do nothing over a service.
 *
 * @param openStorage is called once for each case, and returns an empty storage, or a service over one. At
 *   the end of the case the service is closed, and the storage too if it has a `close`
 *
 * @example
 * ```ts
 * import type { Storage } from 'adk-session-wasm/storage';
 * import { conformance } from 'adk-session-wasm/testing';
 *
 * declare function openMyStorage(): Promise<Storage>;
 * declare function test(name: string, run: () => Promise<void>): void; // node:test, vitest, jest, …
 *
 * for (const { name, run } of conformance(openMyStorage)) test(name, run);
 * ```
 */
export function conformance(openStorage: OpenStorage): ConformanceCase[] {
  return [...cases, ...verbCases].map((testCase) => ({
    name: testCase.name,
    run: () => runCase(testCase, openStorage),
  }));
}
