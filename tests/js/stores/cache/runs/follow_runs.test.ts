// The reports of a run that a cache passes on.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { ServerAgent } from '../../../../../js/core/core_of.js';
import type { ReportListener, RunReport } from '../../../../../js/core/run_report.js';
import { followRuns } from '../../../../../js/stores/cache/follow_runs.js';
import { StatusBoard } from '../../../../../js/stores/cache/records/status.js';
import { KEY } from '../fixture.js';

const reportOf = (status: RunReport['status'], messageId = 'm1'): RunReport => ({
  ...KEY,
  messageId,
  invocationId: 'i1',
  status,
  drafts: [],
  wholes: [],
});

/** What a cache does with the reports of its remote, which the test tells. */
function followed() {
  let tell: ReportListener = () => undefined;
  let last: RunReport | undefined;
  const counts = { bringUps: 0 };
  const statuses: (string | undefined)[] = [];
  const agent: Pick<ServerAgent, 'follow'> = {
    follow(_, listener) {
      tell = listener;
      return () => undefined;
    },
  };
  const remote = {
    agent: agent as ServerAgent,
    board: new StatusBoard('tab', () => undefined),
    async bringUp() {
      counts.bringUps += 1;
      // The answer may have the remote tell the same report again.
      if (counts.bringUps < 9) tell(last, true);
    },
    checkLogin: () => Promise.resolve(),
  };
  followRuns(remote, KEY, (report) => statuses.push(report?.status));
  const tellLast = (report: RunReport | undefined): void => {
    last = report;
    tell(report, true);
  };
  return { tell: tellLast, counts, statuses };
}

describe('A cache that follows the run of a session', () => {
  it('brings its copy up to date once for an end that its remote tells again', async () => {
    const { tell, counts, statuses } = followed();
    tell(reportOf('running'));
    tell(reportOf('failed'));
    await new Promise(setImmediate);
    assert.deepEqual([counts.bringUps, statuses], [1, ['running', 'failed', 'failed']]);
    tell(reportOf('failed'));
    await new Promise(setImmediate);
    assert.equal(counts.bringUps, 1);
  });

  it('brings it up to date for the end of the next run', async () => {
    const { tell, counts } = followed();
    tell(reportOf('failed'));
    await new Promise(setImmediate);
    tell(reportOf('running', 'm2'));
    tell(undefined);
    await new Promise(setImmediate);
    assert.equal(counts.bringUps, 2);
  });
});
