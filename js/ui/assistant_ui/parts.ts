import { isObject } from '../../values/json/rules.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import type { JsonValue } from '../../values/model/session.js';
import type {
  GivenPart,
  ToolCallPart,
  UserPart,
  MessageMetadata,
  MessageStatus,
} from './messages.js';

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

/** Returns the members of what should be an object. Other programs may have stored anything in its place. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value) ? value : {};
}

/** Returns what should be a text, if it is one. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the text or file of a message that a part of an event becomes; `undefined` if it is none. */
export function messagePartOf({ text, inlineData, fileData }: Part): UserPart | undefined {
  if (typeof text === 'string') return { type: 'text', text };
  const file = { ...membersOf(inlineData), ...membersOf(fileData) };
  const mimeType = textOf(file.mimeType) ?? UNKNOWN_TYPE;
  const [displayName, data, fileUri] = [file.displayName, file.data, file.fileUri].map(textOf);
  if (data === undefined && fileUri === undefined) return undefined;
  const name = displayName !== undefined && { filename: displayName };
  return mimeType.startsWith('image/')
    ? { type: 'image', image: fileUri ?? `data:${mimeType};base64,${data}`, ...name }
    : { type: 'file', data: (fileUri ?? data)!, mimeType, ...name };
}

/** Returns the call of a message that a part of an event becomes. */
export function toolCallOf(functionCall: unknown): ToolCallPart {
  const { id, name, args: given } = membersOf(functionCall);
  const toolName = textOf(name) ?? '';
  const args = { ...membersOf(given) } as Record<string, JsonValue>;
  return {
    type: 'tool-call',
    toolCallId: textOf(id) ?? toolName,
    toolName,
    args,
    argsText: JSON.stringify(args),
  };
}

/** Returns the result of a call that the response of an event has. */
export function resultOf(response: unknown = {}): Pick<ToolCallPart, 'result' | 'isError'> {
  const members = membersOf(response);
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

/** Returns the metadata of a message in an event; `undefined` if another program has stored something else there. */
export function messageMetadataOf({
  customMetadata,
}: Pick<Event, 'customMetadata'>): MessageMetadata | undefined {
  const given = membersOf(customMetadata).assistantUi;
  const { messageId, parentId, status, attachments } = membersOf(given);
  if (typeof messageId !== 'string') return undefined;
  if (parentId !== null && typeof parentId !== 'string') return undefined;
  const isStatus = textOf(membersOf(status).type) !== undefined;
  const marks = listOf(attachments) as NonNullable<MessageMetadata['attachments']>;
  const areWhole = marks.every((attachment) => Number(membersOf(attachment).length) >= 0);
  return {
    messageId,
    parentId,
    ...(isStatus && { status: status as MessageStatus }),
    ...(marks.length > 0 && areWhole && { attachments: marks }),
  };
}

/** Returns what should be an array, if it is one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
