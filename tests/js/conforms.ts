// The conformance suite in TypeScript, as tests of Node's runner.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import type { SessionService } from '../../js/index.js';
import type { Case, SuiteCase } from '../../js/testing/case.js';
import { type OpenStorage, runCase } from '../../js/testing/run_case.js';
import { verbCases } from '../../js/testing/verb_cases.js';

const file = new URL('../../conformance/cases.json', import.meta.url);

/** The cases of services. */
export const CASES = JSON.parse(readFileSync(file, 'utf8')) as readonly Case[];

/** What cases end with that a service cannot fulfil: the outcome, and their names. */
export type Expectations = readonly (readonly [outcome: RegExp, ...names: string[]])[];

interface Setting {
  readonly expectations?: Expectations;
  readonly cases?: readonly SuiteCase[];
  /** How many cases run at a time. Default 1. */
  readonly concurrency?: number;
}

/** All cases: those of the verbs need a storage. */
export const OF_STORAGES: Setting = { cases: [...CASES, ...verbCases], concurrency: 8 };

/** Declares a test for each case: that it holds, or what it ends with. */
export function conforms(
  title: string,
  open: OpenStorage,
  { expectations = [], cases = CASES, concurrency = 1 }: Setting = {},
): void {
  describe(title, { concurrency }, () => {
    const outcomes = new Map(
      expectations.flatMap(([outcome, ...names]) => names.map((name) => [name, outcome])),
    );
    for (const testCase of cases) {
      const { name } = testCase;
      const outcome = outcomes.get(name);
      outcomes.delete(name);
      const run = () => runCase(testCase, open);
      if (outcome === undefined) it(name, run);
      else it(`differs: ${name}`, () => assert.rejects(run, { message: outcome }));
    }
    assert.deepEqual([...outcomes.keys()], [], 'each name is that of a case');
  });
}

/** Returns the service, whose `close` then closes what is behind it too. */
export function closing<S extends SessionService>(
  service: S,
  ...behind: { close(): Promise<void> }[]
): S {
  const close = service.close.bind(service);
  service.close = async () => {
    await close();
    for (const other of behind) await other.close();
  };
  return service;
}
