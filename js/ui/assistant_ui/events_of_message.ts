import type { Content, Part } from '../../values/model/event/content.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { markOf } from './mark.js';
import type { GivenItem, GivenMessage, GivenPart } from './messages.js';
import { eventPartOf, responsePartOf } from './parts.js';

/**
 * Returns the events that a message is stored as; none for a message of the system. Their ids follow from the
 * message's, so that a message that is stored again replaces its events.
 *
 * @param agentName the author of an assistant's events
 */
export function eventsOf({ message, parentId }: GivenItem, agentName: string): NewEvent[] {
  const { id, role, createdAt, content, attachments = [], metadata, status } = message;
  if (role !== 'user' && role !== 'assistant') return [];
  const isUser = role === 'user';
  const attached = attachments.map(({ content }) => partsOf(content));
  const contents = isUser
    ? [{ role, parts: [...partsOf(content), ...attached.flat()] }]
    : modelContents(content);
  const isIncomplete = status?.type === 'incomplete';
  // A message with such a call would be read as one that waits for its result.
  const isDone = status?.type === 'complete' && content.some(isUnanswered);
  const assistantUi = {
    messageId: id,
    parentId,
    ...((isIncomplete || isDone) && { status }),
    ...(attached.length > 0 && {
      attachments: attachments.map(({ id, type, name, contentType }, index) => ({
        id,
        type,
        name,
        contentType,
        length: attached[index]!.length,
      })),
    }),
  };
  return contents.map((content, index) => ({
    id: index === 0 ? id : `${id}-${index}`,
    invocationId: `e-${id}`,
    author: isUser ? role : agentName,
    // Google's programs order events by their times.
    timestamp: new Date(createdAt).getTime() + index,
    content,
    customMetadata: { ...metadata.custom, assistantUi },
    ...(isIncomplete && index === contents.length - 1 && failureOf(status)),
  }));
}

/** Returns empty events in place of those of the message that it has no more. */
export function emptied(stored: readonly Event[], events: readonly NewEvent[]): NewEvent[] {
  const first = events[0]!;
  const ids = new Set(events.map(({ id }) => id));
  const surplus = stored.filter((event) => {
    const mark = markOf(event);
    return mark !== undefined && mark.messageId === first.id && !ids.has(event.id);
  });
  return surplus.map(({ id }) => ({ ...first, id, content: { parts: [] } }));
}

/** Returns one content for a model's calls, one for their results, and one for what the model says afterwards. */
function modelContents(parts: readonly GivenPart[]): Content[] {
  const contents: Content[] = [];
  let said: Part[] = [];
  let responses: Part[] = [];
  const end = (): void => {
    contents.push({ role: 'model', parts: said });
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
  return contents;
}

/** Returns the members with which an event of the ADK reports a failure. */
function failureOf({ reason, error }: NonNullable<GivenMessage['status']>): Partial<NewEvent> {
  return reason === 'cancelled'
    ? { interrupted: true }
    : { errorCode: reason!, ...(typeof error === 'string' && { errorMessage: error }) };
}

function isUnanswered(part: GivenPart): boolean {
  return part.type === 'tool-call' && responsePartOf(part) === undefined;
}

function partsOf(content: readonly GivenPart[]): Part[] {
  return content.map(eventPartOf).filter((part) => part !== undefined);
}
