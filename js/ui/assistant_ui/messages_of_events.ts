import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { isStopped, shownOf } from '../../values/model/event/shown.js';
import { isAbort } from '../../values/model/event/waiting.js';
import type {
  AssistantMessage,
  AssistantPart,
  Attachment,
  MessageMetadata,
  MessageStatus,
  LinkedMessage,
  ToolCallPart,
  UserMessage,
} from './messages.js';
import {
  attachedPartsOf,
  isOfUser,
  listOf,
  messageMetadataOf,
  membersOf,
  resultOf,
  shownPartsOf,
  splitFiles,
  textOf,
} from './parts.js';

/** A message to which more events may belong. */
interface UnfinishedMessage {
  readonly id: string;
  readonly isUser: boolean;
  mark: MessageMetadata | undefined;
  readonly custom: Record<string, unknown>;
  readonly parentId: string | null;
  readonly createdAt: Date;
  readonly invocationId: string;
  last: Event;
  readonly content: AssistantPart[];
  readonly calls: FunctionCallPositions;
}

/** Where a call stands, so that its result can be put there. */
type FunctionCallPosition = readonly [content: AssistantPart[], position: number];

/** The calls by their ids. Without an id the tool's name stands for it, so several calls may have the same one. */
type FunctionCallPositions = Map<string, FunctionCallPosition[]>;

/** The messages of a thread. */
export interface ThreadMessages {
  readonly messages: LinkedMessage[];
  /** The last message of the branch that is shown; absent without one. */
  readonly headId?: string;
}

/**
 * Returns the messages that a chat shows of events. What an agent says in one invocation is one message, and the
 * result of a call stands in the call. An event that only changes the state is left out.
 *
 * Undone messages of a chat are other branches. Other undone events have no place in one: they are left out.
 *
 * @param transcript those of the events that are not undone
 */
export function messagesOf(
  stored: readonly Event[],
  transcript: readonly Event[] = stored,
): ThreadMessages {
  const shown = new Set(transcript);
  const events = stored.filter(
    (event) => shown.has(event) || messageMetadataOf(event) !== undefined,
  );
  const drafts = new Map<string, UnfinishedMessage>();
  /** The calls of agents. A stored message has a map of its own: messages of two branches may have the same ids. */
  const agentCalls: FunctionCallPositions = new Map();
  let newest: UnfinishedMessage | undefined;
  for (const event of events) {
    const custom = { ...membersOf(event.customMetadata) };
    delete custom.assistantUi;
    const mark = messageMetadataOf(event);
    const parts = listOf(event.content?.parts).map((part): Part => membersOf(part));
    const content = shownPartsOf(event);
    let draft = mark === undefined ? continued(newest, event) : drafts.get(mark.messageId);
    const calls =
      mark === undefined ? agentCalls : (draft?.calls ?? new Map<string, FunctionCallPosition[]>());
    for (const { functionResponse } of parts) setResult(calls, functionResponse);
    if (draft === undefined) {
      const isEmpty = content.length === 0 && statusOf(event, []).type === 'complete';
      if (mark === undefined && isEmpty) continue;
      const { author, invocationId, timestamp } = event;
      draft = {
        id: mark?.messageId ?? event.id,
        isUser: author === 'user',
        parentId: parentOf(mark, drafts, newest),
        mark,
        custom,
        createdAt: new Date(timestamp),
        invocationId,
        last: event,
        content: [],
        calls,
      };
      if (shown.has(event)) newest = draft;
      drafts.set(draft.id, draft);
    }
    draft.last = event;
    draft.mark = mark;
    addParts(draft, content);
  }
  const messages = [...drafts.values()].map((draft) => ({
    message: draft.isUser ? userMessage(draft) : assistantMessage(draft),
    parentId: draft.parentId,
  }));
  return { messages, ...(newest !== undefined && { headId: newest.id }) };
}

/** Returns the message that an event of an agent continues: the newest one, if it is of the same invocation. */
function continued(
  newest: UnfinishedMessage | undefined,
  event: Event,
): UnfinishedMessage | undefined {
  if (newest?.invocationId !== event.invocationId || event.author === 'user') return undefined;
  return newest.isUser || newest.mark !== undefined ? undefined : newest;
}

function hasResult([content, position]: FunctionCallPosition): boolean {
  return Object.hasOwn(content[position]!, 'result');
}

/** A message whose parent was not loaded follows the newest one. */
function parentOf(
  mark: MessageMetadata | undefined,
  drafts: ReadonlyMap<string, UnfinishedMessage>,
  newest: UnfinishedMessage | undefined,
): string | null {
  const { parentId } = mark ?? {};
  return parentId === null || drafts.has(parentId ?? '') ? parentId! : (newest?.id ?? null);
}

function addParts({ content, calls }: UnfinishedMessage, added: AssistantPart[]): void {
  for (const part of added) {
    if (part.type === 'tool-call') {
      const places = calls.get(part.toolCallId) ?? [];
      places.push([content, content.length]);
      calls.set(part.toolCallId, places);
    }
    content.push(part);
  }
}

function setResult(calls: FunctionCallPositions, given: Part['functionResponse']): void {
  const { id, name, response } = membersOf(given);
  const places = calls.get(textOf(id) ?? textOf(name) ?? '') ?? [];
  const last = places.at(-1);
  if (last === undefined) return;
  // Takes the first call without a result in the newest message. Calls of earlier messages may never get one.
  const isNext = (place: FunctionCallPosition): boolean =>
    place[0] === last[0] && !hasResult(place);
  const [content, position] = places.find(isNext) ?? last;
  content[position] = { ...(content[position] as ToolCallPart), ...resultOf(response) };
}

function userMessage({ id, createdAt, content, mark, custom }: UnfinishedMessage): UserMessage {
  const parts = content.filter(isOfUser);
  const marks = mark?.attachments ?? [];
  const own = parts.length - marks.reduce((sum, { length }) => sum + length, 0);
  const attached = marks.map(({ length, ...name }): Attachment => ({
    ...name,
    status: { type: 'complete' },
    content: parts.splice(own, length).flatMap(attachedPartsOf),
  }));
  const { attachments, ...shown } = splitFiles(id, parts);
  const metadata = { custom };
  return {
    id,
    createdAt,
    role: 'user',
    ...shown,
    attachments: [...attachments, ...attached],
    metadata,
  };
}

function assistantMessage({
  id,
  createdAt,
  last,
  content,
  mark,
  custom,
}: UnfinishedMessage): AssistantMessage {
  const metadata = {
    unstable_state: null,
    unstable_annotations: [],
    unstable_data: [],
    steps: [],
    custom,
  } as const;
  const status = mark?.status ?? statusOf(last, content);
  return { id, createdAt, role: 'assistant', content, status, metadata };
}

function statusOf(last: Event, content: readonly AssistantPart[]): MessageStatus {
  const { error } = shownOf(last);
  if (last.interrupted === true || isAbort(last)) {
    return { type: 'incomplete', reason: 'cancelled' };
  }
  if (error !== undefined) return { type: 'incomplete', reason: 'error', error: error.message };
  if (isStopped(last)) return { type: 'incomplete', reason: 'other' };
  const isWaiting = content.some(
    (part) => part.type === 'tool-call' && !Object.hasOwn(part, 'result'),
  );
  return isWaiting
    ? { type: 'requires-action', reason: 'tool-calls' }
    : { type: 'complete', reason: 'stop' };
}
