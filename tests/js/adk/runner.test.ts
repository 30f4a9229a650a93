import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  AgentTool,
  BaseSessionService,
  FunctionTool,
  InMemoryArtifactService,
  InMemorySessionService as FrameworkMemory,
  LlmAgent,
  LoopAgent,
  Runner,
  SequentialAgent,
  StreamingMode,
} from '@google/adk';
import { z } from 'zod';

import { InMemorySessionService } from '../../../js/adk/index.js';
import { call, instructionOf, say } from '../../../js/examples/demo/model_script.js';
import { ScriptedModel } from '../../../js/examples/demo/scripted_model.js';
import { instruction } from '../../../js/instruction/provider.js';
import { State } from '../../../js/state.js';
import { CodeAgent, key, stored, turn } from './fixture.js';

/** A tool that sets what it is told to. */
const setState = new FunctionTool({
  name: 'set_state',
  description: 'Sets a key of the state.',
  parameters: z.object({ key: z.string(), value: z.unknown() }),
  execute: ({ key, value }, context) => {
    context?.state.set(key, value);
    return { status: 'ok' };
  },
});

const set = (key: string, value: unknown) => call('set_state', { key, value });

describe('The in-memory service under the Runner of @google/adk', () => {
  it('is a BaseSessionService of the framework', () => {
    assert.ok(new InMemorySessionService() instanceof BaseSessionService);
  });

  it('stores what a tool, the callbacks and outputKey write, each in its scope', async () => {
    const service = new InMemorySessionService();
    await service.createSession({ ...key, state: { seed: 1, 'app:motd': 'hello' } });
    const model = new ScriptedModel([set('user:name', 'Ada'), 'Done.']);
    const agent = new LlmAgent({
      name: 'agent',
      model,
      instruction: instruction('{seed} {app:motd} {user:name?} {temp:step?}'),
      tools: [setState],
      outputKey: 'answer',
      beforeAgentCallback: ({ state }) => {
        state.set('temp:step', 'started');
        state.set('app:runs', 1);
        return undefined;
      },
      afterToolCallback: ({ context }) => {
        context.state.set('tooled', true);
        return undefined;
      },
      afterAgentCallback: (context) => {
        context.state.set('ended', context.state.get('answer'));
        return undefined;
      },
    });
    const events = await turn(service, agent, { stateDelta: { asked: 1 } });

    const told = model.requests.map((request) => instructionOf(request).split('\n').at(-1));
    assert.deepEqual(told, ['1 hello  started', '1 hello Ada started']);
    const { state, events: storedEvents } = await stored(service);
    assert.deepEqual(state, {
      seed: 1,
      asked: 1,
      'app:motd': 'hello',
      'app:runs': 1,
      'user:name': 'Ada',
      tooled: true,
      answer: 'Done.',
      ended: 'Done.',
    });
    // The user's message, and all that was yielded; a JSON copy, since memory keeps no undefined.
    assert.deepEqual(storedEvents.slice(1), JSON.parse(JSON.stringify(events)));
    for (const { actions } of events) assert.ok(!Object.hasOwn(actions.stateDelta, 'temp:step'));
    const other = await service.createSession({ ...key, sessionId: 'other' });
    assert.deepEqual(other.state, { 'app:motd': 'hello', 'app:runs': 1, 'user:name': 'Ada' });
  });

  it('gives the agents of a sequence one temp: state, and the next turn none of it', async () => {
    const service = new InMemorySessionService();
    await service.createSession(key);
    const socket = () => 'a function, held by reference';
    let seen: unknown;
    const first = new LlmAgent({
      name: 'first',
      model: new ScriptedModel(['a draft', 'another draft']),
      outputKey: 'temp:draft',
      beforeAgentCallback: ({ state }) => {
        state.set('temp:socket', socket);
        return undefined;
      },
    });
    const reviewer = new ScriptedModel(['fine', 'fine']);
    const second = new LlmAgent({
      name: 'second',
      model: reviewer,
      instruction: instruction('Review: {temp:draft}'),
      outputKey: 'review',
      beforeAgentCallback: ({ state }) => {
        seen = state.get('temp:socket');
        return undefined;
      },
    });
    const sequence = new SequentialAgent({ name: 'both', subAgents: [first, second] });
    await turn(service, sequence);
    await turn(service, sequence);
    assert.equal(seen, socket);
    assert.match(instructionOf(reviewer.requests[0]!), /Review: a draft$/);
    assert.match(instructionOf(reviewer.requests[1]!), /Review: another draft$/);
    const { state, events } = await stored(service);
    assert.deepEqual(state, { review: 'fine' });
    assert.ok(!JSON.stringify(events).includes('temp:'));
  });

  it('lets an agent in a loop see what the round before has written', async () => {
    const service = new InMemorySessionService();
    await service.createSession(key);
    const model = new ScriptedModel(['1', '2', '3']);
    const writer = new LlmAgent({
      name: 'writer',
      model,
      instruction: instruction('last: {temp:draft?}, rounds: {rounds?}'),
      outputKey: 'temp:draft',
      afterModelCallback: ({ context }) => {
        context.state.set('rounds', context.state.get('rounds', 0)! + 1);
        return undefined;
      },
    });
    const judge = new CodeAgent('judge', async function* (context, agent) {
      const event = agent.event(context, {});
      if (context.session.state.rounds === 3) event.actions.escalate = true;
      yield await Promise.resolve(event);
    });
    await turn(service, new LoopAgent({ name: 'loop', subAgents: [writer, judge] }));
    const told = model.requests.map((request) => instructionOf(request).split('\n').at(-1));
    assert.deepEqual(told, ['last: , rounds: ', 'last: 1, rounds: 1', 'last: 2, rounds: 2']);
    assert.deepEqual((await stored(service)).state, { rounds: 3 });
  });

  it('stores nothing of partial events, and the whole text once', async () => {
    const service = new InMemorySessionService();
    await service.createSession(key);
    const partial = (text: string) => ({ ...say(text), partial: true });
    const agent = new LlmAgent({
      name: 'agent',
      model: new ScriptedModel([[partial('Hel'), partial('lo'), say('Hello')]]),
      outputKey: 'answer',
    });
    const runConfig = { streamingMode: StreamingMode.SSE };
    const events = await turn(service, agent, { runConfig });
    assert.deepEqual(
      events.map(({ partial }) => partial === true),
      [true, true, false],
    );
    const { state, events: storedEvents } = await stored(service);
    assert.deepEqual(state, { answer: 'Hello' });
    assert.equal(storedEvents.length, 2);
  });

  it('removes a key that a tool sets to State.REMOVED, or to undefined', async () => {
    const service = new InMemorySessionService();
    await service.createSession({ ...key, state: { basket: [1], 'user:name': 'Ada', kept: 1 } });
    const seen: boolean[] = [];
    const clear = new FunctionTool({
      name: 'clear',
      description: 'Clears.',
      execute: (_input, context) => {
        context?.state.set('basket', State.REMOVED);
        context?.state.set('user:name', undefined);
        return {};
      },
    });
    const agent = new LlmAgent({
      name: 'agent',
      model: new ScriptedModel([call('clear'), 'Done.']),
      instruction: ({ state }) => {
        seen.push(state.has('basket'), state.has('user:name'));
        return '';
      },
      tools: [clear],
    });
    await turn(service, agent);
    assert.deepEqual(seen, [true, true, false, false]);
    assert.deepEqual((await stored(service)).state, { kept: 1 });
  });

  it('serves the child session of an AgentTool, and what the child writes reaches the parent', async () => {
    const service = new InMemorySessionService();
    await service.createSession({ ...key, state: { topic: 'tea', gone: 1, 'user:name': 'Ada' } });
    const childModel = new ScriptedModel([set('found', 'rooibos'), 'rooibos', 'mint']);
    const child = new LlmAgent({
      name: 'child',
      model: childModel,
      description: 'Finds a tea.',
      instruction: instruction('{topic} for {user:name}'),
      tools: [setState],
      afterAgentCallback: ({ state }) => {
        state.set('gone', State.REMOVED);
        return undefined;
      },
    });
    const ask = call('child', { request: 'find' });
    const parent = new LlmAgent({
      name: 'parent',
      model: new ScriptedModel([ask, 'first', ask, 'second']),
      tools: [new AgentTool({ agent: child })],
      beforeAgentCallback: ({ state }) => {
        state.set('temp:connection', () => 1);
        return undefined;
      },
    });
    await turn(service, parent);
    await turn(service, parent);
    assert.match(instructionOf(childModel.requests[0]!), /tea for Ada$/);
    const { state } = await stored(service);
    assert.deepEqual(state, { topic: 'tea', 'user:name': 'Ada', found: 'rooibos' });
    const childSession = await service.getSession({ ...key, appName: 'child' });
    assert.equal(childSession?.state.found, 'rooibos');
  });

  it('runs ephemeral sessions, and leaves nothing behind but app: and user: state', async () => {
    const service = new InMemorySessionService();
    const agent = new LlmAgent({
      name: 'agent',
      model: new ScriptedModel([set('user:name', 'Ada'), 'Done.']),
      tools: [setState],
    });
    const runner = new Runner({ appName: 'app', agent, sessionService: service });
    const newMessage = { parts: [{ text: 'hi' }] };
    let events = 0;
    for await (const { errorMessage } of runner.runEphemeral({ userId: 'u', newMessage })) {
      assert.equal(errorMessage, undefined);
      events += 1;
    }
    assert.equal(events, 3);
    assert.equal((await service.listSessions({ appName: 'app' })).totalItems, 0);
    assert.deepEqual(await service.getUserState({ appName: 'app', userId: 'u' }), { name: 'Ada' });
  });

  it('keeps the versions of artifacts that a tool saves', async () => {
    const service = new InMemorySessionService();
    await service.createSession(key);
    const save = new FunctionTool({
      name: 'save',
      description: 'Saves.',
      execute: async (_input, context) => context?.saveArtifact('a.txt', { text: 'A' }),
    });
    const agent = new LlmAgent({
      name: 'agent',
      model: new ScriptedModel([call('save'), 'Done.']),
      tools: [save],
    });
    const artifactService = new InMemoryArtifactService();
    const runner = new Runner({ appName: 'app', agent, sessionService: service, artifactService });
    const newMessage = { parts: [{ text: 'hi' }] };
    for await (const { errorMessage } of runner.runAsync({ ...key, newMessage })) {
      assert.equal(errorMessage, undefined);
    }
    const deltas = (await stored(service)).events.map(({ actions }) => actions.artifactDelta);
    assert.deepEqual(deltas, [{}, {}, { 'a.txt': 0 }, {}]);
  });

  it('answers a missing session as the framework expects', async () => {
    const service = new InMemorySessionService();
    const agent = new LlmAgent({ name: 'agent', model: new ScriptedModel([]) });
    await assert.rejects(turn(service, agent), /Session not found: s/);
  });

  it("gives the same sessions as the framework's own service", async () => {
    const runs = [new InMemorySessionService(), new FrameworkMemory()].map(async (service) => {
      await service.createSession({ ...key, state: { n: 1 } });
      const agent = new LlmAgent({
        name: 'agent',
        model: new ScriptedModel([set('user:a', [1]), set('b', { c: null }), 'Done.']),
        tools: [setState],
        outputKey: 'answer',
      });
      await turn(service, agent);
      const { state, events } = await stored(service);
      const steps = events.map(({ author, content, actions }) => ({ author, content, actions }));
      // Ids of function calls are random.
      const text = JSON.stringify(steps).replaceAll(/adk-[0-9a-f-]{36}/g, 'adk-id');
      return { state, steps: JSON.parse(text) as unknown };
    });
    const [ours, theirs] = await Promise.all(runs);
    assert.deepEqual(ours, theirs);
  });
});

describe('A session that the framework reads', () => {
  it('is a plain object with nothing added, without config too', async () => {
    const service = new InMemorySessionService();
    await service.createSession({ ...key, state: { 'user:a': 1, b: { c: [1] } } });
    await turn(service, new LlmAgent({ name: 'agent', model: new ScriptedModel(['ok']) }));
    const session = await stored(service);
    assert.deepEqual(Reflect.ownKeys(session).sort(), [
      'appName',
      'events',
      'id',
      'lastUpdateTime',
      'state',
      'userId',
    ]);
    assert.equal(Object.getPrototypeOf(session), Object.prototype);
    assert.equal(Object.getPrototypeOf(session.state), Object.prototype);
    assert.ok(Array.isArray(session.events));
    assert.deepEqual(structuredClone(session), session);
    assert.deepEqual(JSON.parse(JSON.stringify(session)), session);
    for (const event of session.events) assert.ok(Number.isInteger(event.timestamp));
  });
});
