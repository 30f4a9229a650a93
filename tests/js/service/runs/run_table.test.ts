// The pure machine of runs: what is known of the messages of a session, and what to do.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type Effect,
  type Happening,
  nextOf,
  type RunsOfSession,
  step,
} from '../../../../js/service/runs/run_table.js';
import { currentOf, shownRun } from '../../../../js/service/runs/session_runs.js';
import type { Report } from '../../../../js/service/runs/agent/run_status.js';

const NONE: RunsOfSession = { messages: [], isPaused: false, mayPause: true, isKnown: true };

const ask = (id: string, isOfRewind = false): Happening => ({
  type: 'asked',
  message: { id, callIds: [], isOfRewind },
});
const sent = (id: string): Happening => ({ type: 'sent', id });
const stored = (id: string): Happening => ({ type: 'stored', id });
const held = (id: string): Happening => ({ type: 'held', id });
const left = (id: string, pauses: boolean): Happening => ({ type: 'left', id, pauses });
const cancel = (id?: string, unanswered?: string): Happening => ({
  type: 'cancelled',
  id,
  unanswered,
});
const told = (id: string, status: Report['status'], more: Partial<Report> = {}): Happening => ({
  type: 'told',
  report: { messageId: id, invocationId: `of ${id}`, status, drafts: [], wholes: [], ...more },
});
const NOTHING_RUNS: Happening = { type: 'told', report: undefined };
const UNKNOWN: Happening = { type: 'unknown' };

/** Takes what happens in turn. */
function after(...happenings: Happening[]) {
  return afterIn(NONE, ...happenings);
}

function afterIn(start: RunsOfSession, ...happenings: Happening[]) {
  const effects: Effect[] = [];
  const runs = happenings.reduce((before, happening) => {
    const next = step(before, happening);
    effects.push(...next.effects);
    return next.runs;
  }, start);
  const phases = runs.messages.map(({ id, phase }) => `${id} ${phase}`);
  return { runs, effects, phases, next: nextOf(runs, false), shown: shownRun(runs) };
}

