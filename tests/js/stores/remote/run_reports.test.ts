// What a client keeps of the reports of runs that the feeds of a server send.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { RunReport } from '../../../../js/core/run_report.js';
import { RunReports } from '../../../../js/stores/remote/run_reports.js';
import { says, textsOf } from '../../ui/live/runs/agents.js';
import { KEY } from './fixture.js';

const { appName, userId } = KEY;
const USER = { appName, userId };
const APP = { appName };
const OTHER = { ...KEY, sessionId: 's2' };

const draft = (text: string) => ({ event: { id: 'd1', author: 'guide', content: says(text) } });
const report = (more = {}) => ({
  ...KEY,
  ...{ messageId: 'm1', invocationId: 'i1', status: 'running', drafts: [draft('Gre')], wholes: [] },
  ...more,
});
const runsOf = (...runs: unknown[]) => ({ type: 'runs', runs });
const runOf = (more = {}) => ({ type: 'run', ...report(more) });

/** What the feed of the user has told, and what a listener has got since. */
function told(...runs: unknown[]) {
  const reports = new RunReports();
  reports.receive(runsOf(...runs), USER);
  const got: [RunReport | undefined, boolean][] = [];
  reports.follow(KEY, (...all) => got.push(all));
  const texts = () => textsOf(reports.of(KEY)?.drafts.map(({ event }) => event) ?? []);
  return { reports, got, texts };
}

describe('The reports of a server', () => {
  it('of the feed of the user, with its drafts, count before those of the feed of the app', () => {
    const { reports, got, texts } = told(report());
    reports.receive(runsOf(report({ drafts: [] })), APP);
    reports.receive(runOf({ drafts: [] }), APP);
    assert.deepEqual([texts(), got], [['Gre'], []]);
    reports.end(APP);
    assert.deepEqual([texts(), got], [['Gre'], []]);
    reports.receive(runOf({ drafts: undefined, changes: [{ index: 0, text: 'en' }] }), USER);
    assert.deepEqual([texts(), got.length], [['Green'], 1]);
  });

  it('of the feed of the app are told as long as no feed of the user is open', () => {
    const { reports, got } = told(report());
    reports.receive(runsOf(report({ drafts: [] })), APP);
    reports.end(USER);
    reports.receive(runOf({ status: 'failed', drafts: [] }), APP);
    reports.end(APP);
    assert.deepEqual(
      got.map(([run, isKnown]) => [run?.status, run?.drafts, isKnown]),
      [
        ['running', [], true],
        ['failed', [], true],
        [undefined, undefined, false],
      ],
    );
  });

  it('go with their session, and with their user', () => {
    const { reports } = told(report(), report(OTHER));
    reports.forget(OTHER);
    assert.deepEqual([reports.of(OTHER), reports.of(KEY)?.messageId], [undefined, 'm1']);
    reports.forget(USER);
    assert.equal(reports.of(KEY), undefined);
  });

  it('of any session of a user are told to whoever follows the user', () => {
    const { reports } = told();
    const statuses: (string | undefined)[] = [];
    const stop = reports.follow(USER, (run) => statuses.push(run?.status));
    reports.receive(runOf(OTHER), USER);
    reports.receive(runOf({ ...OTHER, status: 'ended' }), USER);
    stop();
    reports.receive(runOf(), USER);
    assert.deepEqual(statuses, ['running', 'ended']);
  });

  for (const [what, event] of [
    ['no object', 7],
    ['no id', { content: says('x') }],
    ['no object as content', { id: 'd1', content: 'x' }],
    ['null as content', { id: 'd1', content: null }],
    ['a text as parts', { id: 'd1', content: { parts: 'x' } }],
    ['an object as parts', { id: 'd1', content: { parts: {} } }],
    ['null as a part', { id: 'd1', content: { parts: [null] } }],
    ['a number as a text', { id: 'd1', content: { parts: [{ text: 7 }] } }],
    ['a text as actions', { id: 'd1', content: says('x'), actions: 'x' }],
  ] as const) {
    it(`with a draft whose event has ${what} are ignored`, () => {
      const { reports, texts } = told(report());
      const changes = [{ index: 0, draft: { event } }];
      reports.receive(runOf({ drafts: [{ event }] }), USER);
      reports.receive(runOf({ drafts: undefined, changes }), USER);
      assert.deepEqual(texts(), ['Gre']);
      reports.receive(runsOf(report({ drafts: [{ event }] })), USER);
      assert.equal(reports.of(KEY), undefined);
    });
  }

  for (const change of [
    ...[null, 7, {}, { index: 0 }, { index: 0, text: 7 }, { index: 1, text: 'x' }],
    ...[
      { index: -1, draft: draft('x') },
      { index: 2, draft: draft('x') },
    ],
    ...[
      { index: 'length', draft: draft('x') },
      { index: 0, draft: null },
    ],
    ...[{ index: 0, draft: { ...draft('x'), endedBy: 7 } }],
  ]) {
    it(`with the change ${JSON.stringify(change)} are ignored`, () => {
      const { reports, texts } = told(report());
      reports.receive(runOf({ drafts: undefined, changes: [change] }), USER);
      assert.deepEqual(texts(), ['Gre']);
    });
  }

  it('with a malformed error or malformed ids of whole events are taken without them', () => {
    const { reports } = told();
    const error = { code: { toString: 1 }, message: 1 };
    reports.receive(runOf({ status: 'failed', error, wholes: [null, 'w1'] }), USER);
    const { status, wholes, error: taken } = reports.of(KEY)!;
    assert.deepEqual([status, wholes, taken], ['failed', ['w1'], undefined]);
  });
});
