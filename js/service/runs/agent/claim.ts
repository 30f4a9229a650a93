import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import type { Event } from '../../../values/model/event/event.js';
import type { HiddenMembers } from '../../../values/model/diagnostic.js';
import type { AppendEventRequest, Session } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { StateShape } from '../../../values/state/state_shape.js';

/**
 * Appends the message of a run. The append is the run's claim: of two runs of one message, one stores it, and the other
 * fails. If the storage's answer is lost, the append is repeated. It recognises its own event by a mark that only the
 * stored text has.
 *
 * @param expectedRevision the revision at which the message was admitted, which the session must still have
 * @throws SessionError `already_exists` if the message is stored; any error of `appendEvent`
 */
export async function claimMessage(
  service: Pick<SessionService, 'appendEvent'>,
  session: Session,
  message: Event,
  expectedRevision?: number,
): Promise<void> {
  const request: AppendEventRequest & HiddenMembers = {
    ...{ session, event: message, expectedRevision },
    claim: newEventId(),
  };
  try {
    await service.appendEvent<Event>(request as AppendEventRequest<StateShape, Event>);
  } catch (cause) {
    if (!isSessionError(cause, 'stale_session') || cause.actualEvents === undefined) throw cause;
    const text = `The message "${message.id}" is stored already: its run has begun. Nothing was written.`;
    throw new SessionError('already_exists', text, { key: 'message.id', cause });
  }
}
