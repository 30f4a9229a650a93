// What a page remembers of runs that are over.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { createEvent } from '../../../../js/index.js';
import { keptDrafts } from '../../../../js/core/run_report.js';
import type { Report } from '../../../../js/service/runs/agent/run_status.js';
import type { Happening } from '../../../../js/service/runs/run_table.js';
import {
  RunsOfSessions,
  SessionRuns,
  type RunTransport,
} from '../../../../js/service/runs/session_runs.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

const draftOf = (length: number) => {
  const content = { role: 'model', parts: [{ text: 'x'.repeat(length) }] };
  return { event: createEvent({ id: 'd1', author: 'guide', invocationId: 'i1', content }) };
};

const report = (status: Report['status'], length = 10): Report => {
  const drafts = [draftOf(length)];
  return { messageId: 'm1', invocationId: 'i1', status, drafts, wholes: ['w1'] };
};

/** The runs of a session, and what tells them something. */
function openRuns() {
  let happened = (happening: Happening): void => void happening;
  const transport: RunTransport = {
    isFree: true,
    isIdle: true,
    follow: () => () => undefined,
    send: (take) => Promise.resolve(void take()),
    stop: () => Promise.resolve(),
    underWay: () => undefined,
    abandon: () => undefined,
  };
  const make = (): SessionRuns =>
    new SessionRuns(
      (given) => {
        happened = given;
        return transport;
      },
      { mayPause: true, isKnown: true },
    );
  return { make, tell: (told: Report | undefined) => happened({ type: 'told', report: told }) };
}

describe('A run that is over', () => {
  for (const status of ['ended', 'cancelled'] as const) {
    it(`keeps no drafts once those who follow it were told, if it has ${status}`, () => {
      const { make, tell } = openRuns();
      const runs = make();
      const seen: number[] = [];
      runs.follow(() => seen.push(runs.drafts.length));
      tell(report('running'));
      tell(report(status));
      assert.deepEqual(seen, [1, 1]);
      assert.deepEqual([runs.drafts, runs.wholes], [[], []]);
    });
  }

  it('keeps its open drafts if it has failed, up to 64 KB', () => {
    const { make, tell } = openRuns();
    const runs = make();
    tell(report('failed', 2 ** 16));
    assert.equal(runs.drafts.length, 1);
    tell(report('failed', 2 ** 16 + 1));
    assert.deepEqual(runs.drafts, []);
    assert.equal(runs.run?.status, 'failed');
  });

  it('keeps no draft that a stored event has ended', () => {
    const drafts = [{ ...draftOf(1), endedBy: 'w1' }, draftOf(1)];
    assert.deepEqual(keptDrafts({ status: 'failed', drafts }), drafts.slice(1));
  });
});

describe('The runs of a session', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;

  /** Whether the runs are made again after a collection, once something has happened to them. */
  async function areForgotten(
    use: (tools: ReturnType<typeof openRuns>, runs: SessionRuns) => void,
  ) {
    const owner = {};
    const known = new RunsOfSessions();
    let made = 0;
    const get = (tools: ReturnType<typeof openRuns>): SessionRuns =>
      known.get(owner, KEY, () => {
        made += 1;
        return tools.make();
      });
    (() => {
      const tools = openRuns();
      use(tools, get(tools));
    })();
    // A weak reference is not cleared in the task that made it.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    await new Promise((resolve) => setImmediate(resolve));
    get(openRuns());
    return made === 2;
  }

  it('are forgotten without listeners, queue, own run and failure', async () => {
    const used = await areForgotten(({ tell }, runs) => {
      const stop = runs.follow(() => undefined);
      tell(report('running'));
      tell(report('ended'));
      stop();
    });
    assert.ok(used);
  });

  it('are kept with a listener, with a message that waits, and with a failure', async () => {
    const asked = { id: 'm1', callIds: [], agent: undefined, streaming: true, isOfRewind: false };
    const admit = () => Promise.reject(new Error('never'));
    const uses: ((tools: ReturnType<typeof openRuns>, runs: SessionRuns) => void)[] = [
      (_, runs) => void runs.follow(() => undefined),
      (_, runs) => void runs.ask({ ...asked, admit }).catch(() => undefined),
      ({ tell }) => tell(report('failed')),
    ];
    for (const use of uses) assert.equal(await areForgotten(use), false);
  });
});
