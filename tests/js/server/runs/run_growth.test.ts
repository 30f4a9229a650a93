import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Draft, RunReport } from '../../../../js/core/run_report.js';
import { createEvent } from '../../../../js/index.js';
import { changesOf } from '../../../../js/server/runs/run_growth.js';

const draftOf = (text: string, more: Partial<Draft> = {}): Draft => ({
  event: createEvent({
    id: 'd1',
    author: 'guide',
    timestamp: text.length,
    content: { role: 'model', parts: [{ text: 'So: ' }, { text }] },
  }),
  ...more,
});

const reportOf = (drafts: readonly Draft[], messageId = 'm1'): RunReport => ({
  appName: 'shop',
  userId: 'ada',
  sessionId: 's1',
  messageId,
  invocationId: 'i1',
  status: 'running',
  drafts,
  wholes: [],
});

function changesFrom(before: readonly Draft[], after: readonly Draft[]) {
  const changed = changesOf(reportOf(before), reportOf(after));
  assert.ok('changes' in changed && !('drafts' in changed));
  return changed.changes;
}

describe('The changes of a run', () => {
  const green = draftOf('Green');

  it('are the whole report if it is the first of its run', () => {
    const report = reportOf([green], 'm2');
    assert.equal(changesOf(undefined, report), report);
    assert.equal(changesOf(reportOf([green], 'm1'), report), report);
  });

  it('have what was added to the last text of a draft, and nothing of a draft that is as it was', () => {
    const changes = changesFrom([green, green], [green, draftOf('Green tea')]);
    assert.deepEqual(changes, [{ index: 1, text: ' tea' }]);
  });

  it('have a whole draft if it is new, has ended, or has changed in something else', () => {
    const ended = draftOf('Green', { endedBy: 'w1' });
    const replaced = draftOf('Black');
    const byOther = { event: { ...draftOf('Green tea').event, author: 'other' } };
    assert.deepEqual(changesFrom([], [green]), [{ index: 0, draft: green }]);
    for (const draft of [ended, { ...green, endedBy: 'w1' }, replaced, byOther]) {
      assert.deepEqual(changesFrom([green], [draft]), [{ index: 0, draft }]);
    }
  });
});
