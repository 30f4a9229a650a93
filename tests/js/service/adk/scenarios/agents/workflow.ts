/** Graphs of nodes: concurrent appends through one handle, and resumed runs. */

import type { BaseSessionService, EdgeItem } from '@google/adk';
import { z } from 'zod';

import { toolCall } from '../../model_script.js';
import { superseded } from './parallel_agents.js';
import { type Scenario, textOf } from '../scenario.js';
import { gate, modelRequests } from '../stage.js';

/** Returns the maximum number of concurrent appends from now on. */
function countAppends(service: BaseSessionService): () => number {
  const append = service.appendEvent.bind(service);
  let [now, most] = [0, 0];
  service.appendEvent = async (request) => {
    now += 1;
    most = Math.max(most, now);
    try {
      return await append(request);
    } finally {
      now -= 1;
    }
  };
  return () => most;
}

/**
 * Lets the agent's input wait until the event of the node before it is stored. The framework appends both at once, so
 * their order would be the chance of a moment.
 */
function storeInputBehind(service: BaseSessionService, node: string): void {
  const append = service.appendEvent.bind(service);
  const stored = gate();
  service.appendEvent = async (request) => {
    const { author, branch } = request.event;
    if (author === 'user' && branch !== undefined) await stored.opened;
    const event = await append(request);
    if (author === node) stored.open();
    return event;
  };
}

const graph: Scenario = {
  name: 'of what parallel nodes of a Workflow write the last stays, and the next node reads it',
  async run(stage) {
    const { FunctionNode, LlmAgent, Workflow } = stage.adk;
    await stage.create();
    storeInputBehind(stage.sessionService, 'late');
    const lateWritten = gate();
    const spoken = gate();
    const begin = new FunctionNode('begin', (context) => {
      context.state.set('k', 'begin');
      context.state.set('temp:note', 'for the agent');
      return 'go';
    });
    // It writes first, and ends when the other's event and the agent's are stored.
    const early = new FunctionNode('early', async (context) => {
      context.state.set('k', 'early');
      await lateWritten.opened;
      await spoken.opened;
      // No output: a workflow may end with one only.
      return undefined;
    });
    const late = new FunctionNode('late', (context) => {
      context.state.set('k', 'late');
      lateWritten.open();
      return 'late';
    });
    const model = stage.model('spoken');
    const speaker = new LlmAgent({
      name: 'speaker',
      model,
      instruction: 'k={k} note={temp:note?}',
      outputKey: 'spoken',
      afterAgentCallback: () => {
        spoken.open();
        return undefined;
      },
    });
    const agent = new Workflow({
      name: 'flow',
      edges: [
        ['START', begin, [early, late]],
        [late, speaker],
      ],
    });
    const events = await stage.turn(agent);
    const yielded = events.map(({ author, output }) => [author, output ?? null]);
    return { told: modelRequests(model), yielded };
  },
  shows: {
    told: ['k=late note=for the agent'],
    yielded: [
      ['begin', 'go'],
      ['late', 'late'],
      ['speaker', 'spoken'],
      ['early', null],
    ],
  },
  differs: [superseded(5, 'k', 'early')],
};

const fanOut: Scenario = {
  name: 'twenty nodes of a Workflow that end at once leave twenty events, and their join one',
  async run(stage) {
    const { FunctionNode, JoinNode, Workflow } = stage.adk;
    await stage.create();
    const released = gate();
    let waiting = 0;
    const nodes = Array.from({ length: 20 }, (_, number) => {
      return new FunctionNode(`node${number}`, async (context) => {
        waiting += 1;
        if (waiting === 20) released.open();
        await released.opened;
        context.state.set(`key${number}`, number);
        context.state.set('user:last', number);
        return number;
      });
    });
    const join = new JoinNode({ name: 'join' });
    const sum = new FunctionNode('sum', (_context, outputs: Record<string, number>) =>
      Object.values(outputs).reduce((sum, output) => sum + output, 0),
    );
    const edges: EdgeItem[] = [['START', nodes, join, sum]];
    const events = await stage.turn(new Workflow({ name: 'flow', edges }));
    return events.at(-1)?.output;
  },
  shows: 190,
};

const speakers: Scenario = {
  name: 'agents that are nodes at once get their input appended beside one another',
  async run(stage) {
    const { FunctionNode, JoinNode, LlmAgent, Workflow } = stage.adk;
    await stage.create();
    const begin = new FunctionNode('begin', () => 'What is tea?');
    const models = ['poet', 'cook', 'critic'].map((name) => ({ name, model: stage.model(name) }));
    const agents = models.map(
      ({ name, model }) => new LlmAgent({ name, model, outputKey: `says_${name}` }),
    );
    const join = new JoinNode({ name: 'join' });
    const edges: EdgeItem[] = [['START', begin, agents, join]];
    const most = countAppends(stage.sessionService);
    const events = await stage.turn(new Workflow({ name: 'flow', edges }));
    return {
      wereAtOnce: most() > 1,
      yielded: events.map(({ author, output }) => [author, output]),
    };
  },
  shows: {
    wereAtOnce: true,
    yielded: [
      ['begin', 'What is tea?'],
      ['poet', 'poet'],
      ['cook', 'cook'],
      ['critic', 'critic'],
      ['join', { poet: 'poet', cook: 'cook', critic: 'critic' }],
    ],
  },
};

