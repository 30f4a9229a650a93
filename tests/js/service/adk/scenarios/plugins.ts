/** Options of the Runner besides the agent: plugins, memory, artifacts, code executors. */

import type { BasePlugin, Event, ExecuteCodeParams } from '@google/adk';

import { toolCall, textResponse } from '../model_script.js';
import { key, type Scenario, textOf } from './scenario.js';
import type { Stage } from './stage.js';

/** A plugin that does what is given, and nothing else. */
function plugin({ adk }: Stage, callbacks: Partial<BasePlugin>): BasePlugin {
  class Plugin extends adk.BasePlugin {}
  return Object.assign(new Plugin('plugin'), callbacks);
}

const rewriting: Scenario = {
  name: 'a plugin rewrites the message of the user, and events on their way to the store',
  async run(stage) {
    await stage.create();
    const rewriter = plugin(stage, {
      onUserMessageCallback: async () => ({ role: 'user', parts: [{ text: 'rewritten' }] }),
      onEventCallback: async ({ event }) => ({
        ...event,
        customMetadata: { seen: true },
        actions: { ...event.actions, stateDelta: { ...event.actions.stateDelta, plugged: true } },
      }),
    });
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model('answer'),
      outputKey: 'answer',
    });
    const events = await stage.turn(agent, { runner: { plugins: [rewriter] } });
    const asked = (await stage.stored()).events.slice(0, 1);
    return [...asked, ...events].map((event) => [textOf(event), event.customMetadata ?? null]);
  },
  shows: [
    ['rewritten', null],
    ['answer', { seen: true }],
  ],
};

const early: Scenario = {
  name: 'a plugin ends a run before it has begun, with an answer that is stored',
  async run(stage) {
    await stage.create();
    const closed = plugin(stage, {
      beforeRunCallback: async () => ({ role: 'model', parts: [{ text: 'Closed.' }] }),
    });
    const agent = new stage.adk.LlmAgent({ name: 'agent', model: stage.model() });
    const events = await stage.turn(agent, { runner: { plugins: [closed] } });
    return events.map(textOf);
  },
  shows: ['Closed.'],
};

const errors: Scenario = {
  name: 'a plugin answers where a tool and the model fail, and what it writes for the tool is stored',
  async run(stage) {
    await stage.create();
    const rescue = plugin(stage, {
      onToolErrorCallback: async ({ toolContext, error }) => {
        toolContext.state.set('toolError', error.message);
        return { rescued: true };
      },
      onModelErrorCallback: async ({ callbackContext, error }) => {
        // The framework loses this: it yields just the response.
        callbackContext.state.set('modelError', error.message);
        // The Runner fails for a value that is not an event.
        return stage.adk.createEvent({ ...textResponse('Rescued.'), author: 'agent' });
      },
    });
    const breaks = new stage.adk.FunctionTool({
      name: 'break',
      description: 'Breaks.',
      execute: (_input, context) => {
        context?.state.set('half', 'written before the tool threw');
        throw new Error('broken tool');
      },
    });
    const agent = new stage.adk.LlmAgent({
      name: 'agent',
      model: stage.model(toolCall('break'), () => {
        throw new Error('broken model');
      }),
      tools: [breaks],
    });
    const events = await stage.turn(agent, { runner: { plugins: [rescue] } });
    return events.map(({ actions }) => actions.stateDelta);
  },
  shows: [
    {},
    { half: 'written before the tool threw', toolError: "Error in tool 'break': broken tool" },
    {},
  ],
};

const memory: Scenario = {
  name: 'a memory service takes a stored session, and finds it by its words',
  async run(stage) {
    const { InMemoryMemoryService, LlmAgent } = stage.adk;
    await stage.create();
    const memoryService = new InMemoryMemoryService();
    await stage.turn(new LlmAgent({ name: 'agent', model: stage.model('Rooibos is red.') }));
    await memoryService.addSessionToMemory(await stage.stored());
    const { memories } = await memoryService.searchMemory({ ...key, query: 'rooibos' });
    return memories.map(({ content }) => content);
  },
  shows: [{ role: 'model', parts: [{ text: 'Rooibos is red.' }] }],
};

const uploads: Scenario = {
  name: 'a file that a message brings is kept as an artifact, and the stored message names it',
  async run(stage) {
    await stage.create();
    const { InMemoryArtifactService, LlmAgent } = stage.adk;
    const inlineData = { data: 'QUJD', mimeType: 'text/plain', displayName: 'abc.txt' };
    const artifactService = new InMemoryArtifactService();
    const events = await stage.turn(
      new LlmAgent({ name: 'agent', model: stage.model('Thanks.') }),
      {
        newMessage: { role: 'user', parts: [{ inlineData }] },
        runConfig: { saveInputBlobsAsArtifacts: true },
        runner: { artifactService },
      },
    );
    const kept = await artifactService.listArtifactKeys(key);
    return { texts: events.map(textOf), kept };
  },
  shows: { texts: ['Thanks.'], kept: ['abc.txt'] },
};

const code: Scenario = {
  name: 'a code executor keeps in the state which files it has seen, and the next turn knows',
  async run(stage) {
    await stage.create();
    const { BaseCodeExecutor, InMemoryArtifactService, LlmAgent } = stage.adk;
    const executed: string[] = [];
    class Executor extends BaseCodeExecutor {
      override optimizeDataFile = true;
      override stateful = true;
      override async executeCode({ codeExecutionInput }: ExecuteCodeParams) {
        const { inputFiles = [], executionId } = codeExecutionInput;
        executed.push(`${inputFiles.map(({ name }) => name).join()} in ${executionId}`);
        return { stdout: 'two columns', stderr: '', outputFiles: [] };
      }
    }
    const agent = new LlmAgent({
      name: 'agent',
      model: stage.model('Two.', 'Still two.'),
      codeExecutor: new Executor(),
    });
    const runner = { artifactService: new InMemoryArtifactService() };
    const inlineData = { data: 'YSxiCjEsMgo=', mimeType: 'text/csv' };
    const newMessage = { role: 'user', parts: [{ text: 'How many columns?' }, { inlineData }] };
    const first = await stage.turn(agent, { newMessage, runner });
    const second = await stage.turn(agent, { text: 'Sure?', runner });
    const deltas = (events: Event[]) =>
      events.map(({ actions }) => Object.keys(actions.stateDelta));
    return { executed, first: deltas(first), second: deltas(second) };
  },
  shows: {
    executed: ['data_1_2.csv in s'],
    first: [[], ['_code_execution_context'], []],
    second: [[]],
  },
};

export const plugins: readonly Scenario[] = [rewriting, early, errors, memory, uploads, code];
