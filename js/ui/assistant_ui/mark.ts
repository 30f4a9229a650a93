import type { Event } from '../../values/model/event/event.js';
import type { MessageMark, MessageStatus } from './messages.js';
import { membersOf, textOf } from './parts.js';

/** Returns the mark of an event; `undefined` if another program has stored something else in its place. */
export function markOf({ customMetadata }: Pick<Event, 'customMetadata'>): MessageMark | undefined {
  const given = membersOf(customMetadata).assistantUi;
  const { messageId, parentId, status, attachments } = membersOf(given);
  if (typeof messageId !== 'string') return undefined;
  if (parentId !== null && typeof parentId !== 'string') return undefined;
  const isStatus = textOf(membersOf(status).type) !== undefined;
  const marks = listOf(attachments) as NonNullable<MessageMark['attachments']>;
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
