// The ends of a waiting call: its time limit, the caller's signal, the service's close; and the reasons of waits.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { createEvent, isSessionError } from '../../../../js/index.js';
import {
  type VertexAiOptions,
  VertexAiSessionService,
} from '../../../../js/service/vertex/index.js';
import {
  startVertexServer,
  type VertexServer,
  type VertexServerOptions,
} from '../../../vertex_server/server.js';
import { KEY, serviceOn } from './service.js';
import { failsWith } from '../../fails_with.js';

const said = (id: string) => createEvent({ id, author: 'user', invocationId: 'i' });

describe('A call over Vertex AI', () => {
  let server: VertexServer;
  let service: VertexAiSessionService;
  const restart = async (options: VertexServerOptions, of: VertexAiOptions = {}): Promise<void> => {
    await server.end();
    server = await startVertexServer(options);
    service = serviceOn(server, of);
  };
  beforeEach(async () => {
    server = await startVertexServer();
    service = serviceOn(server);
  });
  afterEach(async () => {
    await service.close();
    await server.end();
  });

  it('ends at its timeout although every request is in time', async () => {
    await service.createSession(KEY);
    const hasty = serviceOn(server, { callTimeoutMs: 700 });
    server.forget();
    server.refuse('sessions.get', 503, 10);
    await assert.rejects(hasty.getSession(KEY), (error: unknown) => {
      // On a busy machine the time ends during a request.
      if (isSessionError(error, 'connection_lost')) return error.message.includes('within 700 ms');
      return failsWith('remote', /503/)(error);
    });
    // Half of each pause is random: the third or the fourth does not fit into the time.
    const reads = server.calls.filter((call) => call === 'sessions.get').length;
    assert.ok(reads >= 1 && reads <= 4, `there were ${reads} reads`);
  });

  it('ends at its timeout while it waits for another call of its session', async () => {
    await service.createSession(KEY);
    const hasty = serviceOn(server, { callTimeoutMs: 500 });
    const [one, other] = await Promise.all([hasty.getSession(KEY), hasty.getSession(KEY)]);
    assert.ok(one && other);
    // Between the two timeouts the second call may get its turn.
    for (let call = 0; call < 2; call += 1) server.fail('sessions.appendEvent', { kind: 'hang' });
    const appended = [
      hasty.appendEvent({ session: one, event: said('e1') }),
      hasty.appendEvent({ session: other, event: said('e2') }),
    ];
    for (const outcome of await Promise.allSettled(appended)) {
      assert.equal(outcome.status, 'rejected');
      failsWith('connection_lost', /finish the call within 500 ms/)(outcome.reason);
    }
    assert.equal(server.events('s1').length, 0);
  });

  it('ends when its signal fires during a read', async () => {
    await service.createSession(KEY);
    const controller = new AbortController();
    const reason = new Error('enough');
    let started = 0;
    const { signal } = controller;
    for (const call of ['sessions.get', 'sessions.list'] as const) {
      server.fail(call, { kind: 'before', action: () => void (started += 1) });
      server.fail(call, { kind: 'hang' });
    }
    const reads = [
      service.getSession({ ...KEY, signal }),
      service.listSessions({ appName: KEY.appName, signal }),
    ];
    while (started < 2) await new Promise(setImmediate);
    controller.abort(reason);
    for (const read of reads) {
      await assert.rejects(read, (error) => {
        assert.equal((error as Error).cause, reason);
        return failsWith('aborted', /nothing was written/)(error);
      });
    }
  });

  it('ends when its signal fires before the event is posted, which then is not', async () => {
    const session = await service.createSession(KEY);
    const controller = new AbortController();
    server.fail('events.list', { kind: 'before', action: () => controller.abort() });
    server.fail('events.list', { kind: 'hang' });
    const { signal } = controller;
    await assert.rejects(
      service.appendEvent({ session, event: said('e1'), signal }),
      failsWith('aborted', /nothing was written/),
    );
    assert.deepEqual([session.events, server.events('s1')], [[], []]);
    await service.appendEvent({ session, event: said('e1') });
    assert.equal(server.events('s1').length, 1);
  });

  it('reports the outcome of the event if its signal fires after the post', async () => {
    const session = await service.createSession(KEY);
    const controller = new AbortController();
    server.fail('sessions.appendEvent', { kind: 'before', action: () => controller.abort() });
    const { signal } = controller;
    await service.appendEvent({ session, event: said('e1'), signal });
    assert.equal(session.events.length, 1);
    assert.equal(server.events('s1').length, 1);
  });

  it('leaves the queue when its signal fires', async () => {
    const session = await service.createSession(KEY);
    const [one, other] = [await service.getSession(KEY), await service.getSession(KEY)];
    assert.ok(one && other);
    const controller = new AbortController();
    const { signal } = controller;
    server.fail('events.list', { kind: 'before', action: () => controller.abort() });
    const first = service.appendEvent({ session, event: said('e1') });
    const second = service.appendEvent({ session: one, event: said('e2'), signal });
    const third = service.appendEvent({ session: other, event: said('e3') });
    await assert.rejects(second, failsWith('aborted', /aborted/));
    await Promise.all([first, third]);
    const ids = server.events('s1').map(({ rawEvent }) => (rawEvent as { id: string }).id);
    assert.deepEqual(ids, ['e1', 'e3']);
  });

  it('ends at a close without responses, and so does a waiting retry', async () => {
    const session = await service.createSession(KEY);
    server.fail('sessions.appendEvent', { kind: 'hang' });
    server.refuse('sessions.list', 503, 10, '3600');
    const outcomes = Promise.allSettled([
      service.appendEvent({ session, event: said('e1') }),
      service.listSessions({ appName: KEY.appName }),
    ]);
    await service.close();
    const [appended, listed] = await outcomes;
    assert.equal(appended.status, 'rejected');
    failsWith('closed', /An append may be stored/)(appended.reason);
    assert.equal(listed.status, 'rejected');
  });

  it('finishes during a close while the server responds', async () => {
    const session = await service.createSession(KEY);
    const appended = service.appendEvent({ session, event: said('e1') });
    await service.close();
    await appended;
    assert.equal(server.events('s1').length, 1);
  });

  for (const [title, retryAfter] of [
    ['a number of seconds', () => '1'],
    ['a date', () => new Date(Date.now() + 2000).toUTCString()],
  ] as const) {
    it(`waits for the Retry-After of a 429, ${title}`, async (t) => {
      await service.createSession(KEY);
      server.refuse('sessions.get', 429, 1, retryAfter());
      const pauses: number[] = [];
      const real = globalThis.setTimeout;
      t.mock.method(globalThis, 'setTimeout', (run: () => void, milliseconds = 0) => {
        // Longer ones are time limits.
        const isPause = milliseconds <= 2000;
        if (isPause) pauses.push(milliseconds);
        return real(run, isPause ? 0 : milliseconds);
      });
      assert.ok(await service.getSession(KEY));
      // A shorter pause would be the package's own first one. A date has whole seconds.
      assert.ok(Math.max(...pauses) > 900, pauses.join());
    });
  }

  it('fails at once if a Retry-After exceeds its timeout, and says how long', async () => {
    await service.createSession(KEY);
    server.refuse('sessions.get', 429, 1, '3600');
    await assert.rejects(service.getSession(KEY), failsWith('remote', /asks to wait 3600 s/));
  });

  it('reads all events if the server refuses the newest-first order', async () => {
    await restart({ pageSize: 1 });
    const session = await service.createSession(KEY);
    for (const id of ['e1', 'e2', 'e3', 'e4']) {
      await service.appendEvent({ session, event: said(id) });
    }
    server.forget();
    const read = async (): Promise<number> => {
      server.forget();
      await service.getSession({ ...KEY, config: { numRecentEvents: 1 } });
      return server.calls.filter((call) => call === 'events.list').length;
    };
    server.refuse('events.list', 400);
    const [refused, ordered] = [await read(), await read()];
    assert.ok(refused > 4 && ordered < 4, `${refused}, ${ordered}`);
  });
});
