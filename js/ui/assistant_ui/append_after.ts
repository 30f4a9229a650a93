import { isFilled } from '../../core/history/marks.js';
import { sendRewind } from '../../core/history/rewind.js';
import { readSession } from '../../core/history/session_history.js';
import { viewOf } from '../../core/history/view.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import type { CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { markOf } from './mark.js';
import { messagesOf } from './messages_of_events.js';

/**
 * Appends the events of a message that follows another one. If the transcript does not end with that one, it is first
 * switched to the branch that does: the marker and the events are stored in one step. So agents read the branch that the
 * chat shows.
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
  const isParent = (event: Event): boolean => (markOf(event)?.messageId ?? event.id) === parentId;
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
