// The remote client asks the agent of the handler.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import type { HttpConnection } from '../../../../js/stores/remote/connection/connection.js';
import { HandlerStore } from '../../../../js/stores/remote/handler_store.js';
import { RunReports } from '../../../../js/stores/remote/run_reports.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { RUN_STORE } from '../../../../js/service/runs/agent/run_context.js';
import { asks, says, storesMessage, textsOf } from '../../ui/live/runs/agents.js';
import { fetchFrom, handlerOn, KEY, openRemote, URL_OF_SERVER } from './fixture.js';
import { failsWith } from '../../fails_with.js';

const message = (id: string) => ({
  id,
  invocationId: `i-${id}`,
  author: 'user',
  content: asks(id),
});

function openWith(run: RunAgent) {
  const service = new InMemorySessionService();
  const handler = handlerOn(service, { run });
  let lost = 0;
  const seen: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    seen.push(`${request.method} ${new URL(request.url).pathname}`);
    const response = await fetchFrom(handler)(request);
    if (lost === 0 || request.method === 'GET') return response;
    lost -= 1;
    throw new TypeError('the answer is lost');
  };
  const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
  return { service, remote, seen, lose: (count: number) => (lost = count) };
}

describe('appendEvent with run', () => {
  it('stores the message once and runs once when answers are lost', async () => {
    const asked: string[] = [];
    const { service, remote, seen, lose } = openWith(async function* ({ message }) {
      asked.push(message.id);
      yield { author: 'guide', content: says('ok') };
    });
    const session = await remote.createSession(KEY);
    lose(2);
    await remote.appendEvent({ session, event: message('m1'), run: {} });
    await remote.appendEvent({ session, event: message('m1'), run: {} });
    assert.deepEqual(asked, ['m1']);
    assert.equal(seen.filter((one) => one.endsWith('/events')).length, 4);
    const { events } = (await service.getSession(KEY))!;
    assert.deepEqual(textsOf(events), ['m1', 'ok']);
    assert.deepEqual(textsOf((await remote.getSession(KEY))!.events), ['m1', 'ok']);
  });

  it('gives the event and the handle the content that a plugin has changed', async () => {
    const { remote, service } = openWith(
      storesMessage(async function* (context) {
        const { service, message } = context;
        const session = (await service.getSession(context))!;
        await context[RUN_STORE]!.storeMessage({
          service,
          session,
          message,
          content: asks('changed'),
        });
        yield { author: 'guide', content: says('ok') };
      }),
    );
    const session = await remote.createSession(KEY);
    const event = message('m1');
    await remote.appendEvent({ session, event, run: {} });
    assert.deepEqual(textsOf([event]), ['changed']);
    assert.equal(textsOf(session.events)[0], 'changed');
    assert.equal(textsOf((await service.getSession(KEY))!.events)[0], 'changed');
  });

  it('is unsupported over other services, before anything is stored', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const appending = service.appendEvent({ session, event: message('m1'), run: {} });
    await assert.rejects(appending, failsWith('unsupported'));
    assert.deepEqual((await service.getSession(KEY))!.events, []);
  });

  it('is unsupported over a server without an agent', async () => {
    const { remote } = openRemote();
    const session = await remote.createSession(KEY);
    const appending = remote.appendEvent({ session, event: message('m1'), run: {} });
    await assert.rejects(appending, failsWith('unsupported'));
  });

  it('rejects with agent_running during another run, which cancelRun ends', async () => {
    const { remote } = openWith(async function* ({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield { author: 'guide', content: says('ok') };
    });
    const session = await remote.createSession(KEY);
    await remote.appendEvent({ session, event: message('m1'), run: {} });
    const second = remote.appendEvent({ session, event: message('m2'), run: {} });
    await assert.rejects(second, failsWith('agent_running'));
    assert.equal(await remote.cancelRun({ ...KEY, messageId: 'm2' }), false);
    assert.equal(await remote.cancelRun(KEY), true);
    const { events } = (await remote.getSession(KEY))!;
    assert.equal(events.at(-1)?.errorCode, 'INVOCATION_ABORTED');
  });
});

describe('cancelRun without a message', () => {
  it('cancels no run that began before the answer came', async () => {
    const { appName, userId } = KEY;
    const owner = { appName, userId };
    const running = (id: string) => ({
      ...KEY,
      messageId: id,
      invocationId: `i-${id}`,
      status: 'running',
      drafts: [],
    });
    const reports = new RunReports();
    reports.receive({ type: 'runs', runs: [running('m1')] }, owner);
    const connection = {
      request() {
        reports.receive({ type: 'run', ...running('m2') }, owner);
        return Promise.resolve({ cancelled: true });
      },
    } as unknown as HttpConnection;
    const store = new HandlerStore(connection, reports);
    assert.equal(await store.cancelRun(KEY, undefined, {}), true);
    const { messageId, status } = reports.of(KEY)!;
    assert.deepEqual([messageId, status], ['m2', 'running']);
  });
});
