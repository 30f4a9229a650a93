/** Turns that fail: the stored data, and the next turn. */

import { toolCall } from '../model_script.js';
import { whatItSaw } from './differences.js';
import { set, setState } from './agents/llm_agent.js';
import { key, outcome, type Scenario, textOf } from './scenario.js';
import { all } from './stage.js';

const missingKey: Scenario = {
  name: 'an instruction with a missing key fails the turn, which leaves the message, and the next one works',
  async run(stage) {
    await stage.create();
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model('Done.'),
      instruction: 'About {topic}',
    });
    const failed = await stage.turn(agent, { text: 'one' }).catch(String);
    const events = await stage.turn(agent, { text: 'two', stateDelta: { topic: 'tea' } });
    return { failed, texts: events.map(textOf) };
  },
  shows: { failed: 'Error: Context variable not found: `topic`.', texts: ['Done.'] },
};

const modelError: Scenario = {
  name: 'a model that fails leaves an error event without what callbacks wrote, and the next turn works',
  async run(stage) {
    await stage.create();
    const seen: unknown[] = [];
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model(() => {
        throw new Error('{"error": {"code": 429, "message": "too much"}}');
      }, 'Done.'),
      outputKey: 'answer',
      beforeModelCallback: ({ context }) => {
        seen.push(context.state.get('asks') ?? null);
        context.state.set('asks', context.state.get('asks', 0)! + 1);
        return undefined;
      },
    });
    const first = await stage.turn(agent, { text: 'one' });
    const second = await stage.turn(agent, { text: 'two' });
    const errors = first.map(({ errorCode, errorMessage }) => [errorCode, errorMessage]);
    return { errors, texts: second.map(textOf), seen };
  },
  shows: { errors: [['429', 'too much']], texts: ['Done.'], seen: [null, null] },
};

const errorResponse: Scenario = {
  name: 'an error that the model answers with is stored as it is',
  async run(stage) {
    await stage.create();
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model({ errorCode: 'SAFETY', errorMessage: 'blocked' }, 'Done.'),
      outputKey: 'answer',
    });
    const first = await stage.turn(agent, { text: 'one' });
    const second = await stage.turn(agent, { text: 'two' });
    return [...first, ...second].map((event) => [event.errorCode ?? null, textOf(event)]);
  },
  shows: [
    ['SAFETY', ''],
    [null, 'Done.'],
  ],
};

const abandoned: Scenario = {
  name: 'a turn that its caller leaves in the middle has stored what it had yielded',
  async run(stage) {
    await stage.create();
    const { LlmAgent, Runner } = stage.adk;
    const agent = new LlmAgent({
      name: 'agent',
      model: stage.model(set('k', 1), 'never asked'),
      tools: [setState(stage)],
      outputKey: 'answer',
    });
    const { sessionService } = stage;
    const runner = new Runner({ appName: 'app', agent, sessionService });
    const newMessage = { role: 'user', parts: [{ text: 'one' }] };
    const run = runner.runAsync({ userId: 'u', sessionId: 's', newMessage });
    for await (const { content } of run) {
      if (content?.parts?.[0]?.functionResponse !== undefined) break;
    }
    const { state, events } = await stage.stored();
    return { state, stored: events.length };
  },
  shows: { state: { k: 1 }, stored: 3 },
};

const aborted: Scenario = {
  name: 'a turn that is aborted ends, and the next one works',
  async run(stage) {
    await stage.create();
    const { LlmAgent, Runner } = stage.adk;
    const controller = new AbortController();
    const agent = new LlmAgent({
      name: 'agent',
      model: stage.model(() => {
        controller.abort();
        return 'too late';
      }, 'Done.'),
    });
    const runner = new Runner({ appName: 'app', agent, sessionService: stage.sessionService });
    const newMessage = { role: 'user', parts: [{ text: 'one' }] };
    const abortSignal = controller.signal;
    const yielded = await all(
      runner.runAsync({ userId: 'u', sessionId: 's', newMessage, abortSignal }),
    );
    const events = await stage.turn(agent, { text: 'two' });
    return { yielded: yielded.length, texts: events.map(textOf) };
  },
  shows: { yielded: 0, texts: ['Done.'] },
};

const refused = {
  first: { code: 'unserializable', path: 'cart.items[0].price' },
  state: { kept: 1 },
  events: 2,
  second: ['Done.'],
};

const unserializable: Scenario = {
  name: 'a turn that writes what no storage takes',
  sessions: [],
  async run(stage) {
    await stage.create({ kept: 1 });
    const writes = new stage.adk.FunctionTool({
      name: 'write',
      description: 'Writes.',
      execute: (_input, context) => {
        context?.state.update({ good: 1, cart: { items: [{ price: () => 1 }] } });
        return {};
      },
    });
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model(toolCall('write'), 'Done.', 'Done.'),
      tools: [writes],
    });
    const first = await outcome(stage.turn(agent, { text: 'one' }).then(() => 'no error'));
    const { state, events } = await stage.stored();
    const second = await stage.turn(agent, { text: 'two' });
    return { first, state, events: events.length, second: second.map(textOf) };
  },
  shows: refused,
  differs: whatItSaw(
    refused,
    {
      ...refused,
      first: 'no error',
      state: { kept: 1, good: 1, cart: { items: [{}] } },
      events: 4,
    },
    'such values are refused by every storage, with the path to them and before anything is written',
  ),
};

const deleted: Scenario = {
  name: 'a session that is deleted while a turn runs',
  async run(stage) {
    await stage.create();
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model(async () => {
        await stage.sessionService.deleteSession(key);
        return 'Said to nobody.';
      }),
    });
    return outcome(stage.turn(agent).then((events) => events.map(textOf)));
  },
  shows: { code: 'not_found' },
  differs: [
    {
      path: 'saw',
      ours: { code: 'not_found' },
      theirs: ['Said to nobody.'],
      why: 'there an append to a session that is gone is a warning, and the event is lost',
    },
  ],
};

export const failures: readonly Scenario[] = [
  missingKey,
  modelError,
  errorResponse,
  abandoned,
  aborted,
  unserializable,
  deleted,
];
