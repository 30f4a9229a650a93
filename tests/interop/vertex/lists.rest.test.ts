// Lists, pages of events, titles and numbers on an agent engine that @google/adk and Python write between the calls.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import type { EventsPage } from '../../../js/index.js';
import { adkSay } from './adk_vertex.js';
import { type AgentEngine, startAgentEngine } from './agent_engine.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { firstText, KEY, PYTHON_KEY, pythonEvent, userEvent } from '../shared_session.js';

const { appName, userId } = KEY;
const DESCRIPTION = { title: 'Green tea', labels: { pinned: 'yes' } };

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

describe('On one agent engine', { timeout: 120_000 }, () => {
  let engine: AgentEngine;
  beforeEach(async () => {
    // @google/adk names every action, also those that the API does not have.
    engine = await startAgentEngine(python, { pageSize: 3, unknownNames: 'ignored' });
  });
  afterEach(() => engine.end());

  const appendByAdk = async (sessionId: string, text: string) => {
    const session = await engine.adk.getSession({ appName, userId, sessionId });
    await engine.adk.appendEvent({ session: session!, event: adkSay(text, {}) });
  };
  const appendByPython = async (text: string) => {
    await python.ask('get', PYTHON_KEY);
    assert.equal((await python.ask('append', pythonEvent(text))).error, undefined);
  };

  it('a cursor of a list leads on while the others append, create and delete', async () => {
    const { service, adk } = engine;
    for (const sessionId of ['s1', 's2', 's3', 's4']) {
      await service.createSession({ appName, userId, sessionId });
    }
    const list = { appName, userId, limit: 2 };
    const first = await service.listSessions(list);
    await appendByAdk('s2', 'one');
    await adk.deleteSession({ appName, userId, sessionId: 's3' });
    await adk.createSession({ appName, userId, sessionId: 's5' });
    await appendByPython('two');
    const second = await service.listSessions({ ...list, limit: 9, cursor: first.nextCursor });
    const ids = [...first.sessions, ...second.sessions].map(({ id }) => id);
    assert.deepEqual(ids, ['s1', 's2', 's4', 's2', 's5', 's1']);
    const walked = [];
    for await (const { id } of service.sessions({ appName, userId, limit: 1 })) {
      walked.push(id);
      if (walked.length === 1) await appendByAdk('s4', 'three');
    }
    assert.deepEqual([...walked].sort(), ['s1', 's2', 's4', 's5']);
  });

  it('cursors of events, numbers and the title stay right, and a session made again inherits nothing', async () => {
    const { service, adk } = engine;
    const session = await service.createSession({ ...KEY, ...DESCRIPTION });
    const usageMetadata = { promptTokenCount: 3, totalTokenCount: 5 };
    const event = { ...userEvent('one'), modelVersion: 'm', usageMetadata };
    await service.appendEvent({ session, event });
    await appendByAdk(KEY.sessionId, 'two');
    const last = await service.listEvents({ ...KEY, limit: 1 });
    await appendByPython('three');
    const older = await service.listEvents({ ...KEY, before: last.before });
    const newer = await service.listEvents({ ...KEY, after: last.after });
    const texts = ({ events }: EventsPage) => events.map(firstText);
    assert.deepEqual([older, last, newer].map(texts), [['one'], ['two'], ['three']]);
    const info = await service.sessionInfo(KEY);
    assert.deepEqual([info.eventCount, info.usage.m], [3, usageMetadata]);
    const { title, labels } = (await service.getSession(KEY))!;
    assert.deepEqual({ title, labels }, DESCRIPTION);

    await adk.deleteSession(KEY);
    await adk.createSession(KEY);
    const { eventCount, usage, ...again } = await service.sessionInfo(KEY);
    assert.deepEqual([eventCount, usage, 'title' in again, 'labels' in again], [0, {}, false, false]); // prettier-ignore
    const page = service.listEvents({ ...KEY, before: last.before });
    await assert.rejects(page, { code: 'invalid_argument', key: 'before' });
  });
});
