/** An example for the agent loop: two agents and a tool, on any session service, with any model. */
import {
  type SessionService,
  type CompositeSessionKey,
  Invocation,
  type Part,
} from 'adk-session-wasm';
import { type Agent, answer, type Model, type Tool } from './agent_loop.js';

const rememberTaste: Tool = {
  declaration: {
    name: 'remember_taste',
    description: 'Keeps what the guest likes.',
    parameters: { type: 'object', properties: { taste: { type: 'string' } }, required: ['taste'] },
  },
  run({ taste }, { state }) {
    state.set('user:taste', taste);
    return { kept: taste };
  },
};

/** Finds the guest's tea. Its sub-agent writes the offer. */
export const host: Agent = {
  name: 'host',
  instruction: 'Recommend a tea, in one word. The guest likes: {user:taste?}',
  tools: [rememberTaste],
  outputKey: 'temp:tea',
  subAgents: [
    {
      name: 'writer',
      instruction: 'Offer the guest, who likes it {user:taste?}, this tea: {temp:tea}',
      outputKey: 'offer',
    },
  ],
};

/** Answers one message of the guest. */
export async function recommendTea(
  service: SessionService,
  key: CompositeSessionKey,
  model: Model,
  text: string,
  onPartial?: Parameters<typeof answer>[3],
): Promise<string> {
  const session = await service.getOrCreateSession(key);
  const userContent = { role: 'user', parts: [{ text }] };
  return answer(host, model, new Invocation({ service, session, userContent }), onPartial);
}

/** A scripted model: it takes the last word of a message for the guest's taste. */
export const scriptedModel: Model = (instruction, contents, tools) => {
  const { text = '', functionResponse } = contents.at(-1)?.parts?.[0] ?? {};
  const say = (part: Part) => Promise.resolve({ role: 'model', parts: [part] });
  if (tools.length === 0) return say({ text: `As asked: "${instruction}"` });
  if (functionResponse !== undefined) return say({ text: 'rooibos' });
  const args = { taste: text.split(' ').at(-1) };
  return say({ functionCall: { id: 'call-1', name: 'remember_taste', args } });
};
