/** Finds a session whose import was interrupted because its process ended. */
import type { Event } from '../../model/event.js';
import type { Abortable, Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { BaseSessionService } from '../../model/session_service.js';
import { applyDeltas } from '../format/apply_deltas.js';
import { isSameText } from './state_plan.js';
import { readWholeSession } from '../format/whole_session.js';

/**
 * Returns the stored session if an import of this file was interrupted. Such a session has the file's
 * `lastUpdateTime` and the first of its events, but not all. An import sets that time when it creates the
 * session; a session in use has the time of its own last event.
 */
export async function findInterruptedImport(
  service: BaseSessionService,
  { appName, userId, id: sessionId, events, lastUpdateTime }: Session,
  { signal }: Abortable,
): Promise<Session | undefined> {
  const key = { appName, userId, sessionId, signal };
  // A complete session is recognised by its last event, without reading the others.
  const newest = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
  if (newest?.lastUpdateTime !== lastUpdateTime) return undefined;
  const [last] = newest.events;
  if (last !== undefined && last.id === events.at(-1)?.id) return undefined;
  const stored = await readWholeSession(service, key);
  if (stored === undefined || stored.events.length >= events.length) return undefined;
  return stored.events.every(({ id }, at) => id === events[at]?.id) ? stored : undefined;
}

/**
 * Returns the `user:` and `app:` keys that the store had before the interrupted import, so far as this can be
 * known. Keys with the values of its events count as written by the import, and are left out.
 *
 * @param events the events that the interrupted import stored
 */
export function sharedStateBefore(
  storedShared: Readonly<StateShape>,
  events: readonly Event[],
): StateShape {
  const written = applyDeltas({}, events);
  const isWrittenByImport = ([key, value]: [string, unknown]): boolean =>
    Object.hasOwn(written, key) && isSameText(written[key], value);
  return Object.fromEntries(
    Object.entries(storedShared).filter((entry) => !isWrittenByImport(entry)),
  );
}
