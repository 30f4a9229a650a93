import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BaseAgent,
  BasePlugin,
  createEvent as createFrameworkEvent,
  FunctionTool,
  type InvocationContext,
  LlmAgent,
  Runner,
  SequentialAgent,
  version,
} from '@google/adk';

import { asAdkService, InMemorySessionService, runWith } from '../../../../js/service/adk/index.js';
import {
  type Content,
  createEvent,
  type Event,
  InMemorySessionService as MemoryService,
  isSessionError,
  type SessionService,
} from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { liveSession } from '../../../../js/ui/live/index.js';
import { snapshotOf } from '../../ui/live/stores.js';
import { runAgent } from '../../../../js/service/runs/agent/local_run.js';
import type { RunAgent, RunContext } from '../../../../js/service/runs/agent/run_context.js';
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
  const partials: Event[] = [];
  await runAgent({
    key,
    service,
    agent,
    streaming,
    signal,
    admit: async () => ({ message, isStored }),
    onStored: () => undefined,
    onPartial: (partial) => partials.push(partial),
    onWhole: () => undefined,
  });
  return partials;
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

const textOf = ({ content }: Event) => content?.parts?.[0]?.text;

/** Changes the text of each message. */
class Polite extends BasePlugin {
  override onUserMessageCallback() {
    return Promise.resolve({ role: 'user', parts: [{ text: 'please' }] });
  }
}

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
      const partials = await run(service, runWith(runner), message);
      const events = await storedOf(service);
      assert.equal(events[0]?.id, message.id);
      assert.equal(events[0].customMetadata, undefined);
      assert.deepEqual(events[0].content, message.content);
      assert.deepEqual(new Set(events.map(({ invocationId }) => invocationId)), new Set(['e-1']));
      assert.equal(events.length, 5);
      assert.equal(partials.length, 1);
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

    it('is refused before its model if the message is stored by another run at once', async () => {
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

describe('A function that calls a Runner within itself', () => {
  const within = (service: SessionService): RunAgent => {
    const { runner } = runnerOver(asAdkService(service), REPLIES, [new Polite('polite')]);
    const inner = runWith(runner);
    return async function* (context) {
      yield* inner({ ...context });
    };
  };

  it('has a text that a plugin has changed stored in place of that of the message', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const message = messageOf('hi');
    await run(service, within(service), message);
    const [first, ...answer] = await storedOf(service);
    assert.deepEqual([first?.id, textOf(first!), answer.length], [message.id, 'please', 4]);
  });

  it('has a text that a plugin has changed stored in place of that of an edited message', async () => {
    for (const isWithin of [true, false]) {
      const service = new MemoryService();
      const session = await service.createSession(key);
      const message = messageOf('hi');
      await service.appendEvent({ session, event: structuredClone(message) });
      const { runner } = runnerOver(asAdkService(service), REPLIES, [new Polite('polite')]);
      const agent = isWithin ? within(service) : runWith(runner);
      await run(service, agent, message, { isStored: true });
      const [first, ...answer] = await storedOf(service);
      assert.deepEqual([first?.id, textOf(first!), answer.length], [message.id, 'please', 4]);
    }
  });

  it('and has the members of its agent never stores the first form of a message', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const storedBefore: Event[][] = [];
    class Redacting extends Polite {
      override async onUserMessageCallback() {
        storedBefore.push(await storedOf(service));
        return super.onUserMessageCallback();
      }
    }
    const { runner } = runnerOver(asAdkService(service), REPLIES, [new Redacting('redacting')]);
    const inner = runWith(runner);
    const agent: RunAgent = Object.assign((context: RunContext) => inner(context), inner);
    await run(service, agent, messageOf('hi'));
    const [first] = await storedOf(service);
    assert.deepEqual([storedBefore, textOf(first!)], [[[]], 'please']);
  });
});

