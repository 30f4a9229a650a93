/** Runs that wait for input, and continue in a later turn with the stored data. */

import type { AuthConfig, BasePlugin, Event, FunctionTool, ToolOptions } from '@google/adk';

import { toolCall, type Reply } from '../model_script.js';
import { type Scenario, textOf } from './scenario.js';
import type { Stage, Turn } from './stage.js';

/** The response to a function call in an event of the last turn. */
function answerTo(events: readonly Event[], name: string, response: object): Turn {
  const calls = events.flatMap(({ content }) => content?.parts ?? []);
  const id = calls.find(({ functionCall }) => functionCall?.name === name)?.functionCall?.id;
  return { newMessage: { role: 'user', parts: [{ functionResponse: { id, name, response } }] } };
}

/** Two turns: the first ends with a question, the second has the answer. */
async function askAndAnswer(
  stage: Stage,
  tool: FunctionTool,
  replies: readonly Reply[],
  answer: (events: readonly Event[]) => Turn,
  plugins: BasePlugin[] = [],
): Promise<unknown> {
  await stage.create();
  const model = stage.model(...replies);
  const agent = new stage.adk.LlmAgent({ name: 'agent', model, tools: [tool] });
  const runner = { plugins, resumabilityConfig: { isResumable: true } };
  const first = await stage.turn(agent, { text: 'please', runner });
  const handed = await stage.stored();
  const second = await stage.turn(agent, { ...answer(handed.events), runner });
  const { state } = await stage.stored();
  return { first: first.map(textOf), second: second.map(textOf), state };
}

/** A tool without parameters. */
const tool = (
  { adk }: Stage,
  options: Pick<ToolOptions<undefined>, 'execute' | 'requireConfirmation'>,
) => new adk.FunctionTool({ name: 'pay', description: 'Pays.', ...options });

const longRunning: Scenario = {
  name: 'the result of a long-running tool arrives in a later turn',
  run(stage) {
    const pay = new stage.adk.LongRunningFunctionTool({
      name: 'pay',
      description: 'Pays.',
      execute: (_input, context) => {
        context?.state.set('payment', 'under way');
        return { status: 'pending' };
      },
    });
    return askAndAnswer(stage, pay, [toolCall('pay'), 'Wait.', 'It is paid.'], (events) =>
      answerTo(events, 'pay', { status: 'paid' }),
    );
  },
  shows: { first: ['', '', 'Wait.'], second: ['It is paid.'], state: { payment: 'under way' } },
};

const confirmation: Scenario = {
  name: 'a tool call that wants to be confirmed runs when that has been done in a later turn',
  run(stage) {
    const pay = tool(stage, {
      requireConfirmation: true,
      execute: (_input, context) => {
        context?.state.set('paid', true);
        return { status: 'paid' };
      },
    });
    return askAndAnswer(stage, pay, [toolCall('pay'), 'It is paid.'], (events) =>
      answerTo(events, 'adk_request_confirmation', { confirmed: true }),
    );
  },
  shows: { first: ['', ''], second: ['', 'It is paid.'], state: { paid: true } },
};

const authConfig: AuthConfig = {
  authScheme: { type: 'apiKey', name: 'key', in: 'header' },
  credentialKey: 'bank',
};

const credential: Scenario = {
  name: 'a credential that a tool has asked for is there in the turn that brings it, and never stored as state',
  run(stage) {
    const seen: unknown[] = [];
    const pay = tool(stage, {
      execute: (_input, context) => {
        const credential = context?.getAuthResponse(authConfig);
        seen.push(credential ?? null);
        if (credential !== undefined) return { status: 'paid' };
        context?.requestCredential(authConfig);
        return { status: 'no credential' };
      },
    });
    const replies = [toolCall('pay'), 'It is paid.'];
    return askAndAnswer(stage, pay, replies, (events) =>
      answerTo(events, 'adk_request_credential', {
        ...authConfig,
        exchangedAuthCredential: { authType: 'apiKey', apiKey: 'secret' },
      }),
    ).then((run) => ({ run, seen }));
  },
  shows: {
    run: { first: ['', '', ''], second: ['', 'It is paid.'], state: {} },
    seen: [null, { authType: 'apiKey', apiKey: 'secret' }],
  },
};

const policy: Scenario = {
  name: 'a SecurityPlugin remembers in the state what it has asked, and what the answer was',
  async run(stage) {
    const { PolicyOutcome, SecurityPlugin } = stage.adk;
    const policyEngine = { evaluate: async () => ({ outcome: PolicyOutcome.CONFIRM }) };
    const execute = () => ({ status: 'paid' });
    // The tool also requests confirmation: 2.0.0 accepts no approval for other tools.
    const pay = tool(stage, { requireConfirmation: true, execute });
    return askAndAnswer(
      stage,
      pay,
      [toolCall('pay'), 'It is paid.'],
      (events) => answerTo(events, 'adk_request_confirmation', { confirmed: true }),
      [new SecurityPlugin({ policyEngine })],
    );
  },
  shows: {
    first: ['', ''],
    second: ['', 'It is paid.'],
    state: {
      orcas_tool_call_security_check_states: { 'adk-uuid-1': { hint: '', confirmed: true } },
    },
  },
};

export const pauses: readonly Scenario[] = [longRunning, confirmation, credential, policy];
