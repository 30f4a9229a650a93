import type { Content, Part } from 'adk-session-wasm';
import type { Model, Tool } from '../../examples/agent_loop.js';

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

/** Where a model is, and how to ask it. */
export interface OpenAiServer {
  /** The URL below which `chat/completions` is. */
  readonly url: string;
  /** May be empty for a server without keys. */
  readonly key: string;
  readonly name: string;
}

/** A model of any server with OpenAI's API of chat completions. */
export function openAiModel({ url, key, name }: OpenAiServer): Model {
  return async (instruction, contents, tools) => {
    const system: Message = { role: 'system', content: instruction };
    const response = await fetch(`${url.replace(/\/$/, '')}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== '' && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model: name,
        messages: [system, ...contents.flatMap(messagesOf)],
        ...(tools.length > 0 && { tools: tools.map(toolOf) }),
      }),
    });
    if (!response.ok) throw new Error(`${name} answered ${response.status}: ${await response.text()}`); // prettier-ignore
    const { choices } = (await response.json()) as { choices?: { message: Message }[] };
    const message = choices?.[0]?.message;
    if (message === undefined) throw new Error(`${name} answered without a message`);
    return { role: 'model', parts: partsOf(message) };
  };
}

/** One content of a session may be several messages: each response of a tool is one. */
function messagesOf({ role, parts = [] }: Content): Message[] {
  const text = parts.map(({ text = '' }) => text).join('');
  const responses = parts.flatMap(({ functionResponse }): Message[] => {
    if (functionResponse === undefined) return [];
    const { id, name = '', response } = functionResponse;
    return [{ role: 'tool', tool_call_id: id ?? name, content: JSON.stringify(response) }];
  });
  const calls = parts.flatMap(({ functionCall }): ToolCall[] => {
    if (functionCall === undefined) return [];
    const { id, name = '', args = {} } = functionCall;
    return [{ id: id ?? name, type: 'function', function: { name, arguments: JSON.stringify(args) } }]; // prettier-ignore
  });
  if (calls.length > 0) return [{ role: 'assistant', content: text || null, tool_calls: calls }];
  if (text === '') return responses;
  return [...responses, { role: role === 'model' ? 'assistant' : 'user', content: text }];
}

function partsOf({ content, tool_calls = [] }: Message): Part[] {
  const calls = tool_calls.map(({ id, function: { name, arguments: text } }) => ({
    functionCall: { id, name, args: JSON.parse(text || '{}') as Record<string, unknown> },
  }));
  return [...(content ? [{ text: content }] : []), ...calls];
}

function toolOf({ declaration }: Tool): object {
  const { name, description, parameters = { type: 'object', properties: {} } } = declaration;
  return { type: 'function', function: { name, description, parameters: lowerCased(parameters) } };
}

/** Gemini's names of types are those of JSON Schema in capitals. */
function lowerCased(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerCased);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]: [string, unknown]) => {
    const isType = key === 'type' && typeof value === 'string';
    return [key, isType ? value.toLowerCase() : lowerCased(value)] as const;
  });
  return Object.fromEntries(entries);
}
