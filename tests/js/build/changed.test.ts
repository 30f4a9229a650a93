import assert from 'node:assert/strict';
import { it } from 'node:test';

import { nearestTests } from '../../toolchain/changed.mjs';

it('The nearest tests of a file are those that import it', async () => {
  const tests = await nearestTests(['js/build/version.mjs']);
  assert.deepEqual(tests, ['tests/js/build/version.test.ts']);
});

it('The nearest test of a changed test is that test', async () => {
  const tests = await nearestTests(['tests/js/build/version.test.ts']);
  assert.deepEqual(tests, ['tests/js/build/version.test.ts']);
});

it('A file that no test imports has the tests of its importers', async () => {
  const tests = await nearestTests(['js/testing/case.ts']);
  assert.ok(tests.includes('tests/js/testing/suite.test.ts'), tests.join());
});

it('A file that no source imports has no tests', async () => {
  assert.deepEqual(await nearestTests(['LICENSE']), []);
});
