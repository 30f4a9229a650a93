/** Agents that delegate work: to a tool with its own session, to a sub-agent, to one of several. */

import { toolCall } from '../../model_script.js';
import { set, setState } from './llm_agent.js';
import { key, type Scenario, textOf } from '../scenario.js';
import { modelRequests } from '../stage.js';

/** The session of an AgentTool: it has the id of its caller's session, in an app with the agent's name. */
const child = { ...key, appName: 'child' };
const ask = toolCall('child', { request: 'find' });

const delegation: Scenario = {
  name: 'the child of an AgentTool knows its state of the last call, and what it writes reaches the parent',
  sessions: [key, child],
  async run(stage) {
    const { AgentTool, LlmAgent } = stage.adk;
    await stage.create({ topic: 'tea' });
    const model = stage.model(set('found', 'rooibos'), 'rooibos', set('found', 'mint'), 'mint');
    const agent = new LlmAgent({
      name: 'child',
      model,
      description: 'Finds a tea.',
      instruction: '{topic} {found?}',
      tools: [setState(stage)],
    });
    const parent = new LlmAgent({
      name: 'parent',
      model: stage.model(ask, 'first', ask, 'second'),
      tools: [new AgentTool({ agent })],
      outputKey: 'answer',
    });
    const first = await stage.turn(parent, { text: 'one' });
    const second = await stage.turn(parent, { text: 'two' });
    return { told: modelRequests(model), texts: [...first, ...second].map(textOf) };
  },
  shows: {
    told: ['tea ', 'tea rooibos', 'tea rooibos', 'tea mint'],
    texts: ['', '', 'first', '', '', 'second'],
  },
};

const scopes: Scenario = {
  name: 'the child of an AgentTool starts with app: and user: state of its parent',
  sessions: [key, child, { ...child, sessionId: 'later' }],
  async run(stage) {
    const { AgentTool, LlmAgent } = stage.adk;
    await stage.create();
    const model = stage.model('rooibos');
    const agent = new LlmAgent({
      name: 'child',
      model,
      description: 'Finds a tea.',
      instruction: 'for {user:name}, who pays {app:price}; {temp:secret?}',
    });
    const parent = new LlmAgent({
      name: 'parent',
      model: stage.model(ask, 'Done.'),
      tools: [new AgentTool({ agent })],
      beforeAgentCallback: ({ state }) => {
        state.update({ 'user:name': 'Ada', 'app:price': 3, 'temp:secret': () => 1 });
        return undefined;
      },
    });
    await stage.turn(parent);
    await stage.sessionService.createSession({ ...child, sessionId: 'later' });
    return modelRequests(model);
  },
  shows: ['for Ada, who pays 3; '],
  differs: Object.entries({ 'user:name': 'Ada', 'app:price': 3 }).map(([key, ours]) => ({
    path: `stored.2.state.${key}`,
    ours,
    theirs: undefined,
    why: "the state that a session is created with reaches the scopes of its keys, here those of the child's app; there it stays in that one session",
  })),
};

const transfer: Scenario = {
  name: 'a sub-agent that was transferred to answers the next turn too, as the stored events say',
  async run(stage) {
    const { LlmAgent } = stage.adk;
    await stage.create({ guest: 'Ada' });
    const expert = new LlmAgent({
      name: 'expert',
      description: 'Knows teas.',
      model: stage.model('Rooibos.', 'From South Africa.'),
      instruction: 'Help {guest}, greeted: {greeted}',
      outputKey: 'advice',
    });
    const host = new LlmAgent({
      name: 'host',
      model: stage.model(toolCall('transfer_to_agent', { agentName: 'expert' })),
      subAgents: [expert],
      beforeAgentCallback: ({ state }) => {
        state.set('greeted', true);
        return undefined;
      },
    });
    const first = await stage.turn(host, { text: 'Which tea?' });
    const second = await stage.turn(host, { text: 'Where from?' });
    return [first, second].map((events) =>
      events.map((event) => [event.author, textOf(event), event.actions.transferToAgent ?? null]),
    );
  },
  shows: [
    [
      ['host', '', null],
      ['host', '', null],
      ['host', '', 'expert'],
      ['expert', 'Rooibos.', null],
    ],
    [['expert', 'From South Africa.', null]],
  ],
};

const routed: Scenario = {
  name: 'a RoutedAgent chooses by the state, and takes another agent where one fails',
  async run(stage) {
    const { LlmAgent, RoutedAgent } = stage.adk;
    await stage.create();
    const broken = new LlmAgent({
      name: 'broken',
      model: stage.model('fine'),
      beforeAgentCallback: () => {
        throw new Error('broken');
      },
    });
    const sound = new LlmAgent({ name: 'sound', model: stage.model('one', 'two'), outputKey: 'k' });
    const agent = new RoutedAgent({
      name: 'routed',
      agents: [broken, sound],
      router: (_agents, { session }, failure) =>
        failure || session.state.k !== undefined ? 'sound' : 'broken',
    });
    const first = await stage.turn(agent, { text: 'one' });
    const second = await stage.turn(agent, { text: 'two' });
    return [...first, ...second].map((event) => [event.author, textOf(event)]);
  },
  shows: [
    ['sound', 'one'],
    ['sound', 'two'],
  ],
  // In the browser build of 2.0.0, the failure ends the turn over any service. That build is compiled for old
  // browsers, does not recognise an agent's generator, and does not catch its errors.
  needs: 'node',
};

export const delegations: readonly Scenario[] = [delegation, scopes, transfer, routed];
