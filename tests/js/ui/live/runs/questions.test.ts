import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FunctionTool, LlmAgent, LongRunningFunctionTool, Runner } from '@google/adk';
import { z } from 'zod';

import { asAdkService, runWith } from '../../../../../js/service/adk/index.js';
import { InMemorySessionService, isSessionError } from '../../../../../js/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { toolCall } from '../../../service/adk/model_script.js';
import { ScriptedModel } from '../../../service/adk/pairing/scripted_model.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, echo, openChat, textsOf } from './agents.js';

const isRefused = (error: unknown) => isSessionError(error, 'invalid_argument');

/** A chat with a Runner whose tools ask for a confirmation, or wait for a result. */
async function open(replies: ConstructorParameters<typeof ScriptedModel>[0]) {
  const service = new InMemorySessionService();
  let paid = 0;
  const parameters = z.object({ price: z.number() });
  const pay = new FunctionTool({
    name: 'pay',
    description: 'pays',
    parameters,
    requireConfirmation: true,
    execute: () => ({ paid: (paid += 1) }),
  });
  const order = new LongRunningFunctionTool({
    name: 'order',
    description: 'orders',
    parameters: z.object({}),
    execute: () => ({ status: 'pending' }),
  });
  const agent = new LlmAgent({
    name: 'guide',
    model: new ScriptedModel(replies),
    tools: [pay, order],
  });
  const runner = new Runner({
    appName: 'shop',
    agent,
    resumabilityConfig: { isResumable: true },
    sessionService: asAdkService(service),
  });
  return { ...(await openChat(runWith(runner), { service })), paid: () => paid, runner };
}

describe('A question', () => {
  it('asks for a confirmation, and its answer lets the tool run once', async () => {
    const { service, chat, stop, paid, runner } = await open([
      toolCall('pay', { price: 3 }),
      'Paid.',
    ]);
    await chat.ask(asks('pay'));
    const { questions, run } = await snapshotOf(
      chat,
      ({ run, questions }) => run === undefined && questions.length > 0,
    );
    assert.equal(run, undefined);
    assert.equal(questions.length, 1);
    const [{ callId, kind, name, args }] = questions as [(typeof questions)[0]];
    assert.deepEqual([kind, name, args], ['confirmation', 'pay', { price: 3 }]);
    assert.equal(paid(), 0);
    // Another tab, which has not read the answer yet.
    const { chat: other, stop: stopOther } = await openChat(runWith(runner), { service });
    const answers = { [callId]: { confirmed: true } };
    const outcomes = await Promise.allSettled([chat.answer(answers), other.answer(answers)]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    await snapshotOf(
      chat,
      ({ run, events }) => run === undefined && textsOf(events).includes('Paid.'),
    );
    assert.equal(paid(), 1);
    assert.deepEqual(chat.getSnapshot().questions, []);
    await assert.rejects(chat.answer(answers), isRefused);
    assert.deepEqual(
      Object.keys(chat.getSnapshot().unsent),
      [],
      'no answer is left as a failed message',
    );
    stop();
    stopOther();
  });

  it('waits for the result of a long-running tool', async () => {
    const { chat, stop } = await open([toolCall('order'), 'It is on its way.', 'It is here.']);
    await chat.ask(asks('order'));
    const { questions } = await snapshotOf(
      chat,
      ({ run, questions }) => run === undefined && questions.length > 0,
    );
    const [question] = questions;
    assert.deepEqual([question?.kind, question?.name], ['tool', 'order']);
    await chat.answer({ [question!.callId]: { status: 'delivered' } });
    await snapshotOf(
      chat,
      ({ run, events }) => run === undefined && textsOf(events).includes('It is here.'),
    );
    assert.deepEqual(chat.getSnapshot().questions, []);
    stop();
  });

  it('is open until all calls are answered, which one message may do', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const call = (id: string, name: string, args = {}) => ({ functionCall: { id, name, args } });
    const parts = [
      call('a', 'adk_request_input', { message: 'Which tea?' }),
      call('b', 'adk_request_credential', { functionCallId: 'f' }),
      call('c', 'order'),
      call('d', 'look'),
    ];
    const event = {
      invocationId: 'i',
      author: 'guide',
      longRunningToolIds: ['c'],
      content: { role: 'model', parts },
    };
    await service.appendEvents({
      session,
      events: [{ invocationId: 'i', author: 'user', content: asks('hi') }, event],
    });
    const { chat, stop } = await openChat(echo, { service });
    const { questions } = await snapshotOf(chat, (shown) => shown.questions.length > 0);
    assert.deepEqual(
      questions.map(({ callId, kind, hint }) => [callId, kind, hint]),
      [
        ['a', 'input', 'Which tea?'],
        ['b', 'credential', undefined],
        ['c', 'tool', undefined],
      ],
    );
    assert.equal(chat.getSnapshot().run, undefined, 'it waits for the user');
    const message = await chat.answer({ a: { result: 'green' }, c: { status: 'done' } });
    const responses = message.content?.parts?.map(({ functionResponse }) => functionResponse);
    assert.deepEqual(responses, [
      { id: 'a', name: 'adk_request_input', response: { result: 'green' } },
      { id: 'c', name: 'order', response: { status: 'done' } },
    ]);
    await snapshotOf(chat, ({ run }) => run === undefined);
    assert.deepEqual(
      chat.getSnapshot().questions.map(({ callId }) => callId),
      ['b'],
    );
    stop();
  });

  it('that does not exist cannot be answered, and nothing is stored', async () => {
    const { service, chat, stop } = await openChat(echo);
    await chat.ask(asks('hi'));
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    for (const answers of [{ x: { confirmed: true } }, {}, { x: 7 }, 7]) {
      await assert.rejects(chat.answer(answers as never), isRefused);
    }
    assert.equal((await service.getSession(KEY))?.events.length, 2);
    stop();
  });

  it('of another user cannot be answered, and nothing is stored for either', async () => {
    const { service, chat, stop } = await open([toolCall('order'), 'Ordered.']);
    await chat.ask(asks('order'));
    const { questions } = await snapshotOf(
      chat,
      ({ run, questions }) => run === undefined && questions.length > 0,
    );
    const other = { ...KEY, userId: 'bob' };
    const before = (await service.getSession(KEY))?.events.length;
    await service.createSession(other);
    const bob = liveSession(service, other, { run: echo });
    const answers = { [questions[0]!.callId]: { status: 'shipped' } };
    await assert.rejects(bob.answer(answers), isRefused);
    assert.equal((await service.getSession(other))?.events.length, 0);
    assert.equal((await service.getSession(KEY))?.events.length, before);
    assert.equal(chat.getSnapshot().questions.length, 1);
    stop();
  });

  it('is gone after a rewind, and after the end event of its run', async () => {
    const { chat, stop } = await open([
      toolCall('pay', { price: 3 }),
      toolCall('pay', { price: 3 }),
    ]);
    const { id } = await chat.ask(asks('pay'));
    await snapshotOf(chat, ({ run, questions }) => run === undefined && questions.length > 0);
    await chat.regenerate(id);
    const { questions } = await snapshotOf(
      chat,
      ({ run, questions }) => run === undefined && questions.length > 0,
    );
    assert.equal(questions.length, 1);
    stop();
  });
});
