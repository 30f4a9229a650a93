// What a store shows of the drafts of a run, beside the events that it has read.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent } from '../../../../js/index.js';
import { RunDisplay, type Runs } from '../../../../js/service/runs/run_display.js';
import { asks, says, textsOf } from '../../ui/live/runs/agents.js';

const eventOf = (id: string, author: string, content: object) =>
  createEvent({ id, author, invocationId: 'i1', content });
const message = eventOf('m1', 'user', asks('hi'));
const answer = eventOf('w1', 'guide', says('Green'));

/** Shows drafts beside the message and its first answer. */
function shownDrafts(told: Pick<Runs, 'drafts' | 'wholes'>): readonly (string | undefined)[] {
  const runs: Runs = {
    run: { status: 'running', messageId: 'm1' },
    waiting: undefined,
    invocationId: 'i1',
    isRunning: true,
    failedMessageId: undefined,
    isKnown: true,
    elsewhere: undefined,
    answeredNow: new Set(),
    follow: () => () => undefined,
    ask: () => Promise.reject(new Error()),
    isQueued: () => false,
    retry: () => false,
    cancel: () => Promise.resolve(),
    underWay: () => undefined,
    endUndone: () => Promise.resolve(),
    abandon: () => undefined,
    ...told,
  };
  const { drafts } = new RunDisplay(runs).show([[message, answer]], {
    isStored: (id) => ['m1', 'w1'].includes(id),
    undone: new Set(),
    isWaiting: () => false,
    isRefused: () => false,
  });
  return textsOf(drafts);
}

describe('The display of a run', () => {
  const draft = { event: eventOf('d1', 'guide', says('Gre')) };

  it('shows no draft whose answer was read before the run has told that it ends the draft', () => {
    assert.deepEqual(shownDrafts({ drafts: [draft], wholes: [] }), []);
    assert.deepEqual(shownDrafts({ drafts: [{ ...draft, endedBy: 'w1' }], wholes: ['w1'] }), []);
  });

  it('shows the draft of a later answer, and that of another agent', () => {
    assert.deepEqual(shownDrafts({ drafts: [draft], wholes: ['w1'] }), ['Gre']);
    const other = { event: eventOf('d2', 'helper', says('Help')) };
    assert.deepEqual(shownDrafts({ drafts: [other], wholes: [] }), ['Help']);
  });
});
