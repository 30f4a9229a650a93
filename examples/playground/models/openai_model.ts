import type { Content, Part } from 'adk-session-wasm';
import type { Model, Tool } from '../../agent_loop.js';
import { askModel } from '../../ask_model.js';

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

/** A piece of a streamed response. The arguments of a call come in pieces, as the text does. */
interface ResponsePiece {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: Partial<ToolCall['function']>;
      }[];
    };
  }[];
}

/** A call of a tool. `args` is the JSON text of its arguments. */
interface Call {
  id: string;
  name: string;
  args: string;
}

/** A model of any server with OpenAI's API of chat completions. It streams. */
export function openAiModel({ url, key, name }: OpenAiServer): Model {
  const address = `${url.replace(/\/$/, '')}/chat/completions`;
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` };
  return async (instruction, contents, tools, onText) => {
    const system: Message = { role: 'system', content: instruction };
    const request = {
      model: name,
      stream: true,
      messages: [system, ...contents.flatMap(messagesOf)],
      ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    };
    let text = '';
    const calls: Call[] = [];
    for await (const piece of askModel(name, address, headers, request)) {
      const { content, tool_calls = [] } = (piece as ResponsePiece).choices?.[0]?.delta ?? {};
      if (content) {
        text += content;
        onText?.(content);
      }
      for (const { index, id, function: called = {} } of tool_calls) {
        const call = (calls[index] ??= { id: '', name: '', args: '' });
        // Some servers repeat id and name in each piece.
        call.id = id ?? call.id;
        call.name = called.name ?? call.name;
        call.args += called.arguments ?? '';
      }
    }
    if (text === '' && calls.length === 0) throw new Error(`${name} answered without a message`);
    return { role: 'model', parts: [...(text === '' ? [] : [{ text }]), ...calls.map(callPart)] };
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

function callPart({ id, name, args }: Call): Part {
  const values = JSON.parse(args || '{}') as Record<string, unknown>;
  return { functionCall: { id, name, args: values } };
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
