import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { RUN_MESSAGES, type RunMessage } from '../../../../js/server/runs/run_messages.js';
import { KEY } from '../fixture.js';

const state = (messageId: string) => ({
  ...KEY,
  messageId,
  invocationId: 'i',
  status: 'running' as const,
  wholes: [],
});
const whole = (step: number, messageId = 'm1'): RunMessage => ({
  from: 'a',
  type: 'run',
  step,
  run: { ...state(messageId), drafts: [] },
});
const change = (step: number, messageId = 'm1'): RunMessage => ({
  from: 'a',
  type: 'run',
  step,
  run: { ...state(messageId), changes: [] },
});

describe('Messages of runs that are sent together', () => {
  it('lack the reports of a run before its last whole one', () => {
    const tell: RunMessage = { from: 'a', type: 'tell' };
    const messages = [whole(1), change(2), tell, whole(3), change(4), change(5)];
    assert.deepEqual(RUN_MESSAGES.merge(messages), [tell, whole(3), change(4), change(5)]);
  });

  it('keep the reports of other runs', () => {
    const messages = [change(7), whole(1, 'm2'), change(2, 'm2')];
    assert.deepEqual(RUN_MESSAGES.merge(messages), messages);
  });
});
