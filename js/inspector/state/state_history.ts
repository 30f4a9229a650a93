import type { SessionService } from '../../model/session_service.js';
import type { Event } from '../../model/event/event.js';
import { readInitialState } from '../../model/initial_state.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { isShared, REMOVED } from '../../state/scope.js';

/** The events of a read, and the most events that one call reads. */
const PAGE = 500;
const MOST = 5000;

/** One change of a key of the state. */
export interface KeyChange {
  readonly event: Pick<Event, 'id' | 'author' | 'timestamp'>;
  /** The value that the event set; `undefined` if it removed the key. */
  readonly after: unknown;
  /** The value before, as far as this session tells; `undefined` if there was none. */
  readonly before: unknown;
  /** Whether `before` is known. */
  readonly isBeforeKnown: boolean;
}

/** The changes of a key of the state that a session's events show. */
export interface KeyHistory {
  /** The newest first. */
  readonly changes: readonly KeyChange[];
  /** The number of events that were read. */
  readonly readCount: number;
  /** The cursor before which there are more events. Absent at the beginning of the session. */
  readonly before?: string | undefined;
}

/**
 * Reads which events changed a key of the state: from the newest event back, until ten more changes are found, 5,000
 * events are read, or the session begins.
 *
 * @param earlier what was read before: the history continues from there
 */
export async function readHistory(
  service: Pick<SessionService, 'listEvents' | 'sessionInfo'>,
  key: CompositeSessionKey,
  stateKey: string,
  earlier?: KeyHistory,
): Promise<KeyHistory> {
  const found: Pick<KeyChange, 'event' | 'after'>[] = [...(earlier?.changes ?? [])];
  const enough = found.length + 10;
  const start = earlier?.readCount ?? 0;
  let readCount = start;
  let before = earlier?.before;
  do {
    const page = await service.listEvents({ ...key, before, limit: PAGE, withCount: false });
    readCount += page.events.length;
    before = page.before;
    for (const event of page.events.reverse()) {
      const delta = event.actions?.stateDelta ?? {};
      if (!Object.hasOwn(delta, stateKey)) continue;
      const value = delta[stateKey];
      const { id, timestamp, author } = event;
      const after = value === REMOVED ? undefined : value;
      found.push({ event: { id, timestamp, ...(author !== undefined && { author }) }, after });
    }
  } while (before !== undefined && found.length < enough && readCount - start < MOST);
  const begin = before === undefined ? await valueAtBegin(service, key, stateKey) : undefined;
  const changes = found.map(({ event, after }, position): KeyChange => {
    const older = found[position + 1];
    if (older !== undefined) return { event, after, before: older.after, isBeforeKnown: true };
    return { event, after, before: begin?.value, isBeforeKnown: begin !== undefined };
  });
  return { changes, readCount, ...(before !== undefined && { before }) };
}

/** Returns the value of a key when the session was created, if that is known. */
async function valueAtBegin(
  service: Pick<SessionService, 'sessionInfo'>,
  key: CompositeSessionKey,
  stateKey: string,
): Promise<{ readonly value: unknown } | undefined> {
  // Other sessions may have set it.
  if (isShared(stateKey)) return undefined;
  const initialState = await readInitialState(service, key);
  if (initialState === undefined) return undefined;
  return { value: Object.hasOwn(initialState, stateKey) ? initialState[stateKey] : undefined };
}
