/** Finds the session that an import left half done, since its process ended. */
import type { Event } from '../../model/event.js';
import type { Abortable, Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { BaseSessionService } from '../../model/session_service.js';
import { madeOf } from '../format/fold.js';
import { isSame } from './state_plan.js';
import { wholeSession } from '../format/whole_session.js';

/**
 * The stored session, if it holds the first of the file's events and not all, and has the `lastUpdateTime` of the
 * file. An import sets that time when it creates the session; a session in use has the time of its own last event.
 */
export async function interruptedImport(
  service: BaseSessionService,
  { appName, userId, id: sessionId, events, lastUpdateTime }: Session,
  { signal }: Abortable,
): Promise<Session | undefined> {
  const key = { appName, userId, sessionId, signal };
  // A complete session is told by its last event, without reading the others.
  const newest = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
  if (newest?.lastUpdateTime !== lastUpdateTime) return undefined;
  const [last] = newest.events;
  if (last !== undefined && last.id === events.at(-1)?.id) return undefined;
  const stored = await wholeSession(service, key);
  if (stored === undefined || stored.events.length >= events.length) return undefined;
  return stored.events.every(({ id }, at) => id === events[at]?.id) ? stored : undefined;
}

/**
 * The `user:` and `app:` keys that the store had before the interrupted import, as far as that can be told: those
 * that have the value of its events count as the import's own.
 *
 * @param events those that it stored
 */
export function liveBefore(live: Readonly<StateShape>, events: readonly Event[]): StateShape {
  const made = madeOf({}, events);
  const isOwn = ([key, value]: [string, unknown]): boolean =>
    Object.hasOwn(made, key) && isSame(made[key], value);
  return Object.fromEntries(Object.entries(live).filter((entry) => !isOwn(entry)));
}