describe('A Runner', () => {
  it('whose plugin throws leaves nothing stored, and fails with what was thrown', async () => {
    class Refusing extends BasePlugin {
      override onUserMessageCallback(): Promise<undefined> {
        return Promise.reject(new Error('not allowed'));
      }
    }
    const service = new MemoryService();
    await service.createSession(key);
    const { runner, model } = runnerOver(asAdkService(service), REPLIES, [new Refusing('strict')]);
    await assert.rejects(
      run(service, runWith(runner), messageOf('hi')),
      (error: unknown) =>
        isSessionError(error, 'run_failed') && String(error.cause).includes('not allowed'),
    );
    assert.deepEqual([await storedOf(service), model.requests.length], [[], 0]);
  });

  it('whose plugin refuses an edited message has failed, and the message stays', async (t) => {
    class Strict extends BasePlugin {
      override onUserMessageCallback({ userMessage }: { userMessage: Content }) {
        return userMessage.parts?.[0]?.text === 'bad'
          ? Promise.reject(new Error('not allowed'))
          : Promise.resolve(undefined);
      }
    }
    const service = new MemoryService();
    const plugins = [new Strict('strict')];
    const { runner, model } = runnerOver(asAdkService(service), REPLIES, plugins);
    const chat = liveSession(service, key, { run: runWith(runner) });
    t.after(chat.subscribe(() => undefined));
    const { id } = await chat.ask('hi');
    await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 5);
    const edited = await chat.edit(id, 'bad');
    const { run, events } = await snapshotOf(chat, ({ run }) => run?.status === 'failed');
    assert.deepEqual([run?.messageId, events.map(textOf)], [edited.id, ['bad', undefined]]);
    const { error } = run ?? {};
    assert.ok(isSessionError(error, 'run_failed'));
    assert.match(String(error.cause), /not allowed/);
    assert.equal(model.requests.length, 3, 'the model is not called again');
  });

  it('that reads no recent events gets the edited message', async () => {
    const service = new MemoryService();
    const session = await service.createSession(key);
    const earlier = { invocationId: 'e-0', author: 'user', content: messageOf('before').content! };
    await service.appendEvent({ session, event: earlier });
    const message = messageOf('hi');
    await service.appendEvent({ session, event: structuredClone(message) });
    const { runner, model } = runnerOver(asAdkService(service, { numRecentEvents: 0 }), REPLIES);
    await run(service, runWith(runner), message, { isStored: true });
    const texts = model.requests[0]?.contents.flatMap(({ parts }) =>
      parts?.map(({ text }) => text),
    );
    assert.deepEqual(texts, ['hi']);
  });

  it('whose agent yields an event with the id of the message fails, and the message stays', async () => {
    class Thief extends BaseAgent {
      protected override async *runAsyncImpl({ session, invocationId }: InvocationContext) {
        const { id } = session.events[0]!;
        const content = { role: 'model', parts: [{ text: 'Mine' }] };
        yield createFrameworkEvent({ id, invocationId, author: 'thief', content });
      }
      protected override async *runLiveImpl() {
        // Nothing is live.
      }
    }
    const service = new MemoryService();
    await service.createSession(key);
    const agent = new Thief({ name: 'thief' });
    const runner = new Runner({ appName: 'shop', agent, sessionService: asAdkService(service) });
    const running = run(service, runWith(runner), messageOf('hi'));
    await assert.rejects(running, failsWith('invalid_argument'));
    assert.deepEqual((await storedOf(service)).map(textOf), ['hi']);
  });

  it('gets the temp: keys of the message, which are not stored', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const model = new ScriptedModel(['Done']);
    const instruction = 'Hint: {temp:hint}';
    const agent = new LlmAgent({ name: 'guide', model, instruction });
    const runner = new Runner({ appName: 'shop', agent, sessionService: asAdkService(service) });
    const message = messageOf('hi');
    Object.assign(message.actions.stateDelta, { 'temp:hint': 'green' });
    await run(service, runWith(runner), message);
    assert.match(JSON.stringify(model.requests[0]?.config?.systemInstruction), /Hint: green/);
    assert.deepEqual((await service.getSession(key))?.state, { asked: 'hi' });
  });

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
    await assert.rejects(running, failsWith('unsupported', new RegExp(`@google/adk ${version} `)));
    assert.deepEqual(await storedOf(service), []);
    assert.equal(model.requests.length, 0);
  });

  it('that appends before a message that is stored already stores both', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const { runner } = runnerOver(asAdkService(service), REPLIES);
    const { runAsync } = Runner.prototype;
    // A later version that stores an event of its own first.
    runner.runAsync = async function* (this: Runner, parameters) {
      const session = (await this.sessionService.getSession({ ...key }))!;
      const event = createFrameworkEvent({ author: 'guide', invocationId: 'e-1' });
      yield await this.sessionService.appendEvent({ session, event });
      yield* runAsync.call(this, parameters);
    };
    const own: RunAgent = (context) => runWith(runner)(context);
    await run(service, own, messageOf('hi'));
    const stored = await storedOf(service);
    assert.equal(stored[0]?.author, 'user');
    assert.equal(stored.filter(({ author }) => author === 'user').length, 1);
    assert.ok(stored.length > 2);
  });

  it('stores nothing more once its run is cancelled', async () => {
    const service = new MemoryService();
    await service.createSession(key);
    const controller = new AbortController();
    const slow = new FunctionTool({
      name: 'look',
      description: 'looks',
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
