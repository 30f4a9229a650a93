/** Messages as events and back. Loaded with the first thread: a page begins with a list of threads. */
import { isFilled } from '../../values/model/event/markers.js';
import { sendRewind } from '../../core/history/rewind.js';
import { readSession } from '../../core/history/session_history.js';
import { viewOf } from '../../core/history/rules/view.js';
import type { Content, Part } from '../../values/model/event/content.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import {
  filesOf,
  fileText,
  MESSAGE_FILES,
  type MessageFile,
} from '../../values/model/event/message_files.js';
import { withFiles } from '../../values/model/event/place_files.js';
import type { CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { GivenItem, GivenMessage, GivenPart } from './messages.js';
import { messagesOf } from './messages_of_events.js';
import {
  membersOf,
  messageMetadataOf,
  eventPartOf,
  partsOf,
  responsePartOf,
  textOf,
} from './parts.js';

export { messagesOf } from './messages_of_events.js';
export { partsOf } from './parts.js';
export { viewOf } from '../../core/history/rules/view.js';

/**
 * Appends the events of a message that follows another one. If the transcript does not end with that one, it is first
 * switched to the branch that does: the marker and the events are stored in one step. So agents read the branch that
 * the chat shows.
 *
 * @param recent a handle with the last events of the transcript
 */
export async function appendAfter(
  service: SessionService,
  key: CompositeSessionKey,
  recent: Session,
  parentId: string | null,
  events: NewEvent[],
): Promise<void> {
  if (lastMessageOf(recent.events) === parentId) {
    await service.appendEvents({ session: recent, events });
    return;
  }
  const session = await readSession(service, key);
  const before = invocationAfter(session.events, parentId);
  if (before === undefined) await service.appendEvents({ session, events });
  else await sendRewind(service, key, { before: { invocationId: before } }, { events });
}

const lastMessageOf = (events: readonly Event[]): string | null =>
  messagesOf(events).headId ?? null;

/**
 * Returns the invocation that followed a message when that was the last one: a rewind to it shows the message's branch.
 * `undefined` if it is shown already, is not known, or shares its invocation with its answers, as in threads of earlier
 * versions.
 */
function invocationAfter(events: Event[], parentId: string | null): string | undefined {
  if (lastMessageOf(viewOf(events, 'transcript').events) === parentId) return undefined;
  const isParent = (event: Event): boolean =>
    (messageMetadataOf(event)?.messageId ?? event.id) === parentId;
  const start = events.findIndex(parentId === null ? isFirst : isParent);
  if (start < 0) return undefined;
  const earlier = new Set(events.slice(0, start).map(({ invocationId }) => invocationId));
  if (parentId !== null) earlier.add(events[start]!.invocationId);
  const end = events.findIndex(
    ({ invocationId }, at) => at >= start && isFilled(invocationId) && !earlier.has(invocationId),
  );
  if (end < 0) return undefined;
  const { events: branch } = viewOf(events.slice(0, end), 'transcript');
  return lastMessageOf(branch) === parentId ? events[end]!.invocationId : undefined;
}

const isFirst = (event: Event): boolean => messagesOf([event]).messages.length > 0;

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
  const events = contents.map((content, index): NewEvent => ({
    id: index === 0 ? id : `${id}-${index}`,
    invocationId: `e-${id}`,
    author: isUser ? role : agentName,
    // Google's programs order events by their times.
    timestamp: new Date(createdAt).getTime() + index,
    content,
    customMetadata: { ...metadata.custom, assistantUi },
    ...(isIncomplete && index === contents.length - 1 && failureOfStatus(status)),
  }));
  // An edited message keeps the files of the one that was loaded.
  const files = attachments.flatMap(({ content }) => content.flatMap(artifactOf));
  return events.map((event) => withFiles(event, files));
}

/** Returns the file that a part of an attachment names, if it names one. */
function artifactOf({ type, name, data }: GivenPart): MessageFile[] {
  const file = membersOf(data);
  const parts = [{ text: fileText(textOf(file.name) ?? '') }];
  const customMetadata = { [MESSAGE_FILES]: [{ ...file, part: 0 }] };
  return type === 'data' && name === 'artifact'
    ? filesOf({ content: { parts }, customMetadata })
    : [];
}

/** Returns empty events in place of those of the message that it has no more. */
export function emptied(stored: readonly Event[], events: readonly NewEvent[]): NewEvent[] {
  const first = events[0]!;
  const ids = new Set(events.map(({ id }) => id));
  const surplus = stored.filter((event) => {
    const mark = messageMetadataOf(event);
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
function failureOfStatus({
  reason,
  error,
}: NonNullable<GivenMessage['status']>): Partial<NewEvent> {
  return reason === 'cancelled'
    ? { interrupted: true }
    : { errorCode: reason!, ...(typeof error === 'string' && { errorMessage: error }) };
}

function isUnanswered(part: GivenPart): boolean {
  return part.type === 'tool-call' && responsePartOf(part) === undefined;
}
