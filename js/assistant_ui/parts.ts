import { ownMembers } from '../members/own.js';
import type { FileData, InlineData, Part } from '../model/event/content.js';
import type { JsonValue } from '../model/session.js';
import type { GivenPart, ToolCallPart, UserPart } from './messages.js';

/** Returns the part of an event that a part of a message becomes; `undefined` if events have no such part. */
export function eventPartOf(part: GivenPart): Part | undefined {
  const { type, text = '', filename, toolCallId: id = '', toolName: name = '' } = part;
  if (type === 'text') return { text };
  if (type === 'reasoning') return { text, thought: true };
  if (type === 'image') return filePart(part.image ?? '', 'image/*', filename);
  if (type === 'file') return filePart(part.data ?? '', part.mimeType ?? UNKNOWN_TYPE, filename);
  return type === 'tool-call' ? { functionCall: { id, name, args: { ...part.args } } } : undefined;
}

/** Returns the part of an event with the result of a call; `undefined` if the call has none. */
export function responsePartOf(part: GivenPart): Part | undefined {
  const { toolCallId: id = '', toolName: name = '', result, isError, isPreliminary } = part;
  if (result === undefined || isPreliminary === true) return undefined;
  return {
    functionResponse: { id, name, response: isError === true ? { error: result } : { result } },
  };
}

/** Returns the text or file of a message that a part of an event becomes; `undefined` if it is none. */
export function messagePartOf({ text, inlineData, fileData }: Part): UserPart | undefined {
  if (typeof text === 'string') return { type: 'text', text };
  if (inlineData === undefined && fileData === undefined) return undefined;
  const file: InlineData & FileData = { ...inlineData, ...fileData };
  const { mimeType = UNKNOWN_TYPE, displayName, data = '', fileUri } = file;
  const name = displayName !== undefined && { filename: displayName };
  return mimeType.startsWith('image/')
    ? { type: 'image', image: fileUri ?? `data:${mimeType};base64,${data}`, ...name }
    : { type: 'file', data: fileUri ?? data, mimeType, ...name };
}

/** Returns the call of a message that a part of an event becomes. */
export function toolCallOf({ id, name = '', args = {} }: NonNullable<Part['functionCall']>) {
  const call: ToolCallPart = {
    type: 'tool-call',
    toolCallId: id ?? name,
    toolName: name,
    args: args as Record<string, JsonValue>,
    argsText: JSON.stringify(args),
  };
  return call;
}

/** Returns the result of a call that the response of an event has. */
export function resultOf(response: object = {}): Pick<ToolCallPart, 'result' | 'isError'> {
  const members = ownMembers(response as { result?: unknown; error?: unknown });
  const [name, ...others] = Object.keys(members);
  if (others.length > 0) return { result: response };
  if (name === 'error') return { result: members.error, isError: true };
  return { result: name === 'result' ? members.result : response };
}

const UNKNOWN_TYPE = 'application/octet-stream';

function filePart(data: string, type: string, name: string | undefined): Part {
  const displayName = name !== undefined && { displayName: name };
  const [, mimeType, base64] = /^data:([^;,]+)?[^,]*;base64,(.*)$/s.exec(data) ?? [];
  if (base64 !== undefined) {
    return { inlineData: { mimeType: mimeType ?? type, data: base64, ...displayName } };
  }
  // Base64 has no colon.
  return /^[a-z][a-z\d+.-]*:/i.test(data)
    ? { fileData: { mimeType: type, fileUri: data, ...displayName } }
    : { inlineData: { mimeType: type, data, ...displayName } };
}
