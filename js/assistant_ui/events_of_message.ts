import type { Content, Part } from '../model/event/content.js';
import type { NewEvent } from '../model/event/event.js';
import type { GivenItem, GivenMessage, GivenPart, MessageMark, MessageStatus } from './messages.js';
import { eventPartOf, responsePartOf } from './parts.js';

/**
 * Returns the events that a message is stored as; none for a message of the system. Their ids follow from the
 * message's, so that a message that is stored again replaces its events.
 *
 * @param agentName the author of an assistant's events
 */
export function eventsOf({ message, parentId }: GivenItem, agentName: string): NewEvent[] {
  const { id, role, createdAt, metadata } = message;
  if (role !== 'user' && role !== 'assistant') return [];
  const isUser = role === 'user';
  const contents = isUser ? [userContent(message)] : modelContents(message.content);
  const assistantUi = { messageId: id, parentId, ...statusOf(message), ...attachmentsOf(message) };
  return contents.map((content, index) => ({
    id: index === 0 ? id : `${id}-${index}`,
    invocationId: `e-${isUser ? id : (parentId ?? id)}`,
    author: isUser ? 'user' : agentName,
    timestamp: createdAt.getTime(),
    content,
    customMetadata: { ...metadata.custom, assistantUi },
    ...(index === contents.length - 1 && failureOf(message)),
  }));
}

function userContent({ content, attachments = [] }: GivenMessage): Content {
  const all = [...content, ...attachments.flatMap(({ content }) => content)];
  return { role: 'user', parts: all.map(eventPartOf).filter(isPart) };
}

/** A model's calls stand in one content, their results in the next, and what the model said then in a third. */
function modelContents(parts: readonly GivenPart[]): Content[] {
  const contents: Content[] = [];
  let said: Part[] = [];
  let responses: Part[] = [];
  const end = (): void => {
    if (said.length > 0) contents.push({ role: 'model', parts: said });
    if (responses.length > 0) contents.push({ role: 'user', parts: responses });
    said = [];
    responses = [];
  };
  for (const part of parts) {
    const converted = eventPartOf(part);
    if (converted === undefined) continue;
    if (part.type !== 'tool-call' && responses.length > 0) end();
    said.push(converted);
    const response = responsePartOf(part);
    if (response !== undefined) responses.push(response);
  }
  end();
  return contents.length > 0 ? contents : [{ role: 'model', parts: [] }];
}

function attachmentsOf({ attachments = [] }: GivenMessage): Pick<MessageMark, 'attachments'> {
  if (attachments.length === 0) return {};
  const marks = attachments.map(({ id, type, name, contentType, content }) => ({
    ...{ id, type, name, contentType },
    length: content.map(eventPartOf).filter(isPart).length,
  }));
  return { attachments: marks };
}

function statusOf({ status }: GivenMessage): Pick<MessageMark, 'status'> {
  return status?.type === 'incomplete' ? { status: status as MessageStatus } : {};
}

/** What the ADK says of a failure. */
function failureOf({ status }: GivenMessage): Partial<NewEvent> {
  if (status?.type !== 'incomplete') return {};
  const { reason = 'other', error } = status;
  if (reason === 'cancelled') return { interrupted: true };
  return { errorCode: reason, ...(error !== undefined && { errorMessage: textOf(error) }) };
}

function textOf(error: unknown): string {
  return typeof error === 'string' ? error : JSON.stringify(error);
}

function isPart(part: Part | undefined): part is Part {
  return part !== undefined;
}
