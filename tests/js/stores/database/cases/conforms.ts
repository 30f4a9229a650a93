import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import type { Case } from '../../../../../js/testing/case.js';
import { type OpenStorage, runCase } from '../../../../../js/testing/run_case.js';

const file = new URL('../../../../../conformance/cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

/**
 * The conformance suite over a database.
 *
 * @param refused the cases that the engine cannot fulfil, with the refusals that it gives instead
 */
export function conforms(
  title: string,
  openStorage: OpenStorage,
  refused: Readonly<Record<string, RegExp>> = {},
): void {
  describe(`The conformance suite on ${title}`, () => {
    for (const testCase of cases) {
      const refusal = refused[testCase.name];
      if (refusal === undefined) it(testCase.name, () => runCase(testCase, openStorage));
      else
        it(`is refused as documented: ${testCase.name}`, () =>
          refuses(testCase, openStorage, refusal));
    }
  });
}

async function refuses(testCase: Case, openStorage: OpenStorage, refusal: RegExp): Promise<void> {
  const outcome = await runCase(testCase, openStorage).then(
    () => 'it was fulfilled',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (!refusal.test(outcome)) throw new Error(`${outcome}, but should be refused: ${refusal}`);
}
