// The conformance suite in TypeScript, as tests of Node's runner.

import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import type { Case } from '../../js/testing/case.js';
import { type OpenStorage, runCase, runVerbCase } from '../../js/testing/run_case.js';
import { verbCases } from '../../js/testing/verb_cases.js';

const file = new URL('../../conformance/cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

export function conforms(title: string, openStorage: OpenStorage): void {
  describe(title, { concurrency: 8 }, () => {
    for (const testCase of cases) it(testCase.name, () => runCase(testCase, openStorage));
    for (const testCase of verbCases) it(testCase.name, () => runVerbCase(testCase, openStorage));
  });
}
