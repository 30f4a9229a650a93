// Requests to /run and /run_sse that are refused, all before the agent.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService as FrameworkService, LlmAgent, Runner } from '@google/adk';

import { createEvent, InMemorySessionService } from '../../../../js/index.js';
import { type SessionAccess, sessionHandler } from '../../../../js/server/index.js';
import { asAdkService, runWith } from '../../../../js/service/adk/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { says } from '../../ui/live/runs/agents.js';
import { ScriptedModel } from '../../service/adk/pairing/scripted_model.js';
import { answerOf, APP, KEY, requestTo, serve } from '../fixture.js';

const newMessage = { role: 'user', parts: [{ text: 'Tea?' }] };
const ASKED = { appName: APP, userId: 'ada', sessionId: 's1', newMessage };

/** Serves a session, and an agent that notes its messages. */
async function serveAgent(options: Parameters<typeof serve>[0] = {}) {
  const seen: string[] = [];
  const run: RunAgent = async function* ({ message }) {
    seen.push(message.id);
    yield { author: 'guide', content: says('hi') };
  };
  const served = serve({ authorize: () => true, run, ...options });
  await served.service.createSession(KEY);
  const stored = async () => (await served.service.getSession(KEY))!.events.length;
  return { ...served, seen, stored };
}

const answer = (id: string, name = 'adk_request_confirmation') => ({
  role: 'user',
  parts: [{ functionResponse: { id, name, response: { confirmed: true } } }],
});

/** An agent's event that asks for a confirmation. */
async function askConfirmation(service: InMemorySessionService, callId: string): Promise<void> {
  const session = (await service.getSession(KEY))!;
  const functionCall = { id: callId, name: 'adk_request_confirmation', args: {} };
  const content = { role: 'model', parts: [{ functionCall }] };
  const event = createEvent({ author: 'guide', content, longRunningToolIds: [callId] });
  await service.appendEvent({ session, event });
}

for (const path of ['/run', '/run_sse']) {
  describe(`A request to ${path} is refused`, () => {
    for (const [what, more, status, named] of [
      ['without an app', { appName: undefined }, 400, /appName/],
      ['with an empty user', { userId: '' }, 400, /userId/],
      ['without a session', { sessionId: undefined }, 400, /sessionId/],
      ['of a session that does not exist', { sessionId: 'none' }, 404, /not found/],
      ['without a message', { newMessage: undefined }, 400, /newMessage/],
      ['with a message that is no object', { newMessage: 5 }, 400, /newMessage/],
      ['with a message without parts', { newMessage: { role: 'user' } }, 400, /newMessage\.parts/],
      ['with a message of a model', { newMessage: says('hi') }, 403, /content\.role/],
      [
        'with a call in the message',
        { newMessage: { parts: [{ functionCall: { name: 'buy', args: {} } }] } },
        403,
        /functionCall/,
      ],
      ['with an answer to a call that is not open', { newMessage: answer('c0') }, 403, /not open/],
      ['with a delta that is no object', { stateDelta: [] }, 400, /stateDelta/],
      ['with a delta of the app', { stateDelta: { 'app:a': 1 } }, 403, /app:/],
      ['with metadata that are no object', { customMetadata: 1 }, 400, /customMetadata/],
      ['that resumes a run', { newMessage: undefined, invocationId: 'i1' }, 501, /invocationId/],
      ['that resumes a run by a text', { invocationId: 'i1' }, 501, /invocationId/],
      ['with a service tier', { serviceTier: 'DEFERRED' }, 501, /serviceTier/],
      ['with a member that nobody knows', { newMesage: 1 }, 400, /newMesage/],
    ] as const) {
      it(what, async () => {
        const { ask, seen, stored } = await serveAgent();
        const { status: actual, body } = await ask(path, { body: { ...ASKED, ...more } });
        assert.equal(actual, status, JSON.stringify(body));
        assert.match((body as { detail: string }).detail, named);
        assert.deepEqual([seen, await stored()], [[], 0]);
      });
    }

    it('without the right run, or the right to append', async () => {
      for (const action of ['run', 'appendEvents']) {
        const asked: SessionAccess[] = [];
        const { ask, seen, stored } = await serveAgent({
          authorize: (_, access) => {
            asked.push(access);
            return access.action !== action;
          },
        });
        assert.equal((await ask(path, { body: ASKED })).status, 403);
        assert.deepEqual([seen, await stored()], [[], 0]);
        for (const { appName, userId, sessionId } of asked) {
          assert.deepEqual({ appName, userId, sessionId }, KEY);
        }
      }
    });

    it('by a server without an agent', async () => {
      const { ask } = await serveAgent({ run: undefined });
      const { status, body } = await ask(path, { body: ASKED });
      assert.deepEqual([status, (body as { code: string }).code], [501, 'unsupported']);
    });

    it('by a Runner whose service is not ours, or that is of another app', async () => {
      const model = new ScriptedModel(['Hi']);
      const agent = new LlmAgent({ name: 'guide', model });
      for (const [appName, foreign, member] of [
        [APP, true, /runner\.sessionService/],
        ['other', false, /runner/],
      ] as const) {
        const service = new InMemorySessionService();
        await service.createSession(KEY);
        const sessionService = foreign ? new FrameworkService() : asAdkService(service);
        const runner = new Runner({ appName, agent, sessionService });
        const handler = sessionHandler(service, { authorize: () => true, run: runWith(runner) });
        const { status, body } = await answerOf(await handler(requestTo(path, { body: ASKED })));
        const { code, detail } = body as { code: string; detail: string };
        assert.deepEqual([status, code], [400, 'invalid_argument']);
        assert.match(detail, member);
        assert.deepEqual((await service.getSession(KEY))?.events, []);
      }
      assert.equal(model.requests.length, 0);
    });

    it('by a server that stops', async () => {
      const { ask, handler } = await serveAgent();
      await handler.close();
      assert.equal((await ask(path, { body: ASKED })).status, 503);
    });

    it('with a second answer to a call, and not with the first one', async () => {
      const { ask, seen, service } = await serveAgent();
      await askConfirmation(service, 'c1');
      // The answer says by itself which run it continues.
      const body = { ...ASKED, newMessage: answer('c1'), invocationId: 'i1' };
      assert.equal((await ask('/run', { body })).status, 200);
      assert.equal((await ask(path, { body })).status, 409);
      assert.equal(
        (await ask(path, { body: { ...body, newMessage: answer('c1', 'x') } })).status,
        409,
      );
      assert.equal(seen.length, 1);
    });
  });
}

describe('A request to /run_sse is refused', () => {
  it('if streaming is no boolean', async () => {
    const { ask, seen } = await serveAgent();
    const { status, body } = await ask('/run_sse', { body: { ...ASKED, streaming: 'yes' } });
    assert.equal(status, 400);
    assert.match((body as { detail: string }).detail, /^streaming/);
    assert.deepEqual(seen, []);
  });
});
