// The response to a message with run: a whole body, or a stream with the reports of its run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../../js/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { coreOf } from '../../../../../js/core/core_of.js';
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

  it('is an error if it ends before the answer', async () => {
    await assert.rejects(new RunStream(never).readAnswer(responseOf(': still here\n\n')), /before/);
  });

  it('that is lost before the answer is sent again: one message, one run', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const handler = handlerOn(service, { run: echo });
    const fetchWith = fetchFrom(handler);
    let isLost = false;
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: (async (input: string, init?: RequestInit) => {
        const response = await fetchWith(input, init);
        const isStream = init?.method === 'POST' && !isLost;
        if (!isStream) return response;
        assert.equal(response.headers.get('content-type'), 'text/event-stream');
        isLost = true;
        await response.body?.cancel();
        return new Response(': still here\n\n', response);
      }) as typeof fetch,
    });
    const session = (await remote.getSession(KEY))!;
    const stop = coreOf(remote).serverAgent!.follow(KEY, () => undefined);
    const content = { role: 'user', parts: [{ text: 'hi' }] };
    const event = { id: 'm1', invocationId: 'i1', author: 'user', content };
    await remote.appendEvent({ session, event, run: {} });
    for (let texts: unknown[] = []; texts.length < 2; await new Promise(setImmediate)) {
      texts = textsOf((await service.getSession(KEY))!.events);
      if (texts.length >= 2) assert.deepEqual(texts, ['hi', 'hi!']);
    }
    assert.equal(isLost, true);
    stop();
    await remote.close();
    await handler.close();
  });
});
