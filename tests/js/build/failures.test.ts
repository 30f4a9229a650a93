import assert from 'node:assert/strict';
import { it } from 'node:test';
import { failuresIn } from '../../toolchain/steps.mjs';

it('The report of a failed step begins with the names of its tests, and has the details of the first', () => {
  const log = [
    '✔ works (1.2ms)',
    '✖ adds (0.5ms)',
    '',
    '✖ failing tests:',
    '',
    'test at tests/js/sum.test.ts:3:1',
    '✖ adds (0.5ms)',
    '  1 !== 2',
    '',
    'test at tests/js/sum.test.ts:9:1',
    '✖ subtracts (0.4ms)',
    '  3 !== 4',
  ];
  const { names, details } = failuresIn(log.join('\n'));
  assert.deepEqual(names, ['adds', 'subtracts']);
  assert.deepEqual(details, ['test at tests/js/sum.test.ts:3:1', '✖ adds (0.5ms)', '  1 !== 2']);
});

it("The report of a step of Cargo has the names of Rust's tests", () => {
  const log = [
    'test core::state::delta::tests::keeps ... FAILED',
    '',
    'failures:',
    '',
    '---- core::state::delta::tests::keeps stdout ----',
    'assertion failed',
    '',
    '---- core::state::delta::tests::drops stdout ----',
    'another',
  ];
  const { names, details } = failuresIn(log.join('\n'));
  assert.deepEqual(names, ['core::state::delta::tests::keeps', 'core::state::delta::tests::drops']);
  assert.equal(details.at(1), 'assertion failed');
  assert.ok(!details.includes('another'));
});

it('The report of a step without such names is the end of its log', () => {
  assert.deepEqual(failuresIn('error TS1005\n'), { names: [], details: ['error TS1005'] });
});
