// One database, two services: ours and that of google-adk for Python.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';

import { DatabaseSessionService } from '../../js/database/index.js';
import { createEvent, type Event, REMOVED } from '../../js/index.js';
import { type PythonProcess, startPython } from './python.js';

interface PythonSession {
  state: Record<string, unknown>;
  events: Event[];
  lastUpdateTime: number;
  error?: string;
}

const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-python-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const pythonKey = { app_name: 'shop', user_id: 'ada', session_id: 's1' };
const textOf = (event: { content?: Event['content'] }): unknown => event.content?.parts?.[0]?.text;
const say = (text: string, stateDelta: Record<string, unknown> = {}) =>
  createEvent({ author: 'user', content: { parts: [{ text }] }, actions: { stateDelta } });
const pythonSay = (text: string, state: Record<string, unknown> = {}) => ({
  author: 'agent',
  invocation_id: 'i',
  content: { parts: [{ text }] },
  actions: { state_delta: state },
});

describe('On one SQLite file', { timeout: 120_000 }, () => {
  let service: DatabaseSessionService;
  let process: PythonProcess;
  const ask = async (call: string, given: unknown): Promise<PythonSession> =>
    JSON.parse(await process.ask([call, given])) as PythonSession;

  beforeEach(() => {
    const file = join(folder, `${++files}.db`);
    service = new DatabaseSessionService(`sqlite:${file}`);
    process = startPython('sessions.py', `sqlite+aiosqlite:///${file}`);
  });
  afterEach(async () => {
    await service.close();
    await process.end();
  });

  it('we continue what Python began, and Python what we did', async () => {
    const state = { topic: 'tea', 'user:name': 'Ada', 'app:currency': 'KRW', gone: 1 };
    await ask('create', { ...pythonKey, state });
    await ask('append', pythonSay('one', { topic: 'milk' }));

    const session = await service.getSession(key);
    assert.ok(session);
    assert.deepEqual(session.state, { ...state, topic: 'milk' });
    assert.deepEqual(session.events.map(textOf), ['one']);
    await service.appendEvent({ session, event: say('two', { gone: REMOVED, 'app:n': 1 }) });

    const left = { topic: 'milk', 'user:name': 'Ada', 'app:currency': 'KRW', 'app:n': 1 };
    const inPython = await ask('get', pythonKey);
    assert.deepEqual(inPython.state, left);
    assert.deepEqual(inPython.events.map(textOf), ['one', 'two']);
    assert.deepEqual(inPython.events[1]?.actions.stateDelta, { gone: null, 'app:n': 1 });
    const appended = await ask('append', pythonSay('three', { 'user:name': 'Eve' }));
    assert.equal(appended.error, undefined);

    const again = await service.getSession(key);
    assert.deepEqual(again?.events.map(textOf), ['one', 'two', 'three']);
    assert.deepEqual(again?.state, { ...left, 'user:name': 'Eve' });
    assert.deepEqual(again?.events[1]?.actions.stateDelta, { gone: REMOVED, 'app:n': 1 });
  });

  it('Python reads our sessions, and what it does not know stays for us', async () => {
    const session = await service.createSession({ ...key, state: { 'user:n': 1, k: null } });
    const event = {
      ...say('one'),
      myField: { a_b: 1 },
      content: { parts: [{ text: 'one', newKind: { x: 1 } }], role: 'user' },
      usageMetadata: { promptTokenCount: 3, newCount: 5 },
    };
    await service.appendEvent({ session, event });

    const inPython = await ask('get', pythonKey);
    assert.deepEqual(inPython.state, { 'user:n': 1, k: null });
    const [read] = inPython.events;
    assert.deepEqual(read?.content, { parts: [{ text: 'one' }], role: 'user' });
    assert.deepEqual(read.usageMetadata, { promptTokenCount: 3 });
    assert.equal(read.id, event.id);
    assert.equal(read.timestamp, event.timestamp / 1000);
    assert.equal((await ask('append', pythonSay('two', { k: 2 }))).error, undefined);

    const again = await service.getSession(key);
    assert.deepEqual(again?.events[0], event);
    assert.deepEqual(again?.state, { 'user:n': 1, k: 2 });
  });

  it('a session that Python has loaded is stale once we have written', async () => {
    await ask('create', pythonKey);
    const session = await service.getSession(key);
    assert.ok(session);
    await service.appendEvent({ session, event: say('ours') });
    assert.equal((await ask('append', pythonSay('theirs'))).error, 'StaleSessionError');
    await ask('get', pythonKey);
    assert.equal((await ask('append', pythonSay('theirs'))).error, undefined);

    await service.appendEvent({ session, event: say('ours again') });
    assert.deepEqual(session.events.map(textOf), ['ours', 'theirs', 'ours again']);
  });

  it("numbers of Python's that we do not have are left as they are until their key is written", async () => {
    // JSON as Python's parser takes it.
    const [large, none] = ['12345678901234567890', '[NaN, -Infinity]'];
    await process.ask(['create', { ...pythonKey, state: `{"large": ${large}, "none": ${none}}` }]);
    const session = await service.getSession(key);
    assert.ok(session);
    assert.deepEqual(session.state, { large: Number(large), none: [null, null] });
    await service.appendEvent({ session, event: say('one', { other: 1 }) });

    const kept = await process.ask(['get', pythonKey]);
    assert.match(
      kept,
      /"state": \{"large": 12345678901234567890, "none": \[null, null\], "other": 1\}/,
    );
    await service.appendEvent({ session, event: say('two', { large: 5 }) });
    assert.equal((await ask('get', pythonKey)).state.large, 5);
  });
});
