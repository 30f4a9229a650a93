import { isObject } from '../../values/json/rules.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { BINARY, browserType, isPicture } from '../../values/model/values/media_type.js';
import { filesOf, fileText } from '../../values/model/event/message_files.js';
import type { JsonValue } from '../../values/model/session.js';
import type {
  ArtifactPart,
  AssistantPart,
  Attachment,
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
  if (type === 'file') return filePart(textOf(part.data) ?? '', part.mimeType ?? BINARY, filename);
  return type === 'tool-call' ? { functionCall: { id, name, args: { ...part.args } } } : undefined;
}

/** Returns the parts of an event that those of a message become. */
export function partsOf(content: readonly GivenPart[]): Part[] {
  return content.map(eventPartOf).filter((part) => part !== undefined);
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
  const mimeType = browserType(textOf(file.mimeType));
  const [displayName, data, fileUri] = [file.displayName, file.data, file.fileUri].map(textOf);
  if (data === undefined && fileUri === undefined) return undefined;
  const name = displayName !== undefined && { filename: displayName };
  return mimeType.startsWith('image/')
    ? { type: 'image', image: fileUri ?? `data:${mimeType};base64,${data}`, ...name }
    : { type: 'file', data: (fileUri ?? data)!, mimeType, ...name };
}

/** Returns the parts of a message that the parts of an event become. A file of a user's message is an artifact. */
export function shownPartsOf(event: Event): AssistantPart[] {
  const files = event.author === 'user' ? filesOf(event) : [];
  const shownPartOf = (given: unknown, at: number): AssistantPart | undefined => {
    const data = files.find(({ part }) => part === at);
    return data ? { type: 'data', name: 'artifact', data } : assistantPartOf(membersOf(given));
  };
  const parts = listOf(event.content?.parts).map(shownPartOf);
  return parts.filter((part) => part !== undefined);
}

function assistantPartOf({ thought, functionCall, ...part }: Part): AssistantPart | undefined {
  if (functionCall) return toolCallOf(functionCall);
  const shown = messagePartOf(part);
  return thought === true && shown?.type === 'text' ? { ...shown, type: 'reasoning' } : shown;
}

/** Whether a part is one of a user's message. */
export function isOfUser(part: AssistantPart): part is UserPart {
  return part.type !== 'tool-call' && part.type !== 'reasoning';
}

/** Splits the parts of a user's message from its files, which are attachments. */
export function splitFiles(
  id: string,
  parts: readonly UserPart[],
): { content: UserPart[]; attachments: Attachment[] } {
  return {
    content: parts.filter(({ type }) => type !== 'data'),
    attachments: parts.filter((part) => part.type === 'data').map((part) => attachmentOf(id, part)),
  };
}

function attachmentOf(id: string, artifact: ArtifactPart): Attachment {
  const { part, name, mimeType } = artifact.data;
  return {
    id: `${id}/${part}`,
    type: attachmentType(mimeType),
    name,
    contentType: mimeType === undefined ? undefined : browserType(mimeType),
    status: { type: 'complete' },
    content: attachedPartsOf(artifact),
  };
}

/** Returns a part of an attachment, with the text that stands for a file: it stays in a message that is edited. */
export function attachedPartsOf(part: UserPart): UserPart[] {
  return part.type === 'data' ? [{ type: 'text', text: fileText(part.data.name) }, part] : [part];
}

/** Returns the type of an attachment. `showArtifact` shows no SVG. @param mimeType an IANA media type */
export function attachmentType(mimeType?: string): 'image' | 'file' {
  return isPicture(mimeType) ? 'image' : 'file';
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
