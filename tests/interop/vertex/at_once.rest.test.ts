// Concurrent clients of one session of an agent engine, and lost responses.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import type { Session } from '../../../js/index.js';
import { type AgentEngine, startAgentEngine } from './agent_engine.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, pythonEvent, userEvent, firstText } from '../shared_session.js';

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

describe('Concurrent use of one agent engine', { timeout: 120_000 }, () => {
  let engine: AgentEngine;
  beforeEach(async () => {
    engine = await startAgentEngine(python);
  });
  afterEach(() => engine.end());

  const read = async (): Promise<Session> => {
    const session = await engine.service.getSession(KEY);
    assert.ok(session);
    return session;
  };
  const textsInPython = async () =>
    (await python.ask('get', PYTHON_KEY)).events.map((event) => firstText(event));

  it('keeps all appends of Python and two services of the package', async () => {
    const session = await engine.service.createSession(KEY);
    const other = await engine.newService().getSession(KEY);
    assert.ok(other);
    await python.ask('get', PYTHON_KEY);
    const theirs = Array.from({ length: 30 }, (_, n) =>
      pythonEvent(`python ${n}`, { [`p${n}`]: n }),
    );
    const append = async (service: AgentEngine['service'], handle: Session, who: string) => {
      for (let n = 0; n < 15; n += 1) {
        await service.appendEvent({
          session: handle,
          event: userEvent(`${who} ${n}`, { [`${who}${n}`]: n }),
        });
      }
    };
    const [answer] = await Promise.all([
      python.ask('append all', theirs),
      append(engine.service, session, 'a'),
      append(engine.newService(), other, 'b'),
    ]);
    assert.equal(answer.error, undefined);

    const whole = await read();
    const texts = whole.events.map(firstText);
    assert.equal(texts.length, 60);
    assert.equal(new Set(texts).size, 60);
    for (const [who, count] of [
      ['python', 30],
      ['a', 15],
      ['b', 15],
    ] as const) {
      const own = texts.filter((text) => String(text).startsWith(`${who} `));
      assert.deepEqual(
        own,
        Array.from({ length: count }, (_, n) => `${who} ${n}`),
      );
    }
    assert.equal(Object.keys(whole.state).length, 60);
    assert.deepEqual((await textsInPython()).sort(), [...texts].sort());

    // Missed events reach a handle at its next append.
    await engine.service.appendEvent({ session, event: userEvent('last') });
    assert.deepEqual(session.events.map(firstText).sort(), [...texts, 'last'].sort());
    assert.deepEqual(session.state, whole.state);
  });

  it('stores an append once after a lost response, even if Python appends in between', async () => {
    const { server, service } = engine;
    const session = await service.createSession(KEY);
    await python.ask('get', PYTHON_KEY);
    server.fail('sessions.appendEvent', { kind: 'lose' });
    const meanwhile = () => python.ask('append', pythonEvent('python'));
    // The first list is read before the append, and this is what it holds; the second is to find the lost one.
    server.fail('events.list', { kind: 'answer', text: '{}' });
    server.fail('events.list', { kind: 'before', action: meanwhile });
    await service.appendEvent({ session, event: userEvent('one', { n: 1 }) });
    await service.appendEvent({ session, event: userEvent('two', { n: 2 }) });
    assert.ok(server.allFaultsUsed);
    assert.deepEqual((await read()).events.map(firstText).sort(), ['one', 'python', 'two']);
    assert.deepEqual((await textsInPython()).sort(), ['one', 'python', 'two']);
  });

  it('repeats an append that never arrived, and not one that was refused', async () => {
    const { server, service } = engine;
    const session = await service.createSession(KEY);
    server.fail('sessions.appendEvent', { kind: 'drop' });
    server.refuse('sessions.appendEvent', 503);
    server.fail('sessions.appendEvent', { kind: 'deny', code: 504, message: 'Late.' });
    await service.appendEvent({ session, event: userEvent('one') });
    assert.ok(server.allFaultsUsed);
    server.refuse('sessions.appendEvent', 403);
    await assert.rejects(service.appendEvent({ session, event: userEvent('no') }), {
      code: 'remote',
    });
    assert.deepEqual(session.events.map(firstText), ['one']);
    assert.deepEqual(await textsInPython(), ['one']);
  });

  it('finds a session that Python creates in between, and does not create it again', async () => {
    const { server, service } = engine;
    const state = { by: 'python' };
    server.fail('sessions.create', {
      kind: 'before',
      action: () => python.ask('create', { ...PYTHON_KEY, state }),
    });
    await assert.rejects(service.createSession({ ...KEY, state: { by: 'us' } }), {
      code: 'already_exists',
    });
    assert.deepEqual((await read()).state, state);
    assert.deepEqual((await service.getOrCreateSession(KEY)).state, state);
  });

  it('creates a session once after a lost response', async () => {
    const { server, service } = engine;
    server.fail('sessions.create', { kind: 'lose' });
    const session = await service.createSession({ ...KEY, state: { n: 1 } });
    assert.deepEqual(session.state, { n: 1 });
    assert.equal(server.calls.filter((call) => call === 'sessions.create').length, 1);
    assert.deepEqual((await python.ask('get', PYTHON_KEY)).state, { n: 1 });
  });

  it('reports a session that Python deletes in between, and does not create it again', async () => {
    const { server, service } = engine;
    const session = await service.createSession(KEY);
    const action = () => python.ask('delete', PYTHON_KEY);
    server.fail('sessions.appendEvent', { kind: 'before', action });
    await assert.rejects(service.appendEvent({ session, event: userEvent('one') }), {
      code: 'not_found',
    });
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('makes a handle with `reject` stale after an append of Python', async () => {
    const service = engine.newService({ stale: 'reject' });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: userEvent('one') });
    await python.ask('get', PYTHON_KEY);
    await python.ask('append', pythonEvent('python'));
    await assert.rejects(service.appendEvent({ session, event: userEvent('two') }), {
      code: 'stale_session',
    });
    const again = await read();
    await service.appendEvent({ session: again, event: userEvent('two') });
    assert.deepEqual(await textsInPython(), ['one', 'python', 'two']);
  });
});
