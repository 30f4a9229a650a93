// Refused, lost, late, doubled and garbled responses: a typed error or a repetition, and nothing half applied.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';

import {
  createEvent,
  InMemorySessionService,
  isSessionError,
  type Session,
  type SessionErrorCode,
  StateSchemaError,
} from '../../../../../js/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from '../fixture.js';
import { brokenOff, type Fault, FAULTS, json, openFaulty, refused } from './faults.js';
import { failsWith } from '../../../fails_with.js';

const said = (id: string) =>
  createEvent({
    id,
    author: 'user',
    actions: { stateDelta: { last: id, [`has ${id}`]: true } },
  });

const idsOf = (session: Session | undefined) => session?.events.map(({ id }) => id);

describe('An append of a remote service', () => {
  for (const [title, fault] of Object.entries(FAULTS)) {
    it(`is stored once if ${title}`, async () => {
      const { remote, service, faults } = openFaulty();
      const session = await remote.createSession(KEY);
      await remote.appendEvent({ session, event: said('e1') });
      faults.push(fault);
      await remote.appendEvent({ session, event: said('e2') });
      assert.equal(faults.length, 0);
      await remote.appendEvent({ session, event: said('e3') });
      const stored = await service.getSession(KEY);
      assert.deepEqual(idsOf(stored), ['e1', 'e2', 'e3']);
      assert.deepEqual(idsOf(session), ['e1', 'e2', 'e3']);
      assert.deepEqual(session.state, stored?.state);
    });

    it(`that always fails changes no handle, and can be called again: ${title}`, async () => {
      const { remote, service, faults } = openFaulty({ retries: 1 });
      const session = await remote.createSession(KEY);
      const before = structuredClone(session);
      faults.push(fault, fault);
      const event = said('e1');
      await assert.rejects(remote.appendEvent({ session, event }), (error) => {
        return isSessionError(error, 'connection_lost') || isSessionError(error, 'remote');
      });
      assert.deepEqual({ ...session }, before);
      await remote.appendEvent({ session, event });
      assert.deepEqual(idsOf(await service.getSession(KEY)), ['e1']);
      assert.deepEqual(idsOf(session), ['e1']);
    });
  }

  it('is stored once if its request arrives twice', async () => {
    const { remote, service, faults } = openFaulty();
    const session = await remote.createSession(KEY);
    faults.push(async (send) => {
      await send();
      return send();
    });
    await remote.appendEvent({ session, event: said('e1') });
    await remote.appendEvent({ session, event: said('e2') });
    assert.deepEqual(idsOf(await service.getSession(KEY)), ['e1', 'e2']);
    assert.deepEqual(idsOf(session), ['e1', 'e2']);
  });

  it('is safe with stale: reject when its response is lost', async () => {
    const { remote, service, faults } = openFaulty({ stale: 'reject' });
    const session = await remote.createSession(KEY);
    faults.push(FAULTS['the connection breaks before the response']!);
    await remote.appendEvent({ session, event: said('e1') });
    await remote.appendEvent({ session, event: said('e2') });
    assert.deepEqual(idsOf(await service.getSession(KEY)), ['e1', 'e2']);
    const other = (await service.getSession(KEY))!;
    await service.appendEvent({ session: other, event: said('e3') });
    await assert.rejects(
      remote.appendEvent({ session, event: said('e4') }),
      failsWith('stale_session'),
    );
    assert.deepEqual(idsOf(session), ['e1', 'e2']);
  });

  it('that may be stored says so, even if its repetition is refused', async () => {
    const { remote, faults } = openFaulty();
    const session = await remote.createSession(KEY);
    faults.push(FAULTS['the connection breaks before the response']!, () =>
      json({ detail: 'no' }, 403),
    );
    await assert.rejects(
      remote.appendEvent({ session, event: said('e1') }),
      failsWith('connection_lost'),
    );
  });

  it('that the server never answers ends at its timeout, and is not sent again', async () => {
    const { remote, service, faults, sent } = openFaulty({ timeoutMs: 100 });
    const session = await remote.createSession(KEY);
    const count = sent.length;
    faults.push(async (send, signal) => {
      await send();
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    const event = said('e1');
    await assert.rejects(
      remote.appendEvent({ session, event }),
      failsWith('connection_lost', /100 ms/),
    );
    assert.equal(sent.length, count + 1);
    assert.deepEqual(session.events, []);
    await remote.appendEvent({ session, event });
    assert.deepEqual(idsOf(await service.getSession(KEY)), ['e1']);
  });
});

describe('A remote service', () => {
  const calls: Readonly<Record<string, (remote: RemoteSessionService) => Promise<unknown>>> = {
    createSession: (remote) => remote.createSession({ ...KEY, sessionId: 'new' }),
    updateState: (remote) => remote.updateState({ appName: 'shop', stateDelta: { 'app:a': 1 } }),
    updateSession: (remote) => remote.updateSession(KEY, { title: 'Tea' }),
    // The session may have been created again since.
    deleteSession: (remote) => remote.deleteSession(KEY),
    deleteUser: (remote) => remote.deleteUser(KEY),
    deleteAppState: (remote) => remote.deleteAppState(KEY),
  };
  for (const [name, call] of Object.entries(calls)) {
    it(`sends ${name} only once if its response is lost`, async () => {
      const { remote, faults, sent } = openFaulty();
      await remote.createSession(KEY);
      const count = sent.length;
      faults.push(FAULTS['the connection breaks before the response']!);
      await assert.rejects(call(remote), failsWith('connection_lost'));
      assert.equal(sent.length, count + 1);
    });
  }

  it('does not take a page in place of a response for a change that was made', async () => {
    for (const [name, call] of Object.entries(calls)) {
      const { remote, faults } = openFaulty();
      await remote.createSession(KEY);
      for (const text of ['<html>', '', '{}', 'true']) {
        faults.push(() => json(text));
        await assert.rejects(call(remote), failsWith('connection_lost', /may be stored/), name);
      }
    }
  });

  it('reads the session that getOrCreateSession created if the response is lost', async () => {
    const { remote, faults } = openFaulty();
    await remote.ping();
    faults.push((send) => send(), FAULTS['the connection breaks before the response']!);
    const session = await remote.getOrCreateSession({ ...KEY, state: { a: 1 } });
    assert.deepEqual(session.state, { a: 1 });
  });

  const reads: Readonly<Record<string, (remote: RemoteSessionService) => Promise<unknown>>> = {
    getSession: (remote) => remote.getSession(KEY),
    listSessions: (remote) => remote.listSessions({ appName: 'shop' }),
    listEvents: (remote) => remote.listEvents(KEY),
    getUserState: (remote) => remote.getUserState(KEY),
  };
  // `null` with the header of the handler says that there is no such session.
  const forms: readonly unknown[] = ['<html>', '', '7', '[]', '"text"', '[null]', '[1,7]'];
  for (const [name, call] of Object.entries(reads)) {
    it(`refuses responses to ${name} that are of another form`, async () => {
      const { remote, faults } = openFaulty({ retries: 0 });
      await remote.createSession(KEY);
      for (const form of forms) {
        faults.push(() => json(form));
        await assert.rejects(call(remote), failsWith('remote', /something else/), String(form));
      }
      await call(remote);
    });

    it(`repeats ${name} after a failure that may pass, and not after others`, async () => {
      const { remote, faults, sent } = openFaulty();
      await remote.createSession(KEY);
      faults.push(brokenOff, refused(503), () => json('<html>'));
      await call(remote);
      assert.equal(faults.length, 0);
      const count = sent.length;
      for (const status of [400, 401, 403, 404, 405, 418]) {
        faults.push(refused(status));
        await assert.rejects(call(remote), failsWith('remote'));
      }
      faults.push(() => json({ detail: 'damaged', code: 'corrupt_record' }, 500));
      await assert.rejects(call(remote), failsWith('corrupt_record'));
      assert.equal(sent.length, count + 7);
    });
  }

  it('waits no longer for a server than its timeout allows', async () => {
    const { remote, faults, sent } = openFaulty({ timeoutMs: 5000 });
    await remote.ping();
    const { length } = sent;
    faults.push(refused(503, { 'retry-after': '3600' }));
    await assert.rejects(remote.getSession(KEY), failsWith('remote', /503/));
    assert.equal(sent.length, length + 1);
  });

  it('translates the codes of the server that mean something else here', async () => {
    const { remote, faults } = openFaulty({ retries: 0 });
    await remote.ping();
    for (const [code, expected] of [
      ['aborted', 'connection_lost'],
      ['closed', 'storage_unavailable'],
      ['internal', 'remote'],
      ['quota_exceeded', 'quota_exceeded'],
      ['made_up', 'remote'],
    ] as const) {
      faults.push(() => json({ detail: 'no', code }, 503));
      await assert.rejects(remote.getSession(KEY), failsWith(expected));
    }
  });

  it('asks again what the server is if that failed, and takes no other server for one', async () => {
    const { remote, faults } = openFaulty({ retries: 0 });
    const answers: readonly (readonly [Fault, SessionErrorCode])[] = [
      [brokenOff, 'connection_lost'],
      [() => Promise.resolve(new Response('<html>')), 'remote'],
      [() => Promise.resolve(Response.json({ version: '1' })), 'remote'],
      [() => json({}, 200, { 'adk-session-protocol': '2.0' }), 'unsupported'],
      [() => Promise.resolve(new Response(null, { status: 302 })), 'remote'],
    ];
    for (const [fault, code] of answers) {
      faults.push(fault);
      await assert.rejects(remote.getSession(KEY), failsWith(code));
    }
    assert.equal(await remote.getSession(KEY), undefined);
  });

  it('ends the calls whose signals fire while it asks what the server is, and no others', async () => {
    const { remote, faults } = openFaulty();
    let answer = (): void => undefined;
    faults.push((send) => new Promise((resolve) => (answer = () => resolve(send()))));
    const other = remote.createSession(KEY);
    const controller = new AbortController();
    const { signal } = controller;
    const session = { ...KEY, id: 's1', state: {}, events: [], lastUpdateTime: 0 };
    const calls = [
      remote.getSession({ ...KEY, signal }),
      remote.createSession({ ...KEY, sessionId: 's2', signal }),
      remote.appendEvent({ session, event: said('e1'), signal }),
      remote.listSessions({ appName: 'shop', signal }),
      remote.updateSession({ ...KEY, signal }, { title: 'Tea' }),
    ].map((call) => assert.rejects(call, failsWith('aborted')));
    setImmediate(() => controller.abort());
    await Promise.all(calls);
    answer();
    assert.equal((await other).id, 's1');
    const { sessions } = await remote.listSessions({ appName: 'shop' });
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['s1'],
    );
  });

  it('ends its calls when their signals fire, and when it is closed', async () => {
    const { remote, faults, sent } = openFaulty();
    await remote.createSession(KEY);
    const count = sent.length;
    const signal = AbortSignal.abort();
    await assert.rejects(remote.getSession({ ...KEY, signal }), failsWith('aborted'));
    assert.equal(sent.length, count);
    const never: Fault = () => new Promise(() => undefined);
    faults.push(never, never);
    const controller = new AbortController();
    const aborted = remote.getSession({ ...KEY, signal: controller.signal });
    const closed = assert.rejects(remote.getSession(KEY), failsWith('closed'));
    setImmediate(() => controller.abort());
    await assert.rejects(aborted, failsWith('aborted'));
    await remote.close({ timeoutMs: 10 });
    await closed;
  });
});

it('A StateSchemaError of the server comes as one, with the key', async () => {
  const stateSchema = { topic: z.string() };
  const fetch = fetchFrom(handlerOn(new InMemorySessionService({ stateSchema })));
  const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
  const session = await remote.createSession(KEY);
  const wrong = { topic: 5 };
  const event = createEvent({ actions: { stateDelta: wrong } });
  for (const call of [
    () => remote.appendEvent({ session, event }),
    () => remote.updateState({ ...KEY, stateDelta: wrong }),
    () => remote.createSession({ ...KEY, sessionId: 's2', state: wrong }),
    () => remote.getOrCreateSession({ ...KEY, sessionId: 's2', state: wrong }),
  ]) {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof StateSchemaError);
      assert.deepEqual([error.name, error.code], ['StateSchemaError', 'schema_violation']);
      assert.equal(error.key, 'topic');
      return error.message.includes('topic');
    });
  }
});