describe('The machine of runs', () => {
  it('takes a message through its phases', () => {
    const phasesOf = (...happenings: Happening[]) => {
      const { phases, shown } = after(ask('m1'), ...happenings);
      return [phases, shown?.status];
    };
    const running = [sent('m1'), told('m1', 'running')];
    assert.deepEqual(phasesOf(), [['m1 waiting'], 'queued']);
    assert.deepEqual(phasesOf(sent('m1')), [['m1 sending'], 'queued']);
    assert.deepEqual(phasesOf(UNKNOWN, sent('m1'), stored('m1')), [['m1 stored'], 'queued']);
    assert.deepEqual(phasesOf(...running), [['m1 running'], 'running']);
    assert.deepEqual(phasesOf(...running, told('m1', 'ended')), [['m1 over'], undefined]);
    assert.deepEqual(phasesOf(...running, told('m1', 'failed')), [['m1 failed'], 'failed']);
    assert.deepEqual(phasesOf(...running, told('m1', 'cancelled')), [
      ['m1 cancelled'],
      'cancelled',
    ]);
    assert.deepEqual(phasesOf(...running, NOTHING_RUNS), [['m1 over'], undefined]);
    assert.deepEqual(phasesOf(sent('m1'), left('m1', false)), [[], undefined]);
    assert.deepEqual(phasesOf(sent('m1'), stored('m1')), [[], undefined]);
  });

  it('keeps what is told of a run that begins before its answer has come', () => {
    const begun = [ask('m1'), sent('m1'), told('m1', 'running')];
    assert.deepEqual(after(...begun, stored('m1')).phases, ['m1 running']);
    assert.deepEqual(after(...begun, told('m1', 'ended'), stored('m1')).phases, ['m1 over']);
  });

  it('sends messages in their order, one after another', () => {
    const waiting = after(ask('m1'), ask('m2'));
    assert.equal(waiting.next, 'm1');
    const sending = afterIn(waiting.runs, sent('m1'));
    assert.deepEqual([sending.next, nextOf(sending.runs, true)], [undefined, undefined]);
    const running = afterIn(sending.runs, told('m1', 'running'));
    assert.deepEqual([running.next, nextOf(running.runs, true)], [undefined, 'm2']);
    assert.equal(afterIn(running.runs, told('m1', 'ended')).next, 'm2');
  });

  it('pauses after a failed or cancelled run of this program until the next ask or retry', () => {
    const running = [ask('m1'), sent('m1'), told('m1', 'running'), ask('m2')];
    for (const status of ['failed', 'cancelled'] as const) {
      const paused = after(...running, told('m1', status));
      assert.equal(paused.next, undefined);
      assert.equal(paused.shown?.isPaused, true);
      assert.equal(afterIn(paused.runs, { type: 'resumed' }).next, 'm2');
      assert.equal(afterIn(paused.runs, ask('m3')).next, 'm2');
    }
  });

  it('does not pause after a failed run of another program', () => {
    const { next, shown } = after(told('m1', 'running'), ask('m2'), told('m1', 'failed'));
    assert.deepEqual([next, shown], ['m2', { status: 'queued', messageId: 'm2' }]);
  });

  it('does not pause again when the failure is told again', () => {
    const failed = [ask('m1'), sent('m1'), told('m1', 'running'), told('m1', 'failed')];
    assert.equal(after(...failed, ask('m2'), told('m1', 'failed')).next, 'm2');
  });

  it('pauses if a message is refused, unless it was being stopped', () => {
    const sending = [ask('m1'), ask('m2'), sent('m1')];
    assert.equal(after(...sending, left('m1', true)).next, undefined);
    assert.equal(after(...sending, left('m1', false)).next, 'm2');
    const asked = [ask('m1'), sent('m1'), cancel('m1'), ask('m2'), left('m1', true)];
    assert.equal(after(...asked).next, 'm2');
  });

  it('never pauses where it may not', () => {
    const start = { ...NONE, mayPause: false };
    const running = [ask('m1'), sent('m1'), told('m1', 'running'), ask('m2')];
    for (const last of [
      [told('m1', 'failed')],
      [told('m1', 'cancelled')],
      [left('m1', true)],
      [cancel('m1'), told('m1', 'cancelled')],
    ]) {
      assert.equal(afterIn(start, ...running, ...last).next, 'm2');
    }
  });

  it('does not stay paused if a message is asked right after a cancel', () => {
    const stopping = after(ask('m1'), sent('m1'), told('m1', 'running'), cancel());
    assert.deepEqual(
      [stopping.runs.isPaused, stopping.effects],
      [true, [{ type: 'stop', id: 'm1' }]],
    );
    const { next, shown } = afterIn(stopping.runs, ask('m2'), told('m1', 'cancelled'));
    assert.deepEqual([next, shown], ['m2', { status: 'queued', messageId: 'm2' }]);
  });

  it('puts the message of a rewind before those that wait, and sends it while a run is under way', () => {
    const { phases, next } = after(
      ...[ask('m1'), sent('m1'), told('m1', 'running'), ask('m2'), ask('r1', true)],
    );
    assert.deepEqual(phases, ['m1 running', 'r1 waiting', 'm2 waiting']);
    assert.equal(next, 'r1');
  });

  it('is not held up by the run that a rewind cancels', () => {
    const rewinding = after(
      ...[ask('m1'), sent('m1'), told('m1', 'running'), ask('m2'), ask('r1', true), sent('r1')],
      told('m1', 'cancelled'),
    );
    assert.equal(rewinding.runs.isPaused, false);
    assert.deepEqual(rewinding.phases, ['m1 cancelled', 'r1 sending', 'm2 waiting']);
    const done = afterIn(rewinding.runs, told('r1', 'running'), told('r1', 'ended'));
    assert.equal(done.next, 'm2');
  });

  it('takes a stored message as over once anything is told', () => {
    const waiting = after(UNKNOWN, ask('m1'), sent('m1'), stored('m1'), ask('m2'));
    assert.equal(waiting.next, undefined);
    for (const happening of [told('other', 'running'), told('other', 'ended'), NOTHING_RUNS]) {
      const { runs } = afterIn(waiting.runs, happening);
      assert.deepEqual([runs.isKnown, runs.messages.some(({ id }) => id === 'm1')], [true, false]);
    }
    assert.equal(afterIn(waiting.runs, NOTHING_RUNS).next, 'm2');
  });

  it('forgets what runs elsewhere when nobody can tell it any more', () => {
    const { runs, phases } = after(
      ...[told('m1', 'running'), ask('m2'), ask('m3'), sent('m2')],
      UNKNOWN,
    );
    assert.deepEqual([phases, runs.isKnown], [['m2 sending', 'm3 waiting'], false]);
  });

  it('holds back a message that was refused for now until the next end of a run', () => {
    const waiting = after(told('m0', 'running'), ask('m1'), sent('m1'), held('m1'));
    assert.deepEqual(waiting.phases, ['m0 running', 'm1 waiting']);
    assert.equal(nextOf(waiting.runs, true), undefined);
    assert.equal(nextOf(afterIn(waiting.runs, told('m0', 'running')).runs, true), undefined);
    for (const release of [
      ...[told('m0', 'ended'), told('m0', 'failed'), NOTHING_RUNS],
      ...([{ type: 'released' }, { type: 'resumed' }, ask('m2')] as const),
    ]) {
      assert.equal(nextOf(afterIn(waiting.runs, release).runs, true), 'm1', release.type);
    }
  });

  it('drops a message that waits if it is cancelled', () => {
    const { effects, phases, runs } = after(
      ...[ask('m1'), sent('m1'), told('m1', 'running'), ask('m2'), cancel('m2')],
    );
    assert.deepEqual(effects, [{ type: 'drop', id: 'm2' }]);
    assert.deepEqual([phases, runs.isPaused], [['m1 running'], false]);
  });

  it('stops a message under way if it is cancelled, in each phase', () => {
    for (const begun of [
      [sent('m1')],
      [sent('m1'), stored('m1')],
      [sent('m1'), told('m1', 'running')],
    ]) {
      for (const cancelling of [cancel('m1'), cancel()]) {
        const start = { ...NONE, isKnown: false };
        const { effects, runs } = afterIn(start, ask('m1'), ...begun, ask('m2'), cancelling);
        assert.deepEqual(effects, [{ type: 'stop', id: 'm1' }]);
        assert.deepEqual(
          runs.messages.map(({ id, isStopping }) => [id, isStopping]),
          [
            ['m1', true],
            ['m2', false],
          ],
        );
      }
    }
  });

  it('does not pause if the run of another program is cancelled', () => {
    const { effects, runs } = after(told('m1', 'running'), cancel('m1'));
    assert.deepEqual([effects, runs.isPaused], [[{ type: 'stop', id: 'm1' }], false]);
  });

  it('stops the unanswered message if nothing is queued or under way', () => {
    assert.deepEqual(after(cancel(undefined, 'm0')).effects, [{ type: 'stop', id: 'm0' }]);
    assert.deepEqual(after(cancel('m0')).effects, [{ type: 'stop', id: 'm0' }]);
    assert.deepEqual(after(cancel()).effects, []);
    const answered = [ask('m1'), sent('m1'), told('m1', 'ended')];
    assert.deepEqual(after(...answered, cancel()).effects, []);
  });

  it('stops an unknown run of another tab by the message that is asked for or is unanswered', () => {
    const untold = told('', 'running');
    assert.deepEqual(after(untold, cancel('m1')).effects, [{ type: 'stop', id: 'm1' }]);
    assert.deepEqual(after(untold, cancel(undefined, 'm0')).effects, [{ type: 'stop', id: 'm0' }]);
    assert.deepEqual(after(untold).shown, { status: 'running', messageId: '' });
  });

  it('drops a waiting message that is named, also while another tab has an unknown run', () => {
    const { effects } = after(told('', 'running'), ask('m2'), cancel('m2'));
    assert.deepEqual(effects, [{ type: 'drop', id: 'm2' }]);
  });

  it('takes the report of a message as that of the run that was untold', () => {
    const drafts = [{ event: { id: 'd1' } }] as unknown as Report['drafts'];
    const { runs, phases } = after(told('', 'running'), told('m1', 'running', { drafts }));
    assert.deepEqual(phases, ['m1 running']);
    assert.equal(currentOf(runs)?.drafts, drafts);
  });

  it('drops what waits when the session is gone', () => {
    const { effects, phases } = after(
      ...[ask('m1'), sent('m1'), told('m1', 'running'), ask('m2'), ask('m3')],
      { type: 'abandoned' },
    );
    assert.deepEqual(effects, [
      { type: 'drop', id: 'm2' },
      { type: 'drop', id: 'm3' },
    ]);
    assert.deepEqual(phases, ['m1 running']);
  });

  it('forgets the last run when the next message is sent', () => {
    const { phases } = after(ask('m1'), sent('m1'), told('m1', 'failed'), ask('m2'), sent('m2'));
    assert.deepEqual(phases, ['m2 sending']);
  });
});

