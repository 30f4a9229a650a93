/** `temp:` state: seen by all that follows in its invocation, and nowhere afterwards. */

import type { BaseAgent, LlmAgentConfig } from '@google/adk';

import { toolCall, type Reply } from '../model_script.js';
import type { Difference, Scenario } from './scenario.js';
import { type Stage, modelRequests } from './stage.js';

/**
 * Two turns in which `writer` writes `temp:x`. Returns the values that agents before and after it see, also
 * parallel ones and those in a loop, and the stored state.
 */
async function twoTurns(
  stage: Stage,
  writer: BaseAgent,
  stateDelta?: Record<string, unknown>,
): Promise<unknown> {
  const { LlmAgent, LoopAgent, ParallelAgent, SequentialAgent } = stage.adk;
  await stage.create();
  const reader = (name: string) => {
    const model = stage.model('ok', 'ok');
    return { model, agent: new LlmAgent({ name, model, instruction: 'x: {temp:x?}' }) };
  };
  const [before, after, beside, again] = ['before', 'after', 'beside', 'again'].map(reader);
  if (!before || !after || !beside || !again) throw new Error('four readers');
  const all = new SequentialAgent({
    name: 'all',
    subAgents: [
      before.agent,
      writer,
      after.agent,
      new ParallelAgent({ name: 'parallel', subAgents: [beside.agent] }),
      new LoopAgent({ name: 'loop', subAgents: [again.agent], maxIterations: 1 }),
    ],
  });
  const first = await stage.turn(all, { text: 'one', ...(stateDelta && { stateDelta }) });
  const second = await stage.turn(all, { text: 'two' });
  const yielded = [...first, ...second].map(({ actions }) => Object.keys(actions.stateDelta));
  return {
    before: modelRequests(before.model),
    after: modelRequests(after.model),
    beside: modelRequests(beside.model),
    again: modelRequests(again.model),
    yielded: yielded.flat(),
    isLeft: JSON.stringify(await stage.stored()).includes('temp:'),
  };
}

const seen = {
  before: ['x: ', 'x: '],
  after: ['x: written', 'x: written'],
  beside: ['x: written', 'x: written'],
  again: ['x: written', 'x: written'],
  yielded: [],
  isLeft: false,
};

/** `temp:` keys, which the framework's service partly drops. */
const dropped = (readers: readonly string[], turns: readonly number[]): Difference[] =>
  readers.flatMap((reader) =>
    turns.map((turn) => ({
      path: `saw.${reader}.${turn}`,
      ours: 'x: written',
      theirs: 'x: ',
      why: 'there temp: keys of a delta that did not come through a State are dropped before anyone has seen them',
    })),
  );

/** An agent with its own model that writes in the ways of its config. */
function writes(
  name: string,
  config: (stage: Stage) => Partial<LlmAgentConfig>,
  replies: readonly Reply[] = ['said', 'said'],
): Scenario {
  return {
    name: `temp: state of ${name} is seen by every later agent of its turn, and nowhere afterwards`,
    run: (stage) => {
      const model = stage.model(...replies);
      return twoTurns(stage, new stage.adk.LlmAgent({ name: 'writer', model, ...config(stage) }));
    },
    shows: seen,
  };
}

const note = ({ adk }: Stage) =>
  new adk.FunctionTool({
    name: 'note',
    description: 'Notes something.',
    execute: (_input, context) => {
      context?.state.set('temp:x', 'written');
      return {};
    },
  });

const noted = [toolCall('note'), 'said', toolCall('note'), 'said'];

const byCallbacks: readonly Scenario[] = [
  writes('a tool', (stage) => ({ tools: [note(stage)] }), noted),
  writes('a beforeAgentCallback', () => ({
    beforeAgentCallback: ({ state }) => {
      state.set('temp:x', 'written');
      return undefined;
    },
  })),
  writes('an afterAgentCallback', () => ({
    afterAgentCallback: ({ state }) => {
      state.set('temp:x', 'written');
      return undefined;
    },
  })),
  writes('a beforeModelCallback', () => ({
    beforeModelCallback: ({ context }) => {
      context.state.set('temp:x', 'written');
      return undefined;
    },
  })),
  writes('an afterModelCallback', () => ({
    afterModelCallback: ({ context }) => {
      context.state.set('temp:x', 'written');
      return undefined;
    },
  })),
];

const byOutputKey: Scenario = {
  ...writes('an outputKey', () => ({ outputKey: 'temp:x' }), ['written', 'written']),
  differs: dropped(['after', 'beside', 'again'], [0, 1]),
};

const byEvent: Scenario = {
  name: 'temp: state of an event made by hand is seen by every later agent of its turn, and nowhere afterwards',
  run: (stage) =>
    twoTurns(
      stage,
      stage.agent('writer', async function* (context) {
        yield stage.event(context, { 'temp:x': 'written' });
      }),
    ),
  shows: seen,
  differs: dropped(['after', 'beside', 'again'], [0, 1]),
};

const byRunner: Scenario = {
  name: "temp: state of the Runner's stateDelta is seen by every agent of that turn, and nowhere afterwards",
  run: (stage) => {
    const writer = stage.agent('writer', async function* () {
      yield* [];
    });
    return twoTurns(stage, writer, { 'temp:x': 'written' });
  },
  shows: {
    before: ['x: written', 'x: '],
    after: ['x: written', 'x: '],
    beside: ['x: written', 'x: '],
    again: ['x: written', 'x: '],
    yielded: [],
    isLeft: false,
  },
  differs: dropped(['before', 'after', 'beside', 'again'], [0]),
};

const byReference: Scenario = {
  name: 'temp: state may hold what no storage could, and later agents get the same object',
  async run(stage) {
    const { SequentialAgent } = stage.adk;
    await stage.create();
    const connection = { send: () => 'sent', self: undefined as unknown, big: 1n };
    connection.self = connection;
    const open = stage.agent('open', async function* (context) {
      yield stage.write(context, 'temp:connection', connection);
    });
    let isSame = false;
    const use = stage.agent('use', async function* (context) {
      isSame = context.session.state['temp:connection'] === connection;
      yield* [];
    });
    await stage.turn(new SequentialAgent({ name: 'both', subAgents: [open, use] }));
    return isSame;
  },
  shows: true,
};

const initial: Scenario = {
  name: 'temp: keys of the state that a session is created with are dropped',
  async run(stage) {
    const { state } = await stage.create({ 'temp:x': 1, kept: 1 });
    return state;
  },
  shows: { kept: 1 },
};

export const tempState: readonly Scenario[] = [
  ...byCallbacks,
  byOutputKey,
  byEvent,
  byRunner,
  byReference,
  initial,
];