const rehydration: Scenario = {
  name: 'a Workflow that waits for an answer goes on with it in a later turn, from what is stored',
  async run(stage) {
    const { FunctionNode, RequestInput, Workflow } = stage.adk;
    await stage.create();
    const runs: string[] = [];
    const draft = new FunctionNode('draft', (context) => {
      runs.push('draft');
      context.state.set('draft', 'a draft');
      return 'a draft';
    });
    const review = new FunctionNode(
      'review',
      (context, input: string) => {
        runs.push('review');
        const verdict = context.resumeInputs?.question;
        if (verdict === undefined)
          return new RequestInput({ interruptId: 'question', message: 'Good?' });
        context.state.set('verdict', verdict);
        return `${input}: ${JSON.stringify(verdict)}`;
      },
      { rerunOnResume: true },
    );
    const publish = new FunctionNode('publish', (_context, input: string) => {
      runs.push('publish');
      return `Published ${input}`;
    });
    const agent = () => new Workflow({ name: 'flow', edges: [['START', draft, review, publish]] });
    const first = await stage.turn(agent(), { text: 'write' });
    const second = await stage.turn(agent(), { text: 'yes' });
    return { runs, first: first.map(textOf), second: second.map(textOf) };
  },
  shows: {
    runs: ['draft', 'review', 'review', 'publish'],
    first: ['a draft', '', ''],
    second: ['a draft: "yes"', 'Published a draft: "yes"'],
  },
};

const dynamic: Scenario = {
  name: 'a Workflow that is code runs nodes as it goes, and knows after a pause which have run',
  async run(stage) {
    const { FunctionNode, RequestInput, Workflow } = stage.adk;
    await stage.create();
    const runs: string[] = [];
    const count = new FunctionNode('count', (context) => {
      runs.push('count');
      context.state.set('count', context.state.get('count', 0)! + 1);
      return 'counted';
    });
    const ask = new FunctionNode(
      'ask',
      (context) => {
        runs.push('ask');
        return context.resumeInputs?.name ?? new RequestInput({ interruptId: 'name' });
      },
      { rerunOnResume: true },
    );
    const agent = () =>
      new Workflow({
        name: 'flow',
        dynamicEntry: async (context) => {
          await context.runNode(count);
          const { output } = await context.runNode(ask);
          return `Hello ${String(output)}`;
        },
      });
    await stage.turn(agent(), { text: 'begin' });
    const events = await stage.turn(agent(), { text: 'Ada' });
    return { runs, output: events.at(-1)?.output };
  },
  shows: { runs: ['count', 'ask', 'ask'], output: 'Hello Ada' },
};

const task: Scenario = {
  name: 'an agent that is a task of a Workflow ends it with an output, which its outputKey gets',
  async run(stage) {
    const { FunctionNode, LlmAgent, Workflow } = stage.adk;
    await stage.create();
    const agent = new LlmAgent({
      name: 'taster',
      mode: 'task',
      model: stage.model(toolCall('finish_task', { verdict: 'good' })),
      outputSchema: z.object({ verdict: z.string() }),
      outputKey: 'tasted',
    });
    const report = new FunctionNode('report', (context, input) => {
      return { input, state: context.state.get('tasted') };
    });
    const edges: EdgeItem[] = [['START', agent, report]];
    const events = await stage.turn(new Workflow({ name: 'flow', edges }));
    return events.at(-1)?.output;
  },
  shows: { input: { verdict: 'good' }, state: { verdict: 'good' } },
};

const schema: Scenario = {
  name: 'a node that writes what the stateSchema of its Workflow forbids leaves nothing of it',
  async run(stage) {
    const { FunctionNode, isStateSchemaError, Workflow } = stage.adk;
    await stage.create();
    const agent = new Workflow({
      name: 'flow',
      stateSchema: z.object({ count: z.number() }),
      edges: [
        [
          'START',
          new FunctionNode('count', (context) => {
            context.state.set('count', 1);
            return 'counted';
          }),
          new FunctionNode('wrong', (context) => {
            context.state.set('count', 'two');
            return 'never';
          }),
        ],
      ],
    });
    const failure = await stage.turn(agent).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { isStateSchemaError: isStateSchemaError(failure), state: (await stage.stored()).state };
  },
  shows: { isStateSchemaError: true, state: { count: 1 } },
};

export const workflow: readonly Scenario[] = [
  graph,
  fanOut,
  speakers,
  rehydration,
  dynamic,
  task,
  schema,
];
