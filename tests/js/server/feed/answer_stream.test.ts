// The answer to a message as a stream: the stored message, and then the reports of its run until it ends.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';

import type { RunReport } from '../../../../js/core/run_report.js';
import type { SessionService } from '../../../../js/index.js';
import {
  nodeListener,
  type SessionHandler,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../../js/server/index.js';
import { margin } from '../../../../js/server/runs/elsewhere.js';
import { processRunsOf } from '../../../../js/server/runs/process_runs.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { httpServer } from '../../../http_server.js';
import { scripted } from '../../ui/live/runs/served.js';
import { gate, says, textsOf } from '../../ui/live/runs/agents.js';
import { mockedTimeOf } from '../../mocked_time.js';
import { feedEvents, KEY, requestTo, SESSION, USER } from '../fixture.js';
import { asked, EVENTS, messageJson, RUN, serveSession } from '../runs/fixture.js';

const handlers: SessionHandler[] = [];

/** Serves a session, until the test ends. */
async function served(options: Partial<SessionHandlerOptions>) {
  const all = await serveSession(options);
  handlers.push(all.handler);
  return all;
}

afterEach(async () => {
  for (const handler of handlers.splice(0)) await handler.close({ graceMs: 0 });
});

const ACCEPT = { accept: 'text/event-stream, application/json' };

/** A message whose client accepts a stream, and whose agent is to stream. */
const streamed = (id: string, headers = {}) => ({
  ...asked(id, { run: { streaming: true } }),
  headers: { ...ACCEPT, ...headers },
});

/** Counts those who follow the runs of a service. */
function countFollowers(service: SessionService) {
  const runs = processRunsOf(service);
  const count = { open: 0, all: 0, onFollow: (): void => undefined };
  const { follow } = runs;
  runs.follow = (...given) => {
    const stop = Reflect.apply(follow, runs, given);
    count.open += 1;
    count.all += 1;
    count.onFollow();
    return () => {
      count.open -= 1;
      stop();
    };
  };
  return count;
}

/** The rewind that sends `m1` again as `m2`, and has the agent answer it. */
const sentAgain = {
  marker: { id: 'r1', invocationId: 'ri1' },
  place: { turn: 'm1' },
  message: { id: 'm2', invocationId: 'i-m2' },
  run: { streaming: true },
};

/** Reads the answer of a stream, and then its reports. */
function readerOf(response: Response) {
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const events = feedEvents(response);
  const next = async <T>(): Promise<T | undefined> => {
    const result = await events.next();
    return result.done === true ? undefined : (result.value.data as T);
  };
  return {
    answer: async () => (await next<{ eventRevisions: unknown[] }>())!,
    report: () => next<RunReport & { changes?: unknown }>(),
    /** Reads until the stream ends. Returns the statuses of the reports. */
    statuses: async () => {
      const all: string[] = [];
      for (let report; (report = await next<RunReport>()) !== undefined;) all.push(report.status);
      return all;
    },
    end: () => events.return(undefined),
  };
}

describe('The answer to a message with run, to a client that accepts a stream', () => {
  it('has the stored message first, then drafts, what was added, and the end', async () => {
    const { run, say, answer } = scripted();
    const { handler, events } = await served({ run });
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    assert.equal((await stream.answer()).eventRevisions.length, 1);
    assert.deepEqual(
      (await events()).map(({ id }) => id),
      ['m1'],
    );
    const first = (await stream.report())!;
    assert.deepEqual([first.status, first.messageId, first.drafts], ['running', 'm1', []]);
    say('Green');
    const { changes } = (await stream.report())!;
    const [{ draft }] = changes as [RunReport['drafts'][number] & { draft: { event: object } }];
    assert.deepEqual(textsOf([draft.event]), ['Green']);
    say(' tea');
    assert.deepEqual((await stream.report())!.changes, [{ index: 0, text: ' tea' }]);
    answer();
    assert.equal((await stream.report())!.status, 'ended');
    assert.equal(await stream.report(), undefined);
    assert.deepEqual(textsOf(await events()), ['m1', 'Green tea']);
  });

  it('is JSON without a stream in accept, and for a feed of the same start', async () => {
    const { run, answer } = scripted();
    const { ask, handler, until } = await served({ run });
    const feed = readerOf(await handler(requestTo(`${USER}/changes`)));
    const { start } = (await feed.report()) as unknown as { start: string };
    await feed.end();
    const ways = [
      { accept: '*/*' },
      { accept: 'application/json' },
      { ...ACCEPT, 'adk-session-feed': start },
    ];
    for (const [at, headers] of ways.entries()) {
      const { status, headers: answered, body } = await ask(EVENTS, streamed(`m${at}`, headers));
      assert.deepEqual([status, answered.get('content-type')], [200, 'application/json']);
      assert.ok((body as { revision: number }).revision > 0);
      answer('Green');
      await until(2 * (at + 1));
      // The run ends a little after its last event is stored.
      await new Promise(setImmediate);
    }
    const ofAnother = streamed('m9', { 'adk-session-feed': 'another' });
    const stream = readerOf(await handler(requestTo(EVENTS, ofAnother)));
    await stream.answer();
  });

  it('has the headers of the answer', async () => {
    const { handler } = await served({ run: scripted().run, processes: 'many' });
    const { headers } = await handler(requestTo(EVENTS, streamed('m1')));
    assert.match(headers.get('adk-session-run')!, /^\S+ 1$/);
    assert.match(headers.get('adk-session-open')!, /^\d+ m1$/);
    assert.equal(headers.get('x-accel-buffering'), 'no');
  });

  it('is joined by a message that is sent again, which begins no second run', async () => {
    const { run, say, answer, asked: seen } = scripted();
    const { handler } = await served({ run });
    const one = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await one.answer();
    await one.report();
    say('Green');
    await one.report();
    const other = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await other.answer();
    const { drafts } = (await other.report())!;
    assert.deepEqual(textsOf(drafts.map(({ event }) => event)), ['Green']);
    answer();
    assert.deepEqual(await one.statuses(), ['ended']);
    assert.deepEqual(await other.statuses(), ['ended']);
    assert.deepEqual(seen, ['m1']);
  });

  it('is JSON if the run of the message is over', async () => {
    const { handler, ask, until } = await served({ run: scriptedEcho });
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await stream.answer();
    await stream.statuses();
    await until(2);
    const { headers } = await ask(EVENTS, streamed('m1'));
    assert.equal(headers.get('content-type'), 'application/json');
  });

  it('tells the error of a run that fails, with the public message', async () => {
    const failing: RunAgent = async function* ({ session }) {
      yield { author: 'guide', partial: true, content: says('Gr') };
      await session();
      throw new Error('secret of the operator');
    };
    const { handler } = await served({ run: failing });
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await stream.answer();
    let last: RunReport | undefined;
    for (let report; (report = await stream.report()) !== undefined;) last = report;
    assert.deepEqual([last?.status, last?.error?.code], ['failed', 'run_failed']);
    assert.doesNotMatch(JSON.stringify(last), /secret/);
  });

  it('tells that the run was cancelled', async () => {
    const { run, say } = scripted();
    const { handler, ask } = await served({ run });
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await stream.answer();
    say('Gr');
    const { body } = await ask(RUN, { method: 'DELETE' });
    assert.deepEqual(body, { cancelled: true });
    assert.equal((await stream.statuses()).at(-1), 'cancelled');
  });

  it('is an error as JSON if the message is refused', async () => {
    const { run } = scripted();
    const { ask, handler } = await served({ run });
    const first = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    const { status, body } = await ask(EVENTS, streamed('m2'));
    assert.deepEqual([status, (body as { code: string }).code], [409, 'agent_running']);
    await first.end();
    const { ask: without } = await served({ run, authorize: (_, { action }) => action !== 'run' });
    assert.equal((await without(EVENTS, streamed('m1'))).status, 403);
  });

  it('needs no right to watch, and hides credentials as the answer does', async () => {
    const secret = { author: 'guide', partial: true, content: says('Gr') };
    const auth = { authType: 'apiKey', apiKey: 'hidden-key' };
    const run: RunAgent = async function* () {
      yield { ...secret, customMetadata: { auth } };
      yield { author: 'guide', content: says('Green') };
    };
    for (const [maySeeCredentials, isShown] of [
      [false, false],
      [true, true],
    ]) {
      const { handler } = await served({
        run,
        authorize: (_, { action }) => action !== 'watch' && { maySeeCredentials },
      });
      const response = await handler(requestTo(EVENTS, streamed('m1')));
      assert.equal((await response.text()).includes('hidden-key'), isShown);
    }
  });

  it('follows a rewind with run too', async () => {
    const { run, answer } = scripted();
    const { handler, until } = await served({ run });
    answer('Green');
    const first = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await first.answer();
    await first.statuses();
    await until(2);
    const rewind = { body: sentAgain, headers: ACCEPT };
    const response = await handler(requestTo(`${SESSION}/rewind`, rewind));
    const events = feedEvents(response);
    const { value } = (await events.next()) as { value: { data: { message: { id: string } } } };
    assert.equal(value.data.message.id, 'm2');
    const again = await handler(requestTo(`${SESSION}/rewind`, rewind));
    assert.match(again.headers.get('adk-session-run')!, /^\S+ 2$/);
    const joined = readerOf(again);
    await joined.answer();
    answer('Black');
    assert.deepEqual(await joined.statuses(), ['running', 'ended']);
    let last: unknown;
    for await (const { data } of events) last = (data as RunReport).status;
    assert.equal(last, 'ended');
  });
});

describe('The stream of an answer', () => {
  it('counts as a feed: above maxFeeds the answer is JSON, and the run begins all the same', async () => {
    const { run, answer } = scripted();
    const { handler, ask, until } = await served({ run, maxFeeds: 1 });
    const feed = readerOf(await handler(requestTo(`${USER}/changes`)));
    await feed.report();
    const { headers } = await ask(EVENTS, streamed('m1'));
    assert.equal(headers.get('content-type'), 'application/json');
    answer('Green');
    await until(2);
    await feed.end();
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m2'))));
    await stream.answer();
    assert.equal((await handler(requestTo(`${USER}/changes`))).status, 503);
    answer('Black');
    await stream.statuses();
    const again = readerOf(await handler(requestTo(`${USER}/changes`)));
    await again.end();
  });

  it('is not opened above maxFeeds if another one has opened since its message was stored', async () => {
    const { service, handler } = await served({ run: scripted().run, maxFeeds: 1 });
    await service.createSession({ ...KEY, sessionId: 's2' });
    const followers = countFollowers(service);
    const paths = [EVENTS, EVENTS.replace('/s1/', '/s2/')];
    const answers = await Promise.all(
      paths.map((path) => handler(requestTo(path, streamed('m1')))),
    );
    const types = answers.map(({ headers }) => headers.get('content-type'));
    assert.deepEqual(types.sort(), ['application/json', 'text/event-stream']);
    assert.equal(followers.open, 1);
  });

  it('is not opened if the handler has closed since its message was stored', async () => {
    const { service, handler } = await served({ run: scripted().run });
    const followers = countFollowers(service);
    followers.onFollow = () => void handler.close({ graceMs: 0 });
    const { status, headers } = await handler(requestTo(EVENTS, streamed('m1')));
    assert.deepEqual([status, headers.get('content-type')], [200, 'application/json']);
    assert.deepEqual([followers.all, followers.open], [1, 0]);
  });

  it('ends without an end of the run when the run has no time left', async () => {
    const before = margin.ms;
    margin.ms = 0;
    await mockedTimeOf(async () => {
      const run: RunAgent = async function* () {
        // It does not heed the signal, so the run ends a second after its time limit.
        await new Promise(() => undefined);
        yield { author: 'guide', content: says('Green') };
      };
      const { handler } = await served({ run, maxRunMs: 100 });
      const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
      await stream.answer();
      assert.deepEqual(await stream.statuses(), ['running']);
      await handler.close();
    }).finally(() => (margin.ms = before));
  });

  it('ends after maxFeedAgeMs, and the run goes on', async () => {
    const { run, answer } = scripted();
    const { handler, until } = await served({ run, maxFeedAgeMs: 20 });
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await stream.answer();
    assert.deepEqual(await stream.statuses(), ['running']);
    answer('Green');
    assert.deepEqual(textsOf(await until(2)), ['m1', 'Green']);
  });

  it('is left by its client, and the run goes on', async () => {
    const { run, answer } = scripted();
    const { handler, until } = await served({ run });
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await stream.answer();
    await stream.end();
    answer('Green');
    assert.deepEqual(textsOf(await until(2)), ['m1', 'Green']);
  });

  it('is not opened for a rewind whose client leaves before it is stored', async () => {
    const { run, answer, asked: seen } = scripted();
    const { service, handler, ask, until } = await served({ run });
    answer('Green');
    await ask(EVENTS, asked('m1'));
    await until(2);
    const followers = countFollowers(service);
    const [begun, stored] = [gate(), gate()];
    const { getEvents } = service;
    service.getEvents = async (request) => {
      begun.open();
      await stored.opened;
      return Reflect.apply(getEvents, service, [request]);
    };
    const client = new AbortController();
    const rewind = requestTo(`${SESSION}/rewind`, { body: sentAgain, headers: ACCEPT });
    const asking = handler(new Request(rewind, { signal: client.signal }));
    await begun.opened;
    client.abort();
    assert.equal((await asking).status, 504);
    stored.open();
    answer('Black');
    await until(5);
    assert.deepEqual([seen, followers.all], [['m1', 'm1'], 0]);
  });

  it('tells the end of a run that close stops, and ends', async () => {
    const { run } = scripted();
    const { handler } = await served({ run });
    const stream = readerOf(await handler(requestTo(EVENTS, streamed('m1'))));
    await stream.answer();
    const statuses = stream.statuses();
    await handler.close({ graceMs: 0 });
    assert.deepEqual(await statuses, ['running', 'ended']);
  });

  it('at another handler ends when that handler closes', async () => {
    const { run, answer } = scripted();
    const { service, handler, until } = await served({ run });
    const other = sessionHandler(service, { authorize: () => true, run });
    await (await handler(requestTo(EVENTS, asked('m1')))).text();
    const stream = readerOf(await other(requestTo(EVENTS, streamed('m1'))));
    await stream.answer();
    await stream.report();
    await other.close();
    assert.deepEqual(await stream.statuses(), []);
    answer('Green');
    await until(2);
  });

  it('comes through nodeListener piece by piece', async () => {
    const { run, answer } = scripted();
    const { handler } = await served({ run });
    const listener = nodeListener(handler);
    const server = httpServer((request, response) => void listener(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const response = await fetch(`http://127.0.0.1:${port}${EVENTS}`, {
      method: 'POST',
      headers: { ...ACCEPT, 'content-type': 'application/json' },
      body: JSON.stringify({ events: [messageJson('m1')], run: { streaming: true } }),
    });
    const stream = readerOf(response);
    await stream.answer();
    assert.equal((await stream.report())?.status, 'running');
    answer('Green');
    assert.equal((await stream.statuses()).at(-1), 'ended');
    server.close();
  });
});

const scriptedEcho: RunAgent = async function* ({ session }) {
  await session();
  yield { author: 'guide', content: says('Green') };
};
