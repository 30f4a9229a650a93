// Runs of the handler's agent over HTTP. The client may run agents and append, unless the test says otherwise.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';

import { mockedTimeOf } from '../../mocked_time.js';
import { type Event, isSessionError } from '../../../../js/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { gate, says, storesMessage, textsOf } from '../../ui/live/runs/agents.js';
import { KEY, serve, SESSION } from '../fixture.js';
import { asked, echoing, EVENTS, messageJson, RUN, serveSession } from './fixture.js';

describe('POST …/events with run', () => {
  it('answers when the message is stored, and the agent goes on', async () => {
    const go = gate();
    const { run } = echoing(go.opened);
    const { ask, events, until } = await serveSession({ run });
    const { status, body } = await ask(EVENTS, asked('m1'));
    assert.equal(status, 200);
    const [stored] = await events();
    const { eventRevisions, filled } = body as { eventRevisions: object[]; filled: object[] };
    assert.deepEqual(
      [eventRevisions.length, filled],
      [1, [{ id: 'm1', timestamp: stored!.timestamp }]],
    );
    assert.deepEqual(textsOf(await events()), ['m1']);
    go.open();
    const [message, answer] = await until(2);
    assert.equal(answer?.invocationId, message?.invocationId);
    assert.deepEqual(textsOf(await events()), ['m1', 'm1!']);
  });

  it('gives a session without a title the one that its client sends', async () => {
    const { run } = echoing();
    const { ask, until, service } = await serveSession({ run });
    const titles: unknown[] = [];
    for (const [at, id] of ['m1', 'm2'].entries()) {
      await ask(EVENTS, asked(id, { firstTitle: `title of ${id}` }));
      await until(2 * at + 2);
      titles.push((await service.sessionInfo(KEY)).title);
    }
    assert.deepEqual(titles, ['title of m1', 'title of m1']);
  });

  it('starts nothing for an id that is stored, whatever its text', async () => {
    const { run, seen } = echoing();
    const { ask, until } = await serveSession({ run });
    await ask(EVENTS, asked('m1'));
    await until(2);
    const again = { events: [messageJson('m1', 'another')], run: {} };
    const { status, body } = await ask(EVENTS, { body: again });
    assert.equal(status, 200);
    const { texts } = body as { texts: { position: number; text: string }[] };
    assert.deepEqual(textsOf(texts.map(({ text }) => JSON.parse(text) as Event)), ['m1']);
    assert.deepEqual(textsOf(await until(2)), ['m1', 'm1!']);
    assert.deepEqual(seen, ['m1']);
  });

  it('joins the run of the same message, and refuses another one with agent_running', async () => {
    const go = gate();
    const { run, seen } = echoing(go.opened);
    const { ask, until } = await serveSession({ run });
    const answers = await Promise.all([ask(EVENTS, asked('m1')), ask(EVENTS, asked('m1'))]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    const other = await ask(EVENTS, asked('m2'));
    assert.deepEqual([other.status, (other.body as { code: string }).code], [409, 'agent_running']);
    go.open();
    await until(2);
    assert.deepEqual(seen, ['m1']);
  });

  it('needs the right run', async () => {
    const { run, seen } = echoing();
    const { ask, events } = await serveSession({
      run,
      authorize: (_, { action }) => action !== 'run',
    });
    assert.equal((await ask(EVENTS, asked('m1'))).status, 403);
    assert.equal((await ask(RUN, { method: 'DELETE' })).status, 403);
    assert.deepEqual([await events(), seen], [[], []]);
  });

  it('refuses what a user may not write, before the agent', async () => {
    const { run, seen } = echoing();
    const { ask } = await serveSession({ run });
    const answer = { functionResponse: { id: 'c1', name: 'buy', response: {} } };
    for (const [event, status] of [
      [{ ...messageJson('m1'), author: 'guide' }, 400],
      [{ ...messageJson('m1'), content: undefined }, 400],
      [{ ...messageJson('m1'), errorCode: 'X' }, 403],
      [{ ...messageJson('m1'), content: { role: 'user', parts: [answer] } }, 403],
    ] as const) {
      assert.equal((await ask(EVENTS, { body: { events: [event], run: {} } })).status, status);
    }
    const two = { events: [messageJson('m1'), messageJson('m2')], run: {} };
    assert.equal((await ask(EVENTS, { body: two })).status, 400);
    assert.equal((await ask(EVENTS, asked('m1', { run: { streaming: 1 } }))).status, 400);
    assert.deepEqual(seen, []);
  });

  it('refuses an unknown member of run, and names it', async () => {
    const { run, seen } = echoing();
    const { ask } = await serveSession({ run });
    const place = { turn: 'm0' };
    const message = { id: 'm2', invocationId: 'i-m2' };
    for (const [path, body] of [
      [EVENTS, asked('m1').body],
      [`${SESSION}/rewind`, { place, message }],
    ] as const) {
      const { status, body: answer } = await ask(path, {
        body: { ...body, run: { streeming: 1 } },
      });
      assert.deepEqual([status, (answer as { code: string }).code], [400, 'invalid_argument']);
      assert.match((answer as { detail: string }).detail, /run\.streeming/);
    }
    assert.deepEqual(seen, []);
  });

  it('has status 501 without an agent', async () => {
    const { ask, events } = await serveSession({});
    assert.equal((await ask(EVENTS, asked('m1'))).status, 501);
    assert.deepEqual(await events(), []);
  });

  it('has status 404 without a session', async () => {
    const { run, seen } = echoing();
    const { ask } = serve({ run });
    assert.equal((await ask(EVENTS, asked('m1'))).status, 404);
    assert.deepEqual(seen, []);
  });

  it('has status 500 and stores nothing if the agent throws before the message is stored; onError gets what it throws', async () => {
    const failure = new Error('the key sk-123 is wrong');
    const errors: unknown[] = [];
    const { ask, events } = await serveSession({
      run: storesMessage(() => {
        throw failure;
      }),
      onError: (error) => errors.push(error),
    });
    const { status, body } = await ask(EVENTS, asked('m1'));
    assert.deepEqual([status, (body as { code: string }).code], [500, 'run_failed']);
    assert.equal(JSON.stringify(body).includes('sk-123'), false);
    assert.deepEqual([await events(), errors], [[], [failure]]);
    assert.equal((await ask(EVENTS, asked('m2'))).status, 500, 'the session is free again');
  });

  it('goes on when the client has gone, and when timeoutMs has passed', async () => {
    const go = gate();
    const { run } = echoing(go.opened);
    const { handler, until } = await serveSession({ run, timeoutMs: 50 });
    const client = new AbortController();
    const request = new Request(`http://localhost${EVENTS}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked('m1').body),
      signal: client.signal,
    });
    await handler(request);
    client.abort();
    await sleep(80);
    go.open();
    assert.deepEqual(textsOf(await until(2)), ['m1', 'm1!']);
  });

  it('refuses a run above maxRuns with status 503, and gives each to waitUntil', async () => {
    const go = gate();
    const { run, seen } = echoing(go.opened);
    const running: Promise<unknown>[] = [];
    const { ask, service, until } = await serveSession({
      run,
      maxRuns: 1,
      waitUntil: (one) => running.push(one),
    });
    await service.createSession({ ...KEY, sessionId: 's2' });
    await ask(EVENTS, asked('m1'));
    const other = await ask(`${SESSION}/events`.replace('s1', 's2'), asked('m2'));
    assert.deepEqual(
      [other.status, (other.body as { code?: string }).code, other.headers.get('retry-after')],
      [503, 'too_many_runs', '1'],
    );
    assert.equal(running.length, 1);
    go.open();
    await running[0];
    assert.equal((await until(2)).length, 2);
    assert.deepEqual(seen, ['m1']);
  });

  it('runs to its end if waitUntil throws, which onError gets, and frees the session', async () => {
    const failure = new Error('no request');
    const fails = (): never => {
      throw failure;
    };
    for (const waitUntil of [fails, () => Promise.reject(failure)]) {
      const errors: unknown[] = [];
      const { run } = echoing();
      const options = { run, waitUntil, onError: (error: unknown) => void errors.push(error) };
      const { ask, until, handler } = await serveSession(options);
      assert.equal((await ask(EVENTS, asked('m1'))).status, 200);
      await until(2);
      await sleep(1);
      assert.equal((await ask(EVENTS, asked('m2'))).status, 200);
      assert.deepEqual(textsOf(await until(4)), ['m1', 'm1!', 'm2', 'm2!']);
      assert.deepEqual(errors, [failure, failure]);
      await handler.close();
    }
  });

  it('that is cancelled gives its agent the reason aborted', async () => {
    let reason: unknown;
    const run: RunAgent = async function* ({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reason = signal.reason;
      yield { author: 'guide', content: says('too late') };
    };
    const { ask, service } = await serveSession({ run });
    await ask(EVENTS, asked('m1'));
    assert.equal((await ask(`${SESSION}/run`, { method: 'DELETE' })).status, 200);
    assert.ok(isSessionError(reason, 'aborted'));
    await service.close();
  });

  it('is cancelled and gets its end event after maxRunMs', async () => {
    const errors: unknown[] = [];
    const { run } = echoing(new Promise(() => undefined));
    const { ask, until } = await serveSession({
      run,
      maxRunMs: 30,
      onError: (error) => errors.push(error),
    });
    await ask(EVENTS, asked('m1', { run: { streaming: true } }));
    const [, text, endEvent] = await until(3);
    assert.deepEqual([text?.interrupted, text?.content?.parts], [true, [{ text: 'Gr' }]]);
    assert.equal(endEvent?.errorCode, 'INVOCATION_ABORTED');
    await sleep(1);
    assert.deepEqual(
      errors.map((error) => (error as { code: string }).code),
      ['timeout'],
    );
  });
});

describe('An agent or a plugin that hangs before the message is stored', () => {
  it('is stopped after maxRunMs: nothing is stored, and the session is free', async () => {
    const errors: unknown[] = [];
    let isHanging = true;
    const { run: echo } = echoing();
    const run = storesMessage(async function* (context) {
      if (isHanging) await new Promise(() => undefined);
      yield* echo(context);
    });
    const onError = (error: unknown) => void errors.push(error);
    const { ask, events, until } = await serveSession({ run, maxRunMs: 30, onError });
    const { status, body } = await ask(EVENTS, asked('m1'));
    assert.deepEqual([status, (body as { code: string }).code], [504, 'timeout']);
    assert.deepEqual(
      errors.map((error) => (error as { code: string }).code),
      ['timeout'],
    );
    assert.deepEqual(await events(), []);
    isHanging = false;
    assert.equal((await ask(EVENTS, asked('m1'))).status, 200);
    assert.deepEqual(textsOf(await until(2)), ['m1', 'm1!']);
  });
});

describe('DELETE …/run', () => {
  it('ends a run that ignores its signal within about a second, and keeps its text', async () => {
    const tookMs = await mockedTimeOf(async () => {
      const { run } = echoing(new Promise(() => undefined));
      const { ask, events } = await serveSession({ run });
      await ask(EVENTS, asked('m1', { run: { streaming: true } }));
      const other = await ask(`${RUN}?messageId=m0`, { method: 'DELETE' });
      assert.deepEqual(other.body, { cancelled: false });
      const { status, body } = await ask(`${RUN}?messageId=m1`, { method: 'DELETE' });
      assert.deepEqual([status, body], [200, { cancelled: true }]);
      const [, text, endEvent] = await events();
      assert.equal(text?.interrupted, true);
      assert.equal(endEvent?.errorCode, 'INVOCATION_ABORTED');
      assert.equal((await ask(RUN, { method: 'DELETE' })).status, 200);
    });
    assert.ok(tookMs >= 1000 && tookMs < 2000, `${tookMs} ms`);
  });

  it('stores the end event of a message whose process has died', async () => {
    const { run } = echoing();
    const { ask, events } = await serveSession({ run });
    await ask(EVENTS, { body: { events: [messageJson('m1')] } });
    const cancel = () => ask(`${RUN}?messageId=m1`, { method: 'DELETE' });
    assert.deepEqual((await cancel()).body, { cancelled: true });
    assert.deepEqual((await cancel()).body, { cancelled: false });
    assert.equal((await events()).length, 2);
  });
});

describe('A message that was cancelled before it came', () => {
  const cancel = (ask: ReturnType<typeof serve>['ask'], id: string) =>
    ask(`${RUN}?messageId=${id}`, { method: 'DELETE' });

  it('is refused with aborted for 30 seconds, and nothing is stored; other messages run', async (t) => {
    const { run, seen } = echoing();
    const { ask, events, until } = await serveSession({ run });
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    assert.deepEqual((await cancel(ask, 'm1')).body, { cancelled: false });
    for (const passedMs of [0, 29_999]) {
      t.mock.timers.setTime(1_000_000 + passedMs);
      const { status, body, headers } = await ask(EVENTS, asked('m1'));
      assert.deepEqual([status, (body as { code: string }).code], [409, 'aborted']);
      assert.equal(headers.get('retry-after'), null);
    }
    assert.deepEqual([await events(), seen], [[], []]);
    assert.equal((await ask(EVENTS, asked('m2'))).status, 200);
    await until(2);
    assert.deepEqual(seen, ['m2']);
  });

  it('runs after 30 seconds', async (t) => {
    const { run, seen } = echoing();
    const { ask, until } = await serveSession({ run });
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    await cancel(ask, 'm1');
    t.mock.timers.setTime(1_030_000);
    assert.equal((await ask(EVENTS, asked('m1'))).status, 200);
    assert.deepEqual(textsOf(await until(2)), ['m1', 'm1!']);
    assert.deepEqual(seen, ['m1']);
  });

  it('is refused by a rewind too, which changes nothing', async () => {
    const { run, seen } = echoing();
    const { ask, events, until } = await serveSession({ run });
    await ask(EVENTS, asked('m1'));
    await until(2);
    await cancel(ask, 'm2');
    const body = {
      place: { turn: 'm1' },
      marker: { id: 'r1', invocationId: 'i-r1' },
      message: messageJson('m2'),
      run: {},
    };
    const { status, body: refusal } = await ask(`${SESSION}/rewind`, { body });
    assert.deepEqual([status, (refusal as { code: string }).code], [409, 'aborted']);
    assert.deepEqual([textsOf(await events()), seen], [['m1', 'm1!'], ['m1']]);
  });

  it('in one session is not refused in another one', async () => {
    const { run } = echoing();
    const { ask, service } = await serveSession({ run });
    await service.createSession({ ...KEY, sessionId: 's2' });
    await cancel(ask, 'm1');
    assert.equal((await ask(EVENTS.replace('s1', 's2'), asked('m1'))).status, 200);
  });
});

describe('A run on the server', () => {
  it('ends when its session is deleted, and nothing is stored', async () => {
    const signals: AbortSignal[] = [];
    const errors: unknown[] = [];
    const running: Promise<unknown>[] = [];
    const { ask, service } = await serveSession({
      run: async function* ({ signal }) {
        signals.push(signal);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield { author: 'guide', content: says('late') };
      },
      waitUntil: (one) => running.push(one),
      onError: (error) => errors.push(error),
    });
    await ask(EVENTS, asked('m1'));
    assert.equal((await ask(SESSION, { method: 'DELETE' })).status, 200);
    await running[0];
    assert.equal(signals[0]?.aborted, true);
    assert.deepEqual([await service.getSession(KEY), errors], [undefined, []]);
  });

  it('is cancelled by a rewind, whose message then has its own run', async () => {
    const { run, seen } = echoing(new Promise(() => undefined));
    const { ask, until } = await serveSession({ run });
    await ask(EVENTS, asked('m1'));
    const body = {
      place: { turn: 'm1' },
      marker: { id: 'r1', invocationId: 'i-r1' },
      message: {
        id: 'm2',
        invocationId: 'i-m2',
        content: { role: 'user', parts: [{ text: 'B' }] },
      },
      run: {},
    };
    const rewound = await ask(`${SESSION}/rewind`, { body });
    assert.equal(rewound.status, 200);
    assert.deepEqual(seen, ['m1', 'm2']);
    const all = await until(4);
    assert.deepEqual(
      all.map(({ id, errorCode }) => errorCode ?? id),
      ['m1', 'INVOCATION_ABORTED', 'r1', 'm2'],
    );
    const again = await ask(`${SESSION}/rewind`, { body });
    assert.equal(again.status, 200);
    assert.deepEqual([seen, (await until(4)).length], [['m1', 'm2'], 4]);
    await ask(RUN, { method: 'DELETE' });
    const third = await ask(`${SESSION}/rewind`, { body });
    assert.equal(third.status, 200);
    assert.deepEqual(seen, ['m1', 'm2']);
  });

  it('of a rewind fails and leaves the session free if the service cannot be watched', async (t) => {
    const failure = new Error('no watch');
    const errors: unknown[] = [];
    const { run } = echoing();
    const { ask, until, service } = await serveSession({
      run,
      onError: (error) => errors.push(error),
    });
    await ask(EVENTS, asked('m1'));
    await until(2);
    const watch = t.mock.method(service, 'watch', () => {
      throw failure;
    });
    const body = {
      place: { turn: 'm1' },
      marker: { id: 'r1', invocationId: 'i-r1' },
      message: { id: 'm2', invocationId: 'i-m2' },
      run: {},
    };
    assert.equal((await ask(`${SESSION}/rewind`, { body })).status, 200);
    watch.mock.restore();
    await sleep(1);
    assert.equal((await ask(EVENTS, asked('m3'))).status, 200);
    assert.deepEqual(errors, [failure]);
  });

  it('of a rewind that is refused leaves the session free', async () => {
    const { run, seen } = echoing();
    const { ask, until } = await serveSession({ run });
    await ask(EVENTS, asked('m1'));
    await until(2);
    const body = {
      place: { turn: 'none' },
      marker: { id: 'r1', invocationId: 'i-r1' },
      message: { id: 'm2', invocationId: 'i-m2' },
      run: {},
    };
    assert.equal((await ask(`${SESSION}/rewind`, { body })).status, 404);
    assert.equal((await ask(EVENTS, asked('m3'))).status, 200);
    await until(4);
    assert.deepEqual(seen, ['m1', 'm3']);
  });

  it('that ends without an answer stores that it has stopped, unless the agent has stored one', async () => {
    const call = { functionCall: { id: 'c1', name: 'buy', args: {} } };
    const { handler, service, ask, until, events } = await serveSession({
      run: async function* ({ message, session }) {
        if (message.id === 'm1') return;
        if (message.id === 'm2') {
          yield { author: 'guide', content: { role: 'model', parts: [call] } };
          return;
        }
        const { invocationId } = message;
        const event = { author: 'guide', invocationId, content: says('own') };
        await service.appendEvent({ session: await session(), event });
      },
    });
    for (const [id, count] of [
      ['m1', 2],
      ['m2', 5],
      ['m3', 7],
    ] as const) {
      await ask(EVENTS, asked(id));
      await until(count);
    }
    await handler.close();
    const codes = (await events()).map(({ author, errorCode }) => errorCode ?? author);
    assert.deepEqual(codes, [
      ...['user', 'RUN_STOPPED', 'user', 'guide', 'RUN_STOPPED', 'user', 'guide'],
    ]);
  });

  it('ends before close resolves, or is stopped after graceMs with its calls closed', async () => {
    const call = { functionCall: { id: 'c1', name: 'buy', args: {} } };
    const { handler, ask, events } = await serveSession({
      run: async function* () {
        yield { author: 'guide', content: { role: 'model', parts: [call] } };
        await new Promise(() => undefined);
      },
    });
    await ask(EVENTS, asked('m1'));
    const closing = handler.close({ graceMs: 20 });
    assert.equal((await ask(EVENTS, asked('m2'))).status, 503);
    await closing;
    const [, asking, closed] = await events();
    assert.equal(asking?.content?.parts?.[0]?.functionCall?.id, 'c1');
    assert.equal(closed?.content?.parts?.[0]?.functionResponse?.id, 'c1');
    assert.equal(closed.errorCode, 'RUN_STOPPED');
  });
});
