import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey, Session } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';

/** How many events are read at first. A turn is mostly shorter. */
const FIRST_WINDOW = 64;

/** The newest events of a session. */
export interface NewestEvents {
  readonly session: Session;
  readonly events: readonly Event[];
  /** Whether these are all events of the session. */
  readonly isWhole: boolean;
}

/**
 * Reads the newest events of a session, and four times as many each time the caller goes on. Ends without a value if
 * there is no such session, and after all events.
 */
export async function* readNewestEvents(
  service: SessionService,
  key: CompositeSessionKey,
): AsyncGenerator<NewestEvents, void> {
  for (let numRecentEvents = FIRST_WINDOW; ; numRecentEvents *= 4) {
    const config = { numRecentEvents, view: 'transcript' } as const;
    const session = await service.getSession({ ...key, config });
    if (session === undefined) return;
    const { events } = session;
    const isWhole = events.length < numRecentEvents;
    yield { session, events, isWhole };
    if (isWhole) return;
  }
}
