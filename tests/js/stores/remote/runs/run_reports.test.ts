// What a client keeps of the reports of runs that the feeds of a server send.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { RunReport } from '../../../../../js/core/run_report.js';
import { RunReports } from '../../../../../js/stores/remote/run_reports.js';
import { says, textsOf } from '../../../ui/live/runs/agents.js';
import { KEY } from '../fixture.js';

const { appName, userId } = KEY;
const USER = { appName, userId };
const APP = { appName };
const OTHER = { ...KEY, sessionId: 's2' };

const draft = (text: string) => ({ event: { id: 'd1', author: 'guide', content: says(text) } });
const report = (more = {}) => ({
  ...KEY,
  messageId: 'm1',
  invocationId: 'i1',
  status: 'running',
  drafts: [draft('Gre')],
  wholes: [],
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

describe('A run that the answer to its message has named', () => {
  const message = { ...KEY, messageId: 'm2', invocationId: 'i2' };
  const mark = (number: number, start = 'a') => ({ start, number });
  /** The first message of a feed, as this version sends it. */
  const first = (number: number, ...runs: unknown[]) => ({ ...runsOf(...runs), ...mark(number) });
  const followed = () => {
    const reports = new RunReports();
    reports.follow(KEY, () => undefined);
    return reports;
  };
  const opened = (number: number, ...runs: unknown[]) => {
    const reports = followed();
    reports.receive(first(number, ...runs), USER);
    return reports;
  };
  const runningIn = (reports: RunReports) => reports.of(KEY)?.messageId;

  it('before the first report of the feed counts as running, until the feed has told it', () => {
    const reports = followed();
    reports.noteBegun(message, mark(2));
    assert.equal(runningIn(reports), undefined);
    reports.receive(first(1), USER);
    assert.equal(runningIn(reports), 'm2');
    reports.receive(runOf({ ...message, status: 'ended', number: 2 }), USER);
    assert.equal(runningIn(reports), undefined);
  });

  it('is over if the first report of the feed comes after its end, or from another start', () => {
    for (const begins of [first(2), { ...first(0), start: 'b' }, runsOf()]) {
      const reports = followed();
      reports.noteBegun(message, mark(2));
      reports.receive(begins, USER);
      assert.equal(runningIn(reports), undefined);
    }
  });

  it('between two reports of the feed counts as running, and is told once', () => {
    const reports = opened(1);
    const statuses: (string | undefined)[] = [];
    reports.follow(KEY, (run) => statuses.push(run?.status));
    reports.noteBegun(message, mark(2));
    assert.deepEqual([runningIn(reports), statuses], ['m2', ['running']]);
    reports.receive(runOf({ ...message, number: 2 }), USER);
    assert.deepEqual(textsOf(reports.of(KEY)!.drafts.map(({ event }) => event)), ['Gre']);
    reports.receive(runOf({ ...message, status: 'failed', number: 2 }), USER);
    assert.deepEqual(statuses, ['running', 'running', 'failed']);
  });

  it('after the feed has told its end does not begin again', () => {
    const reports = opened(1);
    reports.receive(runOf({ ...message, number: 2 }), USER);
    reports.receive(runOf({ ...message, status: 'ended', number: 2 }), USER);
    reports.noteBegun(message, mark(2));
    assert.equal(runningIn(reports), undefined);
  });

  it('of another start than the feed, or over a feed without a start, tells nothing', () => {
    const reports = opened(1);
    reports.noteBegun(message, mark(9, 'b'));
    assert.equal(runningIn(reports), undefined);
    const { reports: older } = told();
    older.noteBegun(message, mark(9));
    assert.equal(runningIn(older), undefined);
  });

  it('is not ended by the end of an earlier run that is told after the answer', () => {
    const reports = opened(1, report({ number: 1 }));
    reports.noteBegun(message, mark(2));
    reports.receive(runOf({ status: 'ended', number: 1 }), USER);
    assert.equal(runningIn(reports), 'm2');
    reports.receive(runOf({ ...message, number: 2 }), USER);
    reports.receive(runOf({ ...message, status: 'ended', number: 2 }), USER);
    assert.equal(runningIn(reports), undefined);
  });

  it('is over once the feed tells a later run of another session', () => {
    const reports = opened(1);
    reports.noteBegun(message, mark(2));
    reports.receive(runOf({ ...OTHER, number: 3 }), USER);
    assert.equal(runningIn(reports), undefined);
  });

  it('is not kept if nobody follows its session', () => {
    const reports = new RunReports();
    reports.noteBegun(message, mark(2));
    reports.receive(first(1), USER);
    assert.equal(runningIn(reports), undefined);
  });

  it('is forgotten when the feed ends', () => {
    const reports = opened(1);
    reports.noteBegun(message, mark(2));
    reports.end(USER);
    reports.receive(first(1), USER);
    assert.equal(runningIn(reports), undefined);
  });
});

/** The stream of an answer, whose reports the test sends. */
function streamOfAnswer() {
  let receive: (data: unknown) => void = () => undefined;
  let finish = (): void => undefined;
  const ended = new Promise<void>((resolve) => (finish = resolve));
  const stream = {
    isEnded: false,
    read(onReport: (data: unknown) => void) {
      receive = onReport;
      return ended;
    },
    end() {
      stream.isEnded = true;
      finish();
    },
  };
  return { stream, send: (more = {}) => receive(runOf(more)), cut: () => finish() };
}

describe('The stream of the answer to a message', () => {
  const message = { ...KEY, messageId: 'm1', invocationId: 'i1' };
  const runId = { start: 'b', number: 1 };
  const openOf = (reports: RunReports) => reports.openMessage(KEY);

  /** A page with a feed of the start `a`, whose message the start `b` answers. */
  function answered(feed = { ...runsOf(), start: 'a', number: 0 }) {
    const reports = new RunReports();
    const got: string[] = [];
    const stop = reports.follow(KEY, (run, isKnown) => {
      const texts = textsOf(run?.drafts.map(({ event }) => event) ?? []);
      got.push([isKnown ? 'known' : 'unknown', run?.status, ...texts].join(' ').trim());
    });
    reports.receive(feed, USER);
    got.length = 0;
    reports.noteOpen(KEY, { messageId: 'm1', leftMs: 60_000 });
    reports.noteBegun(message, runId);
    got.length = 0;
    const answer = streamOfAnswer();
    void reports.readStream(message, runId, answer.stream);
    return { reports, got, stop, ...answer };
  }

  it('tells its run from the first report to the end, and is then ended', () => {
    const { reports, got, send, stream } = answered();
    send();
    send({ drafts: undefined, changes: [{ index: 0, text: 'en' }] });
    assert.equal(openOf(reports), 'm1');
    send({ status: 'ended', drafts: undefined, changes: [] });
    assert.deepEqual(got, ['known running Gre', 'known running Green', 'known ended Green']);
    assert.deepEqual(
      [stream.isEnded, reports.of(KEY), openOf(reports)],
      [true, undefined, undefined],
    );
  });

  it('counts before the feed, which tells the same run later', () => {
    const { reports, got, send } = answered();
    send({ drafts: [draft('Green')] });
    reports.receive(runOf({ drafts: [draft('G')] }), USER);
    send({ status: 'failed' });
    reports.receive(runOf({ drafts: undefined, changes: [{ index: 0, text: 're' }] }), USER);
    assert.deepEqual(got, ['known running Green', 'known failed Gre']);
    assert.equal(reports.of(KEY)?.status, 'failed');
  });

  it('that is cut leaves what the feed tells, and the message open', async () => {
    const { reports, got, send, cut } = answered();
    send();
    cut();
    await new Promise(setImmediate);
    assert.deepEqual(got, ['known running Gre', 'known']);
    assert.equal(openOf(reports), 'm1');
    send({ drafts: [draft('Green')] });
    assert.equal(got.length, 2);
  });

  it('ends when a feed of the same start opens, which tells the run from then on', () => {
    const { reports, got, send, stream } = answered();
    send();
    reports.receive({ ...runsOf(report({ drafts: [draft('Green')] })), ...runId }, USER);
    assert.equal(stream.isEnded, true);
    assert.deepEqual(got, ['known running Gre', 'known running Green']);
  });

  it('is not read if the feed has the same start, or if nobody follows the session', async () => {
    const { stream, got } = answered({ ...runsOf(), start: 'b', number: 0 });
    assert.deepEqual([stream.isEnded, got], [true, []]);
    const { stream: left, stop, send } = answered();
    send();
    stop();
    await new Promise(setImmediate);
    assert.equal(left.isEnded, true);
  });

  it('ends when the server has cancelled the run, and tells nothing of it later', () => {
    const { reports, got, send, stream } = answered();
    send();
    reports.noteCancelled(KEY, 'another');
    assert.equal(stream.isEnded, false);
    reports.noteCancelled(KEY, 'm1');
    send({ drafts: [draft('Green')] });
    assert.deepEqual(got, ['known running Gre', 'known cancelled Gre']);
    assert.deepEqual([stream.isEnded, openOf(reports)], [true, undefined]);
  });

  it('ends when another message of the session is answered, and when the session is deleted', () => {
    const { reports, got, send, stream } = answered();
    send();
    reports.noteBegun({ ...message, messageId: 'm2', invocationId: 'i2' }, runId);
    assert.deepEqual([stream.isEnded, got.at(-1)], [true, 'known']);
    const { reports: others, send: sendOther, stream: other } = answered();
    sendOther();
    others.forget(USER);
    assert.deepEqual([other.isEnded, others.of(KEY)], [true, undefined]);
  });

  it('ends when the feed tells that a run of another message has begun, which is shown', () => {
    const later = { messageId: 'm2', invocationId: 'i2' };
    for (const tell of [runOf(later), { ...runsOf(report(later)), start: 'a', number: 1 }]) {
      const { reports, got, send, stream } = answered();
      send({ drafts: [draft('old')] });
      reports.receive(tell, USER);
      send({ status: 'ended' });
      assert.deepEqual([stream.isEnded, reports.of(KEY)?.messageId], [true, 'm2']);
      assert.deepEqual(got, ['known running old', 'known running Gre']);
    }
  });

  it('does not end when the feed still tells an earlier run, which its end leaves to the feed', () => {
    const earlier = report({ messageId: 'm0', drafts: [draft('old')] });
    const { reports, got, send, stream } = answered({ ...runsOf(earlier), start: 'a', number: 0 });
    send();
    reports.receive({ type: 'run', ...earlier, drafts: [draft('older')] }, USER);
    assert.deepEqual([stream.isEnded, got], [false, ['known running Gre']]);
    send({ status: 'failed' });
    assert.deepEqual(got, ['known running Gre', 'known running older']);
    reports.receive({ type: 'run', ...earlier, status: 'ended' }, USER);
    assert.equal(reports.of(KEY), undefined);
  });

  it('tells its end in place of the failure of an earlier run', () => {
    const earlier = report({ messageId: 'm0', status: 'failed' });
    const { reports, send } = answered({ ...runsOf(earlier), start: 'a', number: 0 });
    send({ status: 'failed' });
    assert.equal(reports.of(KEY)?.messageId, 'm1');
  });

  it('ignores reports of other messages, and malformed ones', () => {
    const { got, send } = answered();
    send({ messageId: 'm9' });
    send({ status: 'odd' });
    assert.deepEqual(got, []);
  });

  it('is asked for by whoever follows the session, with the start of the feed', () => {
    const { reports, stop } = answered();
    const accept = 'text/event-stream, application/json';
    assert.deepEqual(reports.streamHeaders(KEY), { accept, 'adk-session-feed': 'a' });
    assert.equal(reports.streamHeaders(OTHER), undefined);
    stop();
    assert.equal(reports.streamHeaders(KEY), undefined);
  });

  it('is not asked for without a feed that has told its start', () => {
    const { reports } = answered();
    reports.receive({ ...runsOf(), start: 'a\nb', number: 0 }, USER);
    assert.equal(reports.streamHeaders(KEY), undefined);
    reports.end(USER);
    assert.equal(reports.streamHeaders(KEY), undefined);
  });

  it('is not asked for while two are open, and after one that was late', () => {
    const { reports } = answered();
    reports.follow(OTHER, () => undefined);
    const other = streamOfAnswer();
    assert.notEqual(reports.streamHeaders(OTHER), undefined);
    void reports.readStream({ ...message, ...OTHER }, runId, other.stream);
    assert.equal(reports.streamHeaders(KEY), undefined);
    reports.forget(OTHER);
    assert.notEqual(reports.streamHeaders(KEY), undefined);
    reports.noteLateStream();
    assert.equal(reports.streamHeaders(KEY), undefined);
  });

  it('ends with the feed of the user, and not with that of the app', () => {
    const { reports, got, send, stream } = answered();
    send();
    reports.receive(runsOf(), APP);
    reports.end(APP);
    assert.deepEqual([stream.isEnded, got], [false, ['known running Gre']]);
    reports.end(USER);
    send({ drafts: [draft('Green')] });
    assert.deepEqual([stream.isEnded, got], [true, ['known running Gre', 'unknown']]);
  });

  it('is not read if the feed has ended before the answer came', () => {
    const { reports } = answered();
    reports.end(USER);
    const late = streamOfAnswer();
    void reports.readStream(message, runId, late.stream);
    assert.equal(late.stream.isEnded, true);
  });

  it('has told the end, after which the feed tells the same run late', () => {
    const { reports, send } = answered();
    send({ status: 'ended' });
    reports.receive(runOf(), USER);
    assert.equal(reports.of(KEY), undefined);
    reports.receive({ ...runsOf(report()), start: 'a', number: 1 }, USER);
    assert.equal(reports.of(KEY), undefined);
  });
});

describe('The message that another process may be answering', () => {
  it('is told once: a listener that reads the session gets no end without end', () => {
    const { reports, got } = told(report({ status: 'failed' }));
    const open = { messageId: 'm1', leftMs: 60_000 };
    for (const each of [undefined, undefined, open, { ...open, leftMs: 50_000 }]) {
      reports.noteOpen(KEY, each);
    }
    assert.equal(got.length, 1);
    reports.noteOpen(KEY, undefined);
    assert.deepEqual([got.length, reports.openMessage(KEY)], [2, undefined]);
  });
});

describe('The feed of a server that does not tell its start and the numbers of its runs', () => {
  it('tells its runs as it did', () => {
    const { reports, texts } = told(report());
    reports.receive(runOf({ drafts: undefined, changes: [{ index: 0, text: 'en' }] }), USER);
    assert.deepEqual(texts(), ['Green']);
    reports.receive(runOf({ status: 'ended' }), USER);
    assert.equal(reports.of(KEY), undefined);
  });
});
