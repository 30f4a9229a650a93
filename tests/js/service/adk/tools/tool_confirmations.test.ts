import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, createEventActions, ToolConfirmation } from '@google/adk';

import { InMemorySessionService } from '../../../../../js/service/adk/index.js';
import { isSessionError } from '../../../../../js/values/errors/errors.js';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

/** The record of the framework's SecurityPlugin, which an AgentTool passes on to its child. */
const record = () => ({
  orcas_tool_call_security_check_states: {
    call: new ToolConfirmation({ confirmed: true }),
    other: 'ALLOW',
  },
});
const asJson = {
  orcas_tool_call_security_check_states: { call: { hint: '', confirmed: true }, other: 'ALLOW' },
};

const event = (stateDelta: Record<string, unknown>) =>
  createEvent({ actions: createEventActions({ stateDelta }) });

describe("Tool confirmations of the framework's SecurityPlugin", () => {
  it('are accepted in the initial state of a session', async () => {
    const service = new InMemorySessionService();
    const created = await service.createSession({ ...key, state: record() });
    assert.deepEqual(created.state, asJson);
    const got = await service.getOrCreateSession({ ...key, sessionId: 'new', state: record() });
    assert.deepEqual(got.state, asJson);
  });

  it("are accepted in events' deltas, and the handle gets the stored form", async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(key);
    await service.appendEvents({ session, events: [event(record()), event({ k: 1 })] });
    assert.deepEqual(session.state, { ...asJson, k: 1 });
    assert.deepEqual((await service.getSession(key))?.state, session.state);
  });

  it('look unchanged to the caller', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(key);
    const given = record();
    await service.appendEvent({ session, event: event(given) });
    assert.deepEqual(given, record());
    assert.ok(given.orcas_tool_call_security_check_states.call instanceof ToolConfirmation);
  });

  it('are refused elsewhere, where a program would miss the class', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(key);
    const mine = event({ mine: new ToolConfirmation({ confirmed: true }) });
    await assert.rejects(service.appendEvent({ session, event: mine }), (error) =>
      isSessionError(error, 'unserializable'),
    );
  });

  it('are recognised only by their own shape', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(key);
    const list = { orcas_tool_call_security_check_states: { call: [1, 2] } };
    await service.appendEvent({ session, event: event(list) });
    assert.deepEqual((await service.getSession(key))?.state, list);
    const map = { orcas_tool_call_security_check_states: { call: new Map([['a', 1]]) } };
    await assert.rejects(service.appendEvent({ session, event: event(map) }), (error) =>
      isSessionError(error, 'unserializable'),
    );
  });

  it('are not searched in an invalid request', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(key);
    for (const request of [undefined, {}, { session, event: null }, { session, event: 1 }]) {
      await assert.rejects(service.appendEvent(request as never), (error) =>
        isSessionError(error, 'invalid_argument'),
      );
    }
  });
});
