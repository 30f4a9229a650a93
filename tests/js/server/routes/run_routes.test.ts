// The routes of `adk api_server` that run an agent. The client may run agents and append, unless the test says otherwise.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';

import { createEvent, type Event, type EventActions } from '../../../../js/index.js';
import type { SessionHandlerOptions } from '../../../../js/server/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { gate, says, storesMessage, textsOf } from '../../ui/live/runs/agents.js';
import { APP, type FeedEvent, feedEvents, KEY, requestTo, serve, SESSION } from '../fixture.js';

const IDS = { appName: APP, userId: 'ada', sessionId: 's1' };
const newMessage = { role: 'user', parts: [{ text: 'Tea?' }] };
const ASKED = { ...IDS, newMessage };

type Data = Event & { readonly error?: string; readonly error_details?: Record<string, unknown> };

async function serveSession(
  run: RunAgent | undefined,
  options: Partial<SessionHandlerOptions> = {},
) {
  const errors: unknown[] = [];
  const served = serve({
    authorize: () => true,
    onError: (error) => errors.push(error),
    run,
    ...options,
  });
  const { service, handler } = served;
  await service.createSession(KEY);
  const events = async (): Promise<Event[]> => (await service.getSession(KEY))!.events;
  /** Waits until the session has so many events. */
  const until = async (count: number): Promise<Event[]> => {
    for (;;) {
      const all = await events();
      if (all.length >= count) return all;
      await sleep(5);
    }
  };
  const respond = (path: string, body: unknown, signal?: AbortSignal) =>
    handler(new Request(requestTo(path, { body }), signal && { signal }));
  /** Reads a whole stream. */
  const stream = async (more = {}): Promise<Data[]> => {
    const response = await respond('/run_sse', { ...ASKED, ...more });
    assert.deepEqual(
      [response.status, response.headers.get('content-type')],
      [200, 'text/event-stream'],
      response.status === 200 ? '' : await response.text(),
    );
    const all: Data[] = [];
    for await (const { data } of feedEvents(response)) all.push(data as Data);
    return all;
  };
  return { ...served, events, errors, until, respond, stream };
}

const actionsOf = (given: Partial<EventActions>): EventActions =>
  createEvent({ actions: given }).actions;

const answering: RunAgent = async function* ({ message, streaming }) {
  if (streaming) yield { author: 'guide', partial: true, content: says('Gr') };
  const text = `Green: ${message.content?.parts?.[0]?.text}`;
  yield {
    author: 'guide',
    content: says(text),
    actions: actionsOf({ stateDelta: { tea: 1, 'temp:t': 1 } }),
  };
};