describe('The run that users are shown', () => {
  const failed = [ask('m1'), sent('m1'), told('m1', 'running')];
  const error = new Error('no model');

  it('is that under way, before those that wait and the last one', () => {
    const { runs, shown } = after(...failed, ask('m2'));
    assert.deepEqual(shown, { status: 'running', messageId: 'm1' });
    assert.equal(currentOf(runs)?.id, 'm1');
    assert.equal(currentOf(NONE), undefined);
    assert.equal(shownRun(NONE), undefined);
  });

  it('says that messages of this page wait only if some do', () => {
    const alone = after(...failed, told('m1', 'failed', { error }));
    assert.deepEqual(alone.shown, { status: 'failed', messageId: 'm1', error });
    const paused = after(...failed, ask('m2'), told('m1', 'failed', { error }));
    assert.deepEqual(paused.shown, { status: 'failed', messageId: 'm1', error, isPaused: true });
    const cancelled = after(...failed, ask('m2'), told('m1', 'cancelled'));
    assert.deepEqual(cancelled.shown, { status: 'cancelled', messageId: 'm1', isPaused: true });
  });

  it('is the paused message if nothing else is known', () => {
    const { shown } = after(ask('m1'), ask('m2'), sent('m1'), left('m1', true));
    assert.deepEqual(shown, { status: 'queued', messageId: 'm2', isPaused: true });
  });

  it('says that messages wait while another program runs', () => {
    const { shown } = after(
      ...[ask('m1'), ask('m2'), sent('m1'), left('m1', true)],
      told('other', 'running'),
    );
    assert.deepEqual(shown, { status: 'running', messageId: 'other', isPaused: true });
  });

  it('has no error of an earlier form of the run', () => {
    const again = after(...failed, told('m1', 'failed', { error }), told('m1', 'running'));
    assert.deepEqual(again.shown, { status: 'running', messageId: 'm1' });
    assert.equal(currentOf(again.runs)?.error, undefined);
  });
});
