// What feeds send of runs: whole drafts at first, then what was added.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';

import { mockedTimeOf } from '../../mocked_time.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { asks, says, textsOf } from '../../ui/live/runs/agents.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { coreOf } from '../../../../js/core/core_of.js';
import type { RunReport } from '../../../../js/core/run_report.js';
import { feedEvents, KEY, requestTo, serve, SESSION, USER } from '../fixture.js';

const asked = (id: string) => ({
  body: {
    events: [{ id, invocationId: `i-${id}`, author: 'user', content: asks(id) }],
    run: { streaming: true },
  },
});

/** An agent that streams what the test says, until the test ends it. */
function streaming() {
  const texts: (string | undefined)[] = [];
  let wake = (): void => undefined;
  const say = (text: string | undefined): void => {
    texts.push(text);
    wake();
  };
  const run: RunAgent = async function* () {
    for (let all = ''; ;) {
      while (texts.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const text = texts.shift();
      if (text === undefined) {
        yield { author: 'guide', content: says(all) };
        return;
      }
      all += text;
      yield { author: 'guide', partial: true, content: says(text) };
    }
  };
  return { run, say };
}

async function serveSession(run: RunAgent) {
  const served = serve({ run });
  await served.service.createSession(KEY);
  const feed = async (path: string) => {
    const events = feedEvents(await served.handler(requestTo(path)));
    /** Returns the data of the next event about runs. */
    const next = async (): Promise<Record<string, unknown>> => {
      for (;;) {
        const { value } = (await events.next()) as IteratorResult<
          { data: { type: string } },
          never
        >;
        if (value.data.type.startsWith('run')) return value.data;
      }
    };
    return { next, end: () => events.return(undefined) };
  };
  return { ...served, feed };
}

describe('The feed of a user', () => {
  it('begins with the whole drafts, and then sends what was added', async () => {
    const tookMs = await mockedTimeOf(async () => {
      const { run, say } = streaming();
      const { ask, feed } = await serveSession(run);
      await ask(`${SESSION}/events`, asked('m1'));
      say('Green');
      await sleep(5);
      const { next, end } = await feed(`${USER}/changes`);
      const { runs } = (await next()) as unknown as { runs: RunReport[] };
      assert.deepEqual(textsOf(runs[0]!.drafts.map(({ event }) => event)), ['Green']);
      assert.deepEqual([runs[0]?.status, runs[0]?.messageId], ['running', 'm1']);
      say(' tea');
      assert.deepEqual((await next()).changes, [{ index: 0, text: ' tea' }]);
      say(undefined);
      const { status, changes } = await next();
      assert.equal(status, 'ended');
      const [{ draft }] = changes as [{ draft: { endedBy?: string } }];
      assert.equal(typeof draft.endedBy, 'string');
      await end();
    });
    assert.ok(tookMs < 2000, `${tookMs} ms`);
  });

  it('sends a slow reader only the newest', async () => {
    const { run, say } = streaming();
    const { ask, feed } = await serveSession(run);
    const { next, end } = await feed(`${USER}/changes`);
    assert.deepEqual((await next()).runs, []);
    await ask(`${SESSION}/events`, asked('m1'));
    for (const text of ['a', 'b', 'c', 'd']) {
      say(text);
      await sleep(80);
    }
    await sleep(200);
    const { drafts } = (await next()) as unknown as RunReport;
    assert.deepEqual(textsOf(drafts.map(({ event }) => event)), ['abcd']);
    say(undefined);
    await end();
  });
});

describe('The feed of an app', () => {
  it('tells states without drafts', async () => {
    const { run, say } = streaming();
    const { ask, feed } = await serveSession(run);
    const { next, end } = await feed('/apps/shop/changes');
    await next();
    await ask(`${SESSION}/events`, asked('m1'));
    say('Green');
    const { status, drafts } = (await next()) as unknown as RunReport;
    assert.deepEqual([status, drafts], ['running', []]);
    say(' tea');
    await sleep(200);
    say(undefined);
    assert.equal((await next()).status, 'ended');
    await end();
  });
});

describe('The report of a run that has ended', () => {
  it('has the drafts of a failure, if their texts have at most 64 KB', async () => {
    for (const [text, count] of [
      ['Gre', 1],
      ['é'.repeat(2 ** 15), 1],
      [`${'é'.repeat(2 ** 15)}x`, 0],
    ] as const) {
      const { ask, feed } = await serveSession(async function* () {
        yield { author: 'guide', partial: true, content: says(text) };
        throw new Error('no');
      });
      const { next, end } = await feed(`${USER}/changes`);
      await next();
      await ask(`${SESSION}/events`, asked('m1'));
      let report: Partial<RunReport> = {};
      while (report.status !== 'failed') report = await next();
      assert.equal((report.drafts ?? []).length, count);
      await end();
    }
  });

  it('is not kept: the stored events tell how the run has ended', async () => {
    const { ask, feed, service } = await serveSession(async function* () {
      yield { author: 'guide', errorCode: '429', errorMessage: 'quota' };
    });
    const follower = await feed(`${USER}/changes`);
    await follower.next();
    await ask(`${SESSION}/events`, asked('m1'));
    let report: Partial<RunReport> = {};
    while (report.status !== 'failed') report = await follower.next();
    assert.deepEqual(report.error, {
      code: 'run_failed',
      message: 'The agent failed: quota',
      cause: { code: '429', message: 'quota' },
    });
    const { next, end } = await feed(`${USER}/changes`);
    assert.deepEqual((await next()).runs, []);
    assert.equal((await service.getSession(KEY))?.events.at(-1)?.errorCode, '429');
    await Promise.all([end(), follower.end()]);
  });

  it('has no text if the session was deleted during the run, also while the agent ignores that', async () => {
    const served = await serveSession(async function* () {
      yield { author: 'guide', partial: true, content: says('secret') };
      await new Promise(() => undefined);
    });
    await served.ask(`${SESSION}/events`, asked('m1'));
    await sleep(5);
    await served.service.deleteSession(KEY);
    const { next, end } = await served.feed(`${USER}/changes`);
    assert.doesNotMatch(JSON.stringify(await next()), /secret/);
    await end();
    await served.handler.close();
  });
});

describe('A remote service', () => {
  it('joins what was added, and hears of a failure what clients may know', async () => {
    const { run, say } = streaming();
    const failing: RunAgent = async function* (context) {
      if (context.message.id !== 'm2') {
        yield* run(context);
        return;
      }
      throw new Error('the key sk-1 is wrong');
    };
    const { handler, service } = await serveSession(failing);
    const open = () => {
      const remote = new RemoteSessionService({
        url: 'http://localhost',
        fetch: (input, init) => handler(new Request(input, init)),
      });
      const stop = new AbortController();
      remote.watch(
        { appName: 'shop', userId: 'ada' },
        { signal: stop.signal, onNotice: () => undefined },
      );
      const reports: (RunReport | undefined)[] = [];
      coreOf(remote)?.serverAgent?.follow(KEY, (report) => reports.push(report));
      const until = async (isIt: (report: RunReport | undefined) => boolean) => {
        for (let tries = 400; tries > 0; tries -= 1) {
          if (reports.some(isIt)) return reports.find(isIt);
          await sleep(5);
        }
        throw new Error(JSON.stringify(reports));
      };
      return { remote, until, stop };
    };
    const { remote, until, stop } = open();
    const session = (await remote.getSession(KEY))!;
    const event = (id: string) => ({ id, invocationId: id, author: 'user', content: asks(id) });
    await remote.appendEvent({ session, event: event('m1'), run: { streaming: true } });
    say('Green');
    await until((report) => report?.drafts.length === 1);
    say(' tea');
    await until(
      (report) => textsOf(report?.drafts.map(({ event }) => event) ?? [])[0] === 'Green tea',
    );
    say(undefined);
    await until((report) => report?.status === 'ended');
    await remote.appendEvent({ session, event: event('m2'), run: {} });
    const failed = await until((report) => report?.status === 'failed');
    assert.deepEqual(failed?.error, { code: 'run_failed', message: 'The agent failed.' });
    stop.abort();
    await remote.close();
    await service.close();
  });
});
