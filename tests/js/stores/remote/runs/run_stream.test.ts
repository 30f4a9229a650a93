// The response to a message with run: a whole body, or a stream with the reports of its run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../../js/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { coreOf } from '../../../../../js/core/core_of.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../../js/stores/http/protocol.js';
import { RunStream } from '../../../../../js/stores/remote/run_stream.js';
import { echo, textsOf } from '../../../ui/live/runs/agents.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from '../fixture.js';

const responseOf = (body: string, type = 'text/event-stream') =>
  new Response(body, { headers: { 'content-type': type } });
const never = new AbortController().signal;

/** Reads an answer and all that follows it. */
async function readAll(response: Response) {
  const stream = new RunStream(never);
  const answer = await stream.readAnswer(response);
  const reports: unknown[] = [];
  const { isOpen } = stream;
  await stream.read((data) => reports.push(data));
  return { answer, isOpen, reports };
}

describe('The response to a message with run', () => {
  it('is a whole body if it is no stream', async () => {
    const answer = '{"revision":1}';
    const read = await readAll(responseOf(answer, 'application/json'));
    assert.deepEqual(read, { answer, isOpen: false, reports: [] });
  });

  it('has the answer first, and then the reports; comments are left out', async () => {
    const body =
      ': still here\n\ndata: {"revision":1}\n\n: still here\n\ndata: {"a":1}\n\ndata: 2\n\n';
    const read = await readAll(responseOf(body));
    assert.deepEqual(read, { answer: '{"revision":1}', isOpen: true, reports: [{ a: 1 }, 2] });
  });

  it('ends quietly behind the answer, also if it is cut within a report or garbled', async () => {
    for (const rest of ['data: {"a":', 'data: {"a":\n\n']) {
      const { answer, reports } = await readAll(responseOf(`data: {}\n\n${rest}`));
      assert.deepEqual([answer, reports], ['{}', []]);
    }
  });

  it('reports what a listener throws as uncaught, and continues', async () => {
    const uncaught: unknown[] = [];
    globalThis.reportError = (error: unknown) => void uncaught.push(error);
    try {
      const stream = new RunStream(never);
      await stream.readAnswer(responseOf('data: {}\n\ndata: 1\n\ndata: 2\n\n'));
      const reports: unknown[] = [];
      await stream.read((data) => {
        reports.push(data);
        throw new Error('mine');
      });
      assert.deepEqual([reports, uncaught.length], [[1, 2], 2]);
    } finally {
      Reflect.deleteProperty(globalThis, 'reportError');
    }
  });

  it('is an error if it ends before the answer', async () => {
    await assert.rejects(new RunStream(never).readAnswer(responseOf(': still here\n\n')), /before/);
  });

  it('that is lost before the answer is sent again: one message, one run', async () => {
    let losses = 0;
    const { service, ask, types, end } = await followedPage(async (response) => {
      losses += 1;
      if (losses > 1) return response;
      await response.body?.cancel();
      return new Response(': still here\n\n', response);
    });
    await ask('m1');
    for (let texts: unknown[] = []; texts.length < 2; await new Promise(setImmediate)) {
      texts = textsOf((await service.getSession(KEY))!.events);
      if (texts.length >= 2) assert.deepEqual(texts, ['hi', 'hi!']);
    }
    assert.deepEqual([losses, types[0]], [2, 'text/event-stream']);
    await end();
  });

  it('that does not come in time is JSON when the message is sent again, and from then on', async () => {
    let isHeldBack = true;
    const { ask, types, end } = await followedPage(async (response) => {
      if (!isHeldBack) return response;
      isHeldBack = false;
      await response.body?.cancel();
      throw new DOMException('The time is over.', 'TimeoutError');
    });
    await assert.rejects(ask('m1'), { code: 'connection_lost' });
    await ask('m1');
    assert.deepEqual(types, ['text/event-stream', 'application/json']);
    await end();
  });
});

/** A page that follows a session. Its feed comes from another start of the server than the one that answers. */
async function followedPage(pass: (response: Response) => Response | Promise<Response>) {
  const service = new InMemorySessionService();
  await service.createSession(KEY);
  const handler = handlerOn(service, { run: echo });
  const fetchWith = fetchFrom(handler);
  const types: (string | null)[] = [];
  const remote = new RemoteSessionService({
    url: URL_OF_SERVER,
    fetch: (async (input: string, init?: RequestInit) => {
      if (input.endsWith('/changes')) return feedOfAnother();
      const response = await fetchWith(input, init);
      if (init?.method !== 'POST') return response;
      types.push(response.headers.get('content-type'));
      return pass(response);
    }) as typeof fetch,
  });
  const session = (await remote.getSession(KEY))!;
  let stop = (): void => undefined;
  await new Promise<void>((done) => {
    stop = coreOf(remote).serverAgent!.follow(KEY, () => done());
  });
  const content = { role: 'user', parts: [{ text: 'hi' }] };
  return {
    service,
    types,
    ask: (id: string) => {
      const event = { id, invocationId: 'i1', author: 'user', content };
      return remote.appendEvent({ session, event, run: {} });
    },
    async end() {
      stop();
      await remote.close();
      await handler.close();
    },
  };
}

/** A feed that stays open, and tells no runs. */
function feedOfAnother(): Response {
  const runs = JSON.stringify({ type: 'runs', runs: [], start: 'another', number: 0 });
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(`data: ${runs}\n\n`));
    },
  });
  const headers = { 'content-type': 'text/event-stream', [PROTOCOL_HEADER]: PROTOCOL_VERSION };
  return new Response(body, { headers });
}