/** An agent that streams a partial event, and then waits for its signal. `said` resolves when the run has the partial event. */
function untilStopped() {
  const { open, opened: said } = gate();
  const run: RunAgent = async function* ({ signal }) {
    yield { author: 'guide', partial: true, content: says('Gr') };
    open();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  return { run, said };
}

describe('POST /run', () => {
  it('returns the events of the run in the form of adk api_server, without the message', async () => {
    const { ask, events } = await serveSession(answering);
    const { status, body } = await ask('/run', { body: ASKED });
    assert.equal(status, 200);
    const [message, stored] = await events();
    assert.deepEqual(body, [
      {
        id: stored?.id,
        invocationId: message?.invocationId,
        author: 'guide',
        timestamp: stored!.timestamp / 1000,
        content: says('Green: Tea?'),
        actions: stored?.actions,
      },
    ]);
    assert.deepEqual(textsOf(await events()), ['Tea?', 'Green: Tea?']);
  });

  it('does not stream, but returns the partial events of an agent that streams always', async () => {
    const { ask } = await serveSession(async function* ({ streaming }) {
      yield { author: 'guide', partial: true, content: says(String(streaming)) };
      yield { author: 'guide', content: says('whole') };
    });
    const { body } = await ask('/run', { body: { ...ASKED, streaming: true } });
    assert.deepEqual(textsOf(body as Event[]), ['false', 'whole']);
  });

  it('waits for a run that takes longer than timeoutMs', async () => {
    const { ask } = await serveSession(
      async function* () {
        await sleep(120);
        yield { author: 'guide', content: says('late') };
      },
      { timeoutMs: 60 },
    );
    const { status, body } = await ask('/run', { body: ASKED });
    assert.deepEqual([status, textsOf(body as Event[])], [200, ['late']]);
  });

  it('has the status of the error of a run that fails, and onError gets it once', async () => {
    const failure = new Error('the key sk-123 is wrong');
    const { ask, errors, until } = await serveSession(async function* () {
      yield { author: 'guide', content: says('one') };
      throw failure;
    });
    const { status, body } = await ask('/run', { body: ASKED });
    assert.deepEqual([status, body], [500, { detail: 'The agent failed.', code: 'run_failed' }]);
    const events = await until(3);
    assert.deepEqual([errors, textsOf(events.slice(0, 2))], [[failure], ['Tea?', 'one']]);
    assert.equal(events[2]?.errorCode, 'RUN_FAILED');
  });

  it('has status 200 if the last event of the run is an error', async () => {
    const { ask, errors } = await serveSession(async function* () {
      yield { author: 'guide', errorCode: '429', errorMessage: 'quota' };
    });
    const { status, body } = await ask('/run', { body: ASKED });
    const [event] = body as { errorCode?: string }[];
    assert.deepEqual([status, event?.errorCode, errors], [200, '429', []]);
  });

  it('is cancelled and gets its end event when the client leaves', async () => {
    const { run, said } = untilStopped();
    const { respond, until } = await serveSession(run);
    const client = new AbortController();
    const answered = respond('/run', ASKED, client.signal);
    await said;
    client.abort();
    assert.equal((await answered).status, 504);
    const [, text, endEvent] = await until(3);
    assert.deepEqual([text?.interrupted, endEvent?.errorCode], [true, 'INVOCATION_ABORTED']);
  });
});

describe('POST /run_sse', () => {
  it('sends the events as they come, with streaming also the partial events', async () => {
    const { stream, events } = await serveSession(answering);
    const whole = await stream();
    assert.deepEqual(textsOf(whole), ['Green: Tea?']);
    const [message, stored] = await events();
    assert.deepEqual(
      [whole[0]?.id, whole[0]?.invocationId, whole[0]?.timestamp],
      [stored?.id, message?.invocationId, stored!.timestamp / 1000],
    );
    const partials = await stream({ streaming: true });
    assert.deepEqual(
      partials.map(({ partial, content }) => [partial, content?.parts?.[0]?.text]),
      [
        [true, 'Gr'],
        [undefined, 'Green: Tea?'],
      ],
    );
  });

  it('sends an event before the agent goes on', async () => {
    const go = gate();
    const { respond } = await serveSession(async function* () {
      yield { author: 'guide', content: says('one') };
      await go.opened;
      yield { author: 'guide', content: says('two') };
    });
    const events = feedEvents(await respond('/run_sse', ASKED));
    const nextText = async () => {
      const next = await events.next();
      return next.done === true ? undefined : textsOf([next.value.data as Event])[0];
    };
    assert.equal(await nextText(), 'one');
    go.open();
    assert.equal(await nextText(), 'two');
    assert.equal(await nextText(), undefined);
  });

  it('takes members in snake_case, a delta of the state and metadata of the message', async () => {
    const { ask, events } = await serveSession(answering);
    const body = {
      app_name: APP,
      user_id: 'ada',
      session_id: 's1',
      new_message: {
        parts: [{ text: 'Look' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }],
      },
      state_delta: { topic: 'tea' },
      custom_metadata: { source: 'page', __adk_internal_x: 1 },
      function_call_event_id: null,
    };
    assert.equal((await ask('/run', { body })).status, 200);
    const [message] = await events();
    assert.deepEqual(message?.content, {
      role: 'user',
      parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
    });
    assert.deepEqual(message.actions.stateDelta, { topic: 'tea' });
    assert.deepEqual(message.customMetadata, {
      source: 'page',
      __adk_internal_restored_event: true,
    });
  });

  it('sends artifacts beside content as an event of their own, unless the body names the event of a call', async () => {
    const actions = actionsOf({ artifactDelta: { 'tea.txt': 3 } });
    const { stream } = await serveSession(async function* () {
      yield { author: 'guide', content: says('file'), actions };
    });
    const [content, artifacts, ...none] = await stream();
    assert.deepEqual(none, []);
    assert.equal(content?.id, artifacts?.id);
    assert.deepEqual([content?.content, content?.actions.artifactDelta], [says('file'), {}]);
    assert.deepEqual(
      [artifacts?.content, artifacts?.actions.artifactDelta],
      [undefined, actions.artifactDelta],
    );
    const [event, ...others] = await stream({ functionCallEventId: 'e1' });
    assert.deepEqual([event?.actions.artifactDelta, others], [actions.artifactDelta, []]);
  });

  it('hides the secrets of credentials and internal metadata, by the rights of the client', async () => {
    const credential = { authType: 'oauth2', oauth2: { clientId: 'c', clientSecret: 'secret' } };
    const run: RunAgent = async function* () {
      yield {
        author: 'guide',
        content: says('hi'),
        customMetadata: { __adk_internal_x: 1, seen: true },
        actions: actionsOf({ stateDelta: { credential } }),
      };
    };
    for (const [permission, secret] of [
      [true, undefined],
      [{ maySeeCredentials: true }, 'secret'],
    ] as const) {
      const { stream, ask } = await serveSession(run, { authorize: () => permission });
      const { body } = await ask('/run', { body: ASKED });
      for (const [event] of [await stream(), body as Event[]]) {
        assert.deepEqual(event?.customMetadata, { seen: true });
        const shown = event.actions.stateDelta.credential as typeof credential;
        assert.deepEqual([shown.oauth2.clientId, shown.oauth2.clientSecret], ['c', secret]);
      }
    }
  });

  it('ends with an error if the agent throws after the message is stored, and onError gets what it throws', async () => {
    const failure = new Error('the key sk-123 is wrong');
    for (const before of [0, 1]) {
      const { stream, errors } = await serveSession(async function* () {
        if (before > 0) yield { author: 'guide', content: says('one') };
        throw failure;
      });
      const all = await stream();
      assert.equal(all.length, before + 1);
      const { error, error_details: details, ...rest } = all.at(-1)!;
      assert.deepEqual([error, rest], ['run_failed: The agent failed.', {}]);
      const { timestamp, ...told } = details!;
      assert.equal(typeof timestamp, 'number');
      assert.deepEqual(told, { error_type: 'run_failed', error_message: 'The agent failed.' });
      assert.deepEqual(errors, [failure]);
    }
  });

  it('has status 500 and stores nothing if the agent throws before the message is stored', async () => {
    const failure = new Error('no');
    const { ask, errors, events } = await serveSession(
      storesMessage(() => {
        throw failure;
      }),
    );
    const { status, body } = await ask('/run_sse', { body: ASKED });
    assert.deepEqual([status, (body as { code: string }).code], [500, 'run_failed']);
    assert.deepEqual([errors, await events()], [[failure], []]);
  });

  it('is cancelled and gets its end event when the client leaves, by its signal or by the stream', async () => {
    for (const leave of ['signal', 'stream']) {
      const { run, said } = untilStopped();
      const { respond, until, service } = await serveSession(run);
      const client = new AbortController();
      const { body } = await respond('/run_sse', { ...ASKED, streaming: true }, client.signal);
      await said;
      if (leave === 'signal') client.abort();
      else await body!.cancel();
      const [, text, endEvent] = await until(3);
      assert.deepEqual([text?.interrupted, endEvent?.errorCode], [true, 'INVOCATION_ABORTED']);
      assert.equal((await service.getSession(KEY))?.events.length, 3);
    }
  });

  it('is cancelled by a client that leaves before the message is stored', async () => {
    const go = gate();
    const waiting = storesMessage(async function* ({ signal }) {
      await go.opened;
      signal.throwIfAborted();
      yield { author: 'guide', content: says('late') };
    });
    const { respond, events, errors } = await serveSession(waiting);
    const client = new AbortController();
    const response = respond('/run_sse', ASKED, client.signal);
    await sleep(20);
    client.abort();
    assert.equal((await response).status, 504);
    go.open();
    await sleep(20);
    assert.deepEqual([await events(), errors.length], [[], 1]);
  });

  it('is cancelled if its message is not stored within timeoutMs', async () => {
    const go = gate();
    let signal: AbortSignal | undefined;
    const { respond, events } = await serveSession(
      storesMessage(async function* (run) {
        signal = run.signal;
        await go.opened;
        signal.throwIfAborted();
        yield { author: 'guide', content: says('late') };
      }),
      { timeoutMs: 30 },
    );
    const { status } = await respond('/run_sse', ASKED);
    const isCancelled = signal?.aborted;
    go.open();
    assert.deepEqual([status, isCancelled], [504, true]);
    await sleep(20);
    assert.deepEqual(await events(), []);
  });

  it('is cancelled and gets its end event within about a second if the agent ignores its signal', async () => {
    const { open, opened: said } = gate();
    const { respond, until } = await serveSession(async function* () {
      yield { author: 'guide', partial: true, content: says('Gr') };
      open();
      await new Promise(() => undefined);
    });
    const { body } = await respond('/run_sse', ASKED);
    await said;
    await body!.cancel();
    assert.equal((await until(3))[2]?.errorCode, 'INVOCATION_ABORTED');
  });

  it('leaves out partial events while nobody reads, and sends every whole event', async () => {
    const text = 'x'.repeat(1024);
    const { respond, until } = await serveSession(async function* () {
      for (let partial = 0; partial < 1000; partial += 1)
        yield { author: 'guide', partial: true, content: says(text) };
      for (let whole = 0; whole < 100; whole += 1) yield { author: 'guide', content: says(text) };
    });
    const response = await respond('/run_sse', { ...ASKED, streaming: true });
    await until(101);
    const all: Data[] = [];
    for await (const { data } of feedEvents(response)) all.push(data as Data);
    const partials = all.filter(({ partial }) => partial);
    assert.ok(partials.length > 10 && partials.length < 100, `${partials.length} partial events`);
    assert.deepEqual([all.length - partials.length, all.at(-1)?.error], [100, undefined]);
  });

  it('is cancelled and gets its end event when more than 8 MiB of whole events wait for the reader', async () => {
    const text = 'x'.repeat(2 ** 20);
    const { respond, until } = await serveSession(async function* ({ signal }) {
      while (!signal.aborted) yield { author: 'guide', content: says(text) };
    });
    const { body } = await respond('/run_sse', ASKED);
    for (let count = 1; ; count += 1) {
      assert.ok(count < 20, 'the run goes on');
      if ((await until(count)).at(-1)?.errorCode === 'INVOCATION_ABORTED') break;
    }
    await assert.rejects(body!.getReader().read());
  });

  it('goes on for a reader that reads late, with a whole event of more than 8 MiB', async () => {
    const text = 'x'.repeat(9 * 2 ** 20);
    const { respond, until } = await serveSession(async function* () {
      yield { author: 'guide', partial: true, content: says('x') };
      yield { author: 'guide', content: says(text) };
    });
    const response = await respond('/run_sse', { ...ASKED, streaming: true });
    await until(2);
    assert.ok((await response.text()).length > text.length);
  });

  it('sends a comment every eight seconds while the agent says nothing', async (t) => {
    const { respond } = await serveSession(untilStopped().run);
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { body } = await respond('/run_sse', ASKED);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await reader.read()).value!, /"partial":true/);
    t.mock.timers.tick(8000);
    assert.equal((await reader.read()).value, ': still here\n\n');
    await reader.cancel();
  });

  it('stores no end event when the client leaves after the end', async () => {
    const { respond, events } = await serveSession(answering);
    const client = new AbortController();
    const response = await respond('/run_sse', ASKED, client.signal);
    await response.text();
    client.abort();
    await sleep(20);
    assert.equal((await events()).length, 2);
  });

  it('tells why a run was stopped by others', async () => {
    for (const [stop, code, options] of [
      ['cancel', 'aborted', {}],
      ['close', 'closed', {}],
      ['delete', 'not_found', {}],
      ['wait', 'timeout', { maxRunMs: 30 }],
    ] as const) {
      const { stream, until, ask, handler, service } = await serveSession(
        untilStopped().run,
        options,
      );
      const streamed = stream();
      await until(1);
      if (stop === 'cancel') await ask(`${SESSION}/run`, { method: 'DELETE' });
      if (stop === 'close') await handler.close({ graceMs: 1 });
      if (stop === 'delete') await service.deleteSession(KEY);
      const last = (await streamed).at(-1);
      assert.equal(last?.error_details?.error_type, code, stop);
    }
  });

  it('is shown in the feed of the user, and refuses a second message meanwhile', async () => {
    const go = gate();
    const { ask, respond, handler } = await serveSession(async function* () {
      await go.opened;
      yield { author: 'guide', content: says('done') };
    });
    const response = await respond('/run_sse', ASKED);
    const feed = feedEvents(await handler(requestTo(`/apps/${APP}/users/ada/changes`)));
    const first = (await feed.next()).value as FeedEvent;
    const { runs } = first.data as { runs: { status: string }[] };
    assert.deepEqual(
      runs.map(({ status }) => status),
      ['running'],
    );
    const other = await ask('/run_sse', { body: ASKED });
    assert.deepEqual([other.status, (other.body as { code: string }).code], [409, 'agent_running']);
    go.open();
    assert.match(await response.text(), /done/);
    await feed.return(undefined);
  });

  it('counts among maxRuns, and is given to waitUntil', async () => {
    const running: Promise<unknown>[] = [];
    const { ask, respond, service } = await serveSession(untilStopped().run, {
      maxRuns: 1,
      waitUntil: (one) => running.push(one),
    });
    await service.createSession({ ...KEY, sessionId: 's2' });
    const { body } = await respond('/run_sse', ASKED);
    const other = await ask('/run', { body: { ...ASKED, sessionId: 's2' } });
    assert.deepEqual([other.status, running.length], [503, 1]);
    await body!.cancel();
    await running[0];
  });
});
