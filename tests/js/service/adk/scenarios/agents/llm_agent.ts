/** One agent with a model: tools, callbacks, `outputKey`, streams. */

import { z } from 'zod';

import { toolCall, toolCalls, textResponse } from '../../model_script.js';
import { REMOVED } from '../../../../../../js/values/state/scope.js';
import { whatItSaw } from '../differences.js';
import { key, type Scenario, textOf } from '../scenario.js';
import { type Stage, modelRequests } from '../stage.js';

/** A tool that sets the key of its call to the value of its call. */
export function setState({ adk }: Stage) {
  return new adk.FunctionTool({
    name: 'set_state',
    description: 'Sets a key of the state.',
    parameters: z.object({ key: z.string(), value: z.unknown() }),
    execute: ({ key, value }, context) => {
      context?.state.set(key, value);
      return { status: 'ok' };
    },
  });
}

/** The model's wish that {@link setState} be called. */
export const set = (key: string, value: unknown) => toolCall('set_state', { key, value });

/** Another session of the same user. */
const later = { ...key, sessionId: 'later' };

const callbacks: Scenario = {
  name: 'a tool, every callback, outputKey and the Runner write, each into its scope',
  sessions: [key, later],
  async run(stage) {
    await stage.create({ seed: 1 });
    const model = stage.model(set('user:name', 'Ada'), 'Done.');
    const order: string[] = [];
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model,
      instruction: '{seed} {asked} {user:name?} {app:runs?}',
      tools: [setState(stage)],
      outputKey: 'answer',
      beforeAgentCallback: ({ state }) => {
        order.push('beforeAgent');
        state.set('app:runs', 1);
        return undefined;
      },
      beforeModelCallback: ({ context }) => {
        order.push('beforeModel');
        context.state.set('asks', context.state.get('asks', 0)! + 1);
        return undefined;
      },
      afterModelCallback: ({ context }) => {
        order.push('afterModel');
        context.state.set('answers', context.state.get('answers', 0)! + 1);
        return undefined;
      },
      beforeToolCallback: ({ context, args }) => {
        order.push('beforeTool');
        context.state.set('wanted', args);
        return undefined;
      },
      afterToolCallback: ({ context, response }) => {
        order.push('afterTool');
        context.state.set('tooled', response);
        return { ...response, noted: true };
      },
      afterAgentCallback: (context) => {
        order.push('afterAgent');
        context.state.set('ended', context.state.get('answer'));
        return undefined;
      },
    });
    const events = await stage.turn(agent, { stateDelta: { asked: 2, 'user:lang': 'en' } });
    await stage.sessionService.createSession(later);
    const deltas = events.map(({ actions }) => actions.stateDelta);
    return { order, told: modelRequests(model), deltas };
  },
  shows: {
    order: [
      'beforeAgent',
      'beforeModel',
      'afterModel',
      'beforeTool',
      'afterTool',
      'beforeModel',
      'afterModel',
      'afterAgent',
    ],
    told: ['1 2  1', '1 2 Ada 1'],
    deltas: [
      { 'app:runs': 1 },
      { asks: 1, answers: 1 },
      { wanted: { key: 'user:name', value: 'Ada' }, 'user:name': 'Ada', tooled: { status: 'ok' } },
      { asks: 2, answers: 2, answer: 'Done.' },
      { ended: 'Done.' },
    ],
  },
};

const ready: Scenario = {
  name: 'a callback answers in place of the tool, of the model, and of the agent',
  async run(stage) {
    await stage.create();
    const model = stage.model(set('k', 'by the tool'));
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model,
      tools: [setState(stage)],
      outputKey: 'answer',
      beforeAgentCallback: ({ state }) => {
        const turns = state.get('turns', 0)! + 1;
        state.set('turns', turns);
        return turns === 2 ? { role: 'model', parts: [{ text: 'Not again.' }] } : undefined;
      },
      beforeToolCallback: ({ context }) => {
        context.state.set('k', 'by the callback');
        return { status: 'ready' };
      },
      beforeModelCallback: ({ context }) => {
        if (context.state.get('k') === undefined) return undefined;
        context.state.set('cached', true);
        return textResponse('From the cache.');
      },
    });
    const first = await stage.turn(agent, { text: 'one' });
    const second = await stage.turn(agent, { text: 'two' });
    return { asked: model.requests.length, texts: [...first, ...second].map(textOf) };
  },
  shows: { asked: 1, texts: ['', '', '', 'From the cache.', 'Not again.'] },
};

