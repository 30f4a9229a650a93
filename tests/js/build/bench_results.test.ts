import assert from 'node:assert/strict';
import { cpus } from 'node:os';
import { describe, it } from 'node:test';

import { changesOf, isBusy, machine, middleOf } from '../../../bench/results.mjs';

/** A result as a group of benches returns it. */
const result = (ratio: number) => ({ case: 'append', ours: ratio * 10, peer: 10, ratio, unit: 'µs', goal: 'none' }); // prettier-ignore

const here = await machine();

/** The file of runs that had these ratios. */
const file = (...ratios: number[]) => ({
  machine: here,
  results: middleOf(ratios.map((ratio) => [result(ratio)])),
});

describe('The results of several runs', () => {
  it('are the run in the middle, with what all runs had', () => {
    const [middle, ...others] = middleOf([[result(3)], [result(1)], [result(2)]]);
    assert.deepEqual(middle, { ...result(2), runs: [1, 2, 3] });
    assert.deepEqual(others, []);
  });

  it('without a ratio are compared by their own value', () => {
    const alone = (ours: number) => ({ case: 'size', ours, unit: 'KB', goal: 'none' });
    assert.deepEqual(middleOf([[alone(9)], [alone(7)], [alone(8)]])[0]?.runs, [7, 8, 9]);
  });

  it('have changed if they moved by more than the runs of both lie apart', () => {
    const [change, ...others] = changesOf(file(0.95, 1, 1.05), file(1.9, 2, 2.1));
    assert.deepEqual([change?.case, change?.before, change?.after], ['append', 1, 2]);
    assert.deepEqual(others, []);
    assert.equal(changesOf(file(1.9, 2, 2.1), file(0.95, 1, 1.05)).length, 1, 'faster is a change');
  });

  it('have not changed within the noise', () => {
    assert.deepEqual(changesOf(file(0.8, 1, 1.2), file(1.1, 1.3, 1.4)), []);
  });

  it('say nothing of a change from one run, or from a case that was not there', () => {
    assert.deepEqual(changesOf(file(1), file(1.9, 2, 2.1)), []);
    assert.deepEqual(changesOf({ machine: here, results: [] }, file(1.9, 2, 2.1)), []);
  });
});

it('The machine of a run has commit, date and processor, and is busy if others use its processors', () => {
  const { commit, date, processor, load } = here;
  assert.ok(load >= 0 && load <= cpus().length, `${load} processors`);
  assert.match(commit, /^[0-9a-f]{7,}\+?$/);
  assert.match(date, /^\d{4}-\d\d-\d\d$/);
  assert.match(processor, /^\d+ × \S/);
  assert.equal(isBusy({ ...here, load: cpus().length }), true);
  assert.equal(isBusy({ ...here, load: 0 }), false);
});
