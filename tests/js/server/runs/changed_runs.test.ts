import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';

import type { RunReport } from '../../../../js/core/run_report.js';
import { ChangedRuns } from '../../../../js/server/runs/changed_runs.js';
import { KEY } from '../fixture.js';

const run = (sessionId: string, messageId = 'm1'): RunReport => ({
  ...KEY,
  sessionId,
  messageId,
  invocationId: 'i',
  status: 'running',
  drafts: [],
  wholes: [],
});

describe('Changed runs', () => {
  let due = 0;
  let runs: ChangedRuns;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    due = 0;
    runs = new ChangedRuns(() => (due += 1));
  });
  afterEach(() => mock.timers.reset());

  it('are due once for all changes of 150 ms, with the last state of each', () => {
    for (const one of [run('a'), run('b'), run('a', 'm2')]) runs.note(one, false);
    mock.timers.tick(149);
    assert.equal(due, 0);
    mock.timers.tick(1);
    assert.equal(due, 1);
    assert.deepEqual([...runs.take()], [run('a', 'm2'), run('b')]);
    assert.deepEqual([...runs.take()], []);
  });

  it('are due at once with an urgent one, and not again later', () => {
    runs.note(run('a'), false);
    runs.note(run('b'), true);
    assert.equal(due, 1);
    mock.timers.tick(1000);
    assert.equal(due, 1);
  });

  it('that are not taken stay', () => {
    runs.note(run('a'), true);
    runs.note(run('b'), true);
    for (const one of runs.take()) {
      assert.deepEqual(one, run('a'));
      break;
    }
    assert.deepEqual([...runs.take()], [run('b')]);
  });

  it('are not due after the end', () => {
    runs.note(run('a'), false);
    runs.end();
    mock.timers.tick(1000);
    assert.equal(due, 0);
  });
});