const streams: Scenario = {
  name: 'of a stream the whole text is stored, once',
  async run(stage) {
    await stage.create();
    const partial = (text: string) => ({ ...textResponse(text), partial: true });
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model([partial('Hel'), partial('lo'), textResponse('Hello')]),
      outputKey: 'answer',
    });
    const runConfig = { streamingMode: stage.adk.StreamingMode.SSE };
    const events = await stage.turn(agent, { runConfig });
    return events.map((event) => [textOf(event), event.partial === true]);
  },
  shows: [
    ['Hel', true],
    ['lo', true],
    ['Hello', false],
  ],
};

const atOnce: Scenario = {
  name: 'tools that are called at once write into one event, the last call of a key winning',
  async run(stage) {
    await stage.create();
    const wanted = toolCalls(
      ['set_state', { key: 'k', value: 1 }],
      ['set_state', { key: 'l', value: { m: [null] } }],
      ['set_state', { key: 'k', value: 2 }],
    );
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model(wanted, 'Done.'),
      tools: [setState(stage)],
    });
    const events = await stage.turn(agent);
    return events.map(({ actions }) => actions.stateDelta);
  },
  shows: [{}, { k: 2, l: { m: [null] } }, {}],
};

const noRemoval = 'there a key that was ever set stays';

const removals: Scenario = {
  name: 'a tool removes keys',
  async run(stage) {
    await stage.create({ basket: [1], pencil: 1, kept: 1 });
    const seen: unknown[] = [];
    const clear = new stage.adk.FunctionTool({
      name: 'clear',
      description: 'Clears.',
      execute: (_input, context) => {
        context?.state.set('basket', REMOVED);
        context?.state.set('pencil', undefined);
        return {};
      },
    });
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model(toolCall('clear'), 'Done.'),
      instruction: ({ state }) => {
        seen.push([state.has('basket'), state.has('pencil')]);
        return '';
      },
      tools: [clear],
    });
    await stage.turn(agent);
    return seen;
  },
  shows: [
    [true, true],
    [false, false],
  ],
  differs: [
    ...whatItSaw([[], [false, false]], [[], [true, true]], noRemoval),
    {
      path: 'stored.0.state.basket',
      ours: undefined,
      theirs: '__ADK_SENTINEL_REMOVED__',
      why: noRemoval,
    },
    {
      path: 'stored.0.events.2.actions.stateDelta.pencil',
      ours: '__ADK_SENTINEL_REMOVED__',
      theirs: undefined,
      why: 'a removal by undefined is stored as JSON can say it, as other ADKs do',
    },
  ],
};

const artifacts: Scenario = {
  name: 'a tool saves versions of an artifact, and an instruction names it',
  async run(stage) {
    await stage.create();
    const save = new stage.adk.FunctionTool({
      name: 'save',
      description: 'Saves.',
      parameters: z.object({ text: z.string() }),
      execute: async ({ text }, context) => context?.saveArtifact('a.txt', { text }),
    });
    const model = stage.model(
      toolCall('save', { text: 'A' }),
      toolCall('save', { text: 'B' }),
      'Done.',
    );
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model,
      instruction: '{artifact.a.txt?}',
      tools: [save],
    });
    const artifactService = new stage.adk.InMemoryArtifactService();
    const events = await stage.turn(agent, { runner: { artifactService } });
    return events.map(({ actions }) => actions.artifactDelta);
  },
  shows: [{}, { 'a.txt': 0 }, {}, { 'a.txt': 1 }, {}],
};

export const llmAgent: readonly Scenario[] = [
  callbacks,
  ready,
  streams,
  atOnce,
  removals,
  artifacts,
];
