/**
 * An agent loop without any framework, for pages and Node. It asks the model, appends the response and
 * runs the requested tools, until the model answers with text. Then it runs the sub-agents.
 */
import type { Content, Context, NewEvent, Part } from 'adk-session-wasm';
import { finalResponseText, type Invocation, resolveInstruction } from 'adk-session-wasm';
import { historyView } from 'adk-session-wasm/history';

type Values = Record<string, unknown>;
/** `declaration` describes the tool to the model. */
export interface Tool {
  declaration: { name: string; description: string; parameters?: Values };
  run(args: Values, context: Context): Values | Promise<Values>;
}
export interface Agent {
  name: string;
  instruction: string;
  outputKey?: string;
  tools?: Tool[];
  subAgents?: Agent[];
}
/** A model that streams gives each piece of its text to `onText`, and returns the whole. */
export type Model = (
  instruction: string,
  contents: Content[],
  tools: Tool[],
  onText?: (text: string) => void,
) => Promise<Content>;

/**
 * Answers the user. All agents of the loop share the `temp:` state, which ends with it. The message is stored unless a run
 * of the page has stored it.
 *
 * @param onPartial gets the pieces of a streamed response
 */
export async function answer(
  root: Agent,
  model: Model,
  invocation: Invocation,
  onPartial: (event: NewEvent) => void = () => undefined,
): Promise<string> {
  const { invocationId } = invocation;
  async function run(agent: Agent, branch: string): Promise<string> {
    const { name: agentName, tools = [], outputKey, subAgents = [] } = agent;
    let text: string | undefined;
    while (text === undefined) {
      const context = invocation.context({ agentName, branch });
      const instruction = await resolveInstruction(agent.instruction, context);
      // Without undone turns, and without the texts of other agents: agents pass results through the state.
      const events = historyView(invocation.session.events, { agentName, branch });
      const contents = events.flatMap(({ author, content = [] }) =>
        author === 'user' || author === agentName ? content : [],
      );
      const content = await model(instruction, contents, tools, (text) => {
        const piece = { role: 'model', parts: [{ text }] };
        onPartial({ invocationId, author: agentName, branch, partial: true, content: piece });
      });
      const event = await invocation.append({ content }, { context, outputKey });
      const parts: Part[] = [];
      for (const { functionCall } of content.parts ?? []) {
        if (functionCall === undefined) continue;
        const { name = '', args = {}, ...id } = functionCall;
        const tool = tools.find(({ declaration }) => declaration.name === name);
        const response = (await tool?.run(args, context)) ?? { error: `There is no tool ${name}.` };
        parts.push({ functionResponse: { ...id, name, response } });
      }
      if (parts.length === 0) text = finalResponseText(event) ?? '';
      else await invocation.append({ content: { role: 'user', parts } }, { context });
    }
    for (const next of subAgents) text = await run(next, `${branch}.${next.name}`);
    return text;
  }
  try {
    const isStored = invocation.session.events.some((event) => event.invocationId === invocationId);
    if (!isStored) await invocation.append({ content: invocation.userContent ?? {} });
    return await run(root, root.name);
  } finally {
    invocation.end();
  }
}
