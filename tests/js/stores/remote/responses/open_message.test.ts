// The message that another process of a server may be answering, as its answers tell.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { openText, parseOpen } from '../../../../../js/stores/http/protocol.js';
import { RunReports } from '../../../../../js/stores/remote/run_reports.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const OWNER = { appName: 'shop', userId: 'ada' };
const OPEN = { messageId: 'm1', leftMs: 5000 };

describe('The header of an open message', () => {
  it('is read as it was written, with any id', () => {
    for (const messageId of ['m1', 'a b/c', 'ü€', '%', '-']) {
      const open = { messageId, leftMs: 12 };
      assert.deepEqual(parseOpen(openText(open)), open);
    }
    assert.equal(parseOpen(openText(undefined)), undefined);
  });

  it('says nothing if it is malformed', () => {
    for (const text of [
      '',
      '5',
      '-5 m',
      '1.5 m',
      '5 %zz',
      'soon m',
      '5 m n',
      '9'.repeat(16) + ' m',
    ]) {
      assert.equal(parseOpen(text), undefined, text);
    }
  });
});

describe('A message that is open elsewhere', () => {
  it('is so until its time is over, and the listeners of the session are told', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const runs = new RunReports();
    let told = 0;
    const stop = runs.follow(KEY, () => void (told += 1));
    const { appName, userId } = KEY;
    runs.receive({ type: 'runs', runs: [] }, { appName, userId });
    told = 0;
    runs.noteOpen(KEY, OPEN);
    t.mock.timers.tick(4999);
    assert.deepEqual([runs.openMessage(KEY), told], ['m1', 1]);
    t.mock.timers.tick(1);
    assert.deepEqual([runs.openMessage(KEY), told], [undefined, 2]);
    stop();
  });

  it('is told to nobody without a feed: that would say that the feed has ended', () => {
    const runs = new RunReports();
    let told = 0;
    const stop = runs.follow(KEY, () => void (told += 1));
    runs.noteOpen(KEY, OPEN);
    assert.deepEqual([runs.openMessage(KEY), told], ['m1', 0]);
    runs.noteOpen(KEY, undefined);
    stop();
  });

  it('is so until an answer says that nothing is open, or another message is', () => {
    const runs = new RunReports();
    runs.noteOpen(KEY, OPEN);
    runs.noteOpen(KEY, { ...OPEN, messageId: 'm2' });
    assert.equal(runs.openMessage(KEY), 'm2');
    assert.equal(runs.openMessage({ ...KEY, sessionId: 's2' }), undefined);
    runs.noteOpen(KEY, undefined);
    assert.equal(runs.openMessage(KEY), undefined);
  });

  it('is so until a feed reports its run', () => {
    const runs = new RunReports();
    runs.receive({ type: 'runs', start: 'a', number: 0, runs: [] }, OWNER);
    runs.noteOpen(KEY, OPEN);
    const run = { ...KEY, invocationId: 'i', status: 'running', drafts: [], wholes: [] };
    runs.receive({ type: 'run', ...run, messageId: 'm0' }, OWNER);
    assert.equal(runs.openMessage(KEY), 'm1');
    runs.receive({ type: 'run', ...run, messageId: 'm1' }, OWNER);
    assert.equal(runs.openMessage(KEY), undefined);
  });
});
