// The cases of the conformance suite, as far as a service over Vertex AI can promise them: `lastUpdateTime` is the
// server's.

import { readFileSync } from 'node:fs';

import type { JsonObject } from '../../../js/json/rules.js';
import type { Case } from '../../../js/testing/case.js';

const file = new URL('../../../src/conformance/cases.json', import.meta.url);

export const CASES = (JSON.parse(readFileSync(file, 'utf8')) as Case[]).map(adapted);

/** Cases by what they end with. */
export type Differences = readonly (readonly [outcome: RegExp, ...names: string[]])[];

/** Returns what a case ends with if it differs. */
export function outcomeOf({ name }: Case, differences: Differences): RegExp | undefined {
  return differences.find(([, ...names]) => names.includes(name))?.[0];
}

function adapted(testCase: Case): Case {
  const steps = testCase.steps.map((step) =>
    'expect' in step ? { ...step, expect: withoutTimes(step.expect) } : step,
  );
  return { ...testCase, steps };
}

function withoutTimes(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(withoutTimes);
  if (typeof expected !== 'object' || expected === null) return expected;
  const { lastUpdateTime, ...rest } = expected as JsonObject;
  void lastUpdateTime;
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutTimes(value)]));
}
