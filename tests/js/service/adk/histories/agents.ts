// The agents whose requests are compared. Each takes two kinds of messages: `plain …`, and `special …`, which makes
// it do what it is there for.
import {
  A2AAgentExecutor,
  type Event,
  FunctionTool,
  LlmAgent,
  ParallelAgent,
  RemoteA2AAgent,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  Runner,
  InMemorySessionService,
} from '@google/adk';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';

import { type MakeAgent, type Message, type Part, RecordingModel } from './conversation.js';

const isSpecial = ({ text = '' }: Part): boolean => text.startsWith('special');

/** An answer that tells which agent gave it, and to what. */
const answer = (agent: string, last: Part): Part[] => [
  { text: `${agent}: ${last.text ?? JSON.stringify(last.functionResponse?.response)}` },
];

const echo = (name: string) => (last: Part) => answer(name, last);

const subAgent: MakeAgent = (requests) => {
  const child = new LlmAgent({
    name: 'child',
    description: 'takes over',
    model: new RecordingModel(requests, echo('child')),
  });
  const transfer = { functionCall: { name: 'transfer_to_agent', args: { agentName: 'child' } } };
  const reply = (last: Part): Part[] => (isSpecial(last) ? [transfer] : answer('root', last));
  return new LlmAgent({
    name: 'root',
    model: new RecordingModel(requests, reply),
    subAgents: [child],
  });
};

const parallelBranches: MakeAgent = (requests) => {
  const subAgents = ['left', 'right'].map(
    (name) => new LlmAgent({ name, model: new RecordingModel(requests, echo(name)) }),
  );
  return new ParallelAgent({ name: 'root', subAgents });
};

const callTool = (last: Part): Part[] =>
  isSpecial(last)
    ? [{ functionCall: { name: 'work', args: { what: last.text } } }]
    : answer('root', last);

const withTool =
  (requireConfirmation: boolean): MakeAgent =>
  (requests) => {
    const tool = new FunctionTool({
      name: 'work',
      description: 'works',
      requireConfirmation,
      execute: (given: unknown) => ({ done: given }),
    });
    return new LlmAgent({
      name: 'root',
      model: new RecordingModel(requests, callTool),
      tools: [tool],
    });
  };

/** Answers the last question for a confirmation. */
export const confirm =
  (confirmed: boolean): Message =>
  (events: readonly Event[]) => {
    const calls = events.flatMap(({ content }) => content?.parts ?? []);
    const { id } = calls.findLast(
      ({ functionCall }) => functionCall?.name === REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
    )!.functionCall!;
    const name = REQUEST_CONFIRMATION_FUNCTION_CALL_NAME;
    return { functionResponse: { id: id!, name, response: { confirmed } } };
  };

/** An agent behind a real A2A server, without a network. Its requests are the messages that are sent to the server. */
const a2a: MakeAgent = (requests) => {
  const agent = new LlmAgent({ name: 'served', model: new RecordingModel([], echo('served')) });
  const runner = new Runner({
    appName: 'far',
    agent,
    sessionService: new InMemorySessionService(),
  });
  const card = {
    name: 'far',
    description: 'far away',
    protocolVersion: '0.3.0',
    version: '1',
    url: 'http://localhost/',
    capabilities: { streaming: true },
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    skills: [],
  };
  const handler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new A2AAgentExecutor({ runner }),
  );
  type Client = NonNullable<ConstructorParameters<typeof RemoteA2AAgent>[0]['client']>;
  const client = {
    sendMessageStream: (params: Parameters<Client['sendMessageStream']>[0]) =>
      handler.sendMessageStream(params),
  } as Client;
  return new RemoteA2AAgent({
    name: 'far',
    client,
    beforeRequestCallbacks: [
      (_, { message: { parts, contextId } }) => {
        const texts = parts.map((part): Part => ({ text: JSON.stringify(part) }));
        requests.push([{ role: contextId ?? 'no context', parts: texts }]);
      },
    ],
  });
};

export const AGENTS: Readonly<Record<string, MakeAgent>> = {
  'a sub-agent': subAgent,
  'agents on parallel branches': parallelBranches,
  'an agent with a tool': withTool(false),
  'an agent whose tool asks for confirmation': withTool(true),
  'an agent behind A2A': a2a,
};
