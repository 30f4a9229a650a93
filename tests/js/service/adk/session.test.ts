import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { BaseSessionService, LlmAgent, Runner } from '@google/adk';

import { InMemorySessionService } from '../../../../js/service/adk/index.js';
import { ScriptedModel } from './pairing/scripted_model.js';
import { SESSION_FIELDS } from '../fixture.js';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

describe('A service for the framework', () => {
  it("extends the framework's BaseSessionService", () => {
    assert.ok(new InMemorySessionService() instanceof BaseSessionService);
  });

  it('has the synchronous methods of the service in memory', async () => {
    const service = new InMemorySessionService();
    const session = service.createSessionSync({ ...key, state: { a: 1 } });
    assert.deepEqual(service.getSessionSync({ ...key, sessionId: 's' })?.state, session.state);
    assert.equal(service.listSessionsSync({ appName: key.appName }).totalItems, 1);
    service.deleteSessionSync({ ...key, sessionId: 's' });
    assert.equal(await service.getSession({ ...key, sessionId: 's' }), undefined);
  });

  it('returns plain objects with no additional fields', async () => {
    const service = new InMemorySessionService();
    await service.createSession({ ...key, state: { 'user:a': 1, b: { c: [1] } } });
    const agent = new LlmAgent({ name: 'agent', model: new ScriptedModel(['ok']) });
    const runner = new Runner({ appName: key.appName, agent, sessionService: service });
    const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
    for await (const event of runner.runAsync({ ...key, newMessage })) assert.ok(event);
    const session = await service.getSession(key);
    assert.ok(session);
    assert.deepEqual(Reflect.ownKeys(session).sort(), SESSION_FIELDS);
    assert.equal(Object.getPrototypeOf(session), Object.prototype);
    assert.equal(Object.getPrototypeOf(session.state), Object.prototype);
    assert.ok(Array.isArray(session.events));
    assert.equal(session.events.length, 2);
    assert.deepEqual(structuredClone(session), session);
    assert.deepEqual(JSON.parse(JSON.stringify(session)), session);
    for (const event of session.events) assert.ok(Number.isInteger(event.timestamp));
  });
});
