import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasePlugin, FunctionTool, LlmAgent, Runner, SequentialAgent } from '@google/adk';

import { asAdkService, InMemorySessionService, runWith } from '../../../../js/service/adk/index.js';
import {
  createEvent,
  type Event,
  InMemorySessionService as MemoryService,
  type SessionService,
} from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { runAgent } from '../../../../js/service/runs/agent/run_agent.js';
import type { RunAgent } from '../../../../js/service/runs/agent/run_context.js';
import { type Reply, toolCall } from './model_script.js';
import { ScriptedModel } from './pairing/scripted_model.js';
import { failsWith } from '../../fails_with.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const look = new FunctionTool({ name: 'look', description: 'looks', execute: () => ({ tea: 1 }) });

const messageOf = (text: string) =>
  createEvent({
    author: 'user',
    invocationId: 'e-1',
    content: { role: 'user', parts: [{ text }] },
    actions: { stateDelta: { asked: text } },
  });

async function run(
  service: SessionService,
  agent: RunAgent,
  message: Event,
  { isStored = false, streaming = true, signal = new AbortController().signal } = {},
): Promise<Event[]> {
  const pieces: Event[] = [];
  await runAgent({
    ...{ key, service, agent, streaming, signal },
    admit: async () => ({ message, isStored }),
    onStored: () => undefined,
    onPiece: (piece) => pieces.push(piece),
    onWhole: () => undefined,
  });
  return pieces;
}

function runnerOver(
  sessionService: Runner['sessionService'],
  replies: Iterable<Reply>,
  plugins: BasePlugin[] = [],
) {
  const model = new ScriptedModel(replies);
  const first = new LlmAgent({ name: 'guide', model, tools: [look], outputKey: 'tea' });
  const second = new LlmAgent({ name: 'second', model, instruction: 'Tea: {tea}' });
  const agent = new SequentialAgent({ name: 'both', subAgents: [first, second] });
  return { model, runner: new Runner({ appName: 'shop', agent, sessionService, plugins }) };
}

const REPLIES: readonly Reply[] = [
  toolCall('look'),
  [
    { partial: true, content: { role: 'model', parts: [{ text: 'Gr' }] } },
    { content: { role: 'model', parts: [{ text: 'Green' }] } },
  ],
  'Done',
];

const storedOf = async (service: SessionService) => (await service.getSession(key))?.events ?? [];

for (const [title, open] of [
  ['memory', () => new MemoryService()],
  ['SQLite', () => new DatabaseSessionService('sqlite::memory:')],
] as const) {
  describe(`A Runner that answers a message, over ${title}`, () => {
    it('keeps the id of the message, and gives all events its invocation', async () => {
      const service = open();
      await service.createSession(key);
      const { runner, model } = runnerOver(asAdkService(service), REPLIES);
      const message = messageOf('hi');
      const pieces = await run(service, runWith(runner), message);
      const events = await storedOf(service);
      assert.equal(events[0]?.id, message.id);
      assert.equal(events[0].customMetadata, undefined);
      assert.deepEqual(events[0].content, message.content);
      assert.deepEqual(new Set(events.map(({ invocationId }) => invocationId)), new Set(['e-1']));
      assert.equal(events.length, 5);
      assert.equal(pieces.length, 1);
      assert.equal((await service.getSession(key))?.state.asked, 'hi');
      await assert.rejects(run(service, runWith(runner), message), failsWith('already_exists'));
      assert.equal(model.requests.length, 3, 'the model is not called again');
      await service.close();
    });

    it('answers a message that is stored already, in one step with a rewind', async () => {
      const service = open();
      const session = await service.createSession(key);
      const message = messageOf('hi');
      await service.appendEvent({ session, event: structuredClone(message) });
      const { runner, model } = runnerOver(asAdkService(service), REPLIES);
      await run(service, runWith(runner), message, { isStored: true });
      assert.equal((await storedOf(service)).length, 5);
      const texts = model.requests[0]?.contents.flatMap(({ parts }) =>
        parts?.map(({ text }) => text),
      );
      assert.deepEqual(texts, ['hi'], 'the model reads the message once');
      await service.close();
    });

    it('stores the text that a plugin made of the message, under its id', async () => {
      class Polite extends BasePlugin {
        override onUserMessageCallback() {
          return Promise.resolve({ role: 'user', parts: [{ text: 'please' }] });
        }
      }
      const service = open();
      await service.createSession(key);
      const { runner } = runnerOver(asAdkService(service), REPLIES, [new Polite('polite')]);
      const message = messageOf('hi');
      await run(service, runWith(runner), message);
      const [first] = await storedOf(service);
      assert.equal(first?.id, message.id);
      assert.equal(first.content?.parts?.[0]?.text, 'please');
      await service.close();
    });

    it('is refused before its model if the message is claimed by another run at once', async () => {
      const service = open();
      await service.createSession(key);
      const message = messageOf('hi');
      const runs = [1, 2].map(() => runnerOver(asAdkService(service), REPLIES));
      const outcomes = await Promise.allSettled(
        runs.map(({ runner }) => run(service, runWith(runner), structuredClone(message))),
      );
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      const requests = runs.map(({ model }) => model.requests.length).sort();
      assert.deepEqual(requests, [0, 3]);
      await service.close();
    });
  });
}

describe('A Runner', () => {
  it('with a service of its own framework is refused before the message is stored', async () => {
    const { InMemorySessionService: Theirs } = await import('@google/adk');
    const service = new MemoryService();
    await service.createSession(key);
    const { runner, model } = runnerOver(new Theirs(), REPLIES);
    const running = run(service, runWith(runner), messageOf('hi'));
    await assert.rejects(running, failsWith('invalid_argument'));
    assert.deepEqual(await storedOf(service), []);
    assert.equal(model.requests.length, 0);
  });

  it('over another storage is refused before the message is stored', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const { runner } = runnerOver(new InMemorySessionService(), REPLIES);
    const running = run(service, runWith(runner), messageOf('hi'));
    await assert.rejects(running, failsWith('invalid_argument'));
    assert.deepEqual(await storedOf(service), []);
  });

  it('that appends in another order is unsupported before its model', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const { runner, model } = runnerOver(asAdkService(service), REPLIES);
    // A later version that does not take the invocation from the callback.
    runner.runAsync = function (this: Runner, parameters) {
      const plain = Object.create(this, {
        pluginManager: { value: runner.pluginManager },
      }) as Runner;
      return Runner.prototype.runAsync.call(plain, parameters);
    };
    const running = run(service, runWith(runner), messageOf('hi'));
    await assert.rejects(running, failsWith('unsupported'));
    assert.deepEqual(await storedOf(service), []);
    assert.equal(model.requests.length, 0);
  });

  it('stores nothing more once its run is cancelled', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const controller = new AbortController();
    const slow = new FunctionTool({
      ...{ name: 'look', description: 'looks' },
      execute: async () => {
        controller.abort();
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { tea: 1 };
      },
    });
    const model = new ScriptedModel([toolCall('look'), 'Late']);
    const agent = new LlmAgent({ name: 'guide', model, tools: [slow] });
    const runner = new Runner({ appName: 'shop', agent, sessionService: asAdkService(service) });
    await run(service, runWith(runner), messageOf('hi'), { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await storedOf(service)).length, 2, 'the message and the call');
    assert.equal(model.requests.length, 1);
  });

  it('without its methods is refused', () => {
    assert.throws(() => runWith({} as Runner), failsWith('invalid_argument'));
  });
});
