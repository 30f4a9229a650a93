/** Reads of whole sessions, from which histories are computed. */
import { EVENTS_PER_TASK as PAGE, nextTask } from '../../call/next_task.js';
import type { Call } from '../../call/call.js';
import type { ReadPage, ReadSession } from '../../read.js';
import { initialStateOf } from '../../storage/reads/session_info.js';
import type { Store } from '../../storage/store.js';
import { sessionNotFound } from '../../../values/errors/session_not_found.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { SourceSession } from '../state_at.js';

/** A session with all its events. */
export interface WholeSession extends SourceSession {
  readonly state: StateShape;
  readonly created: number;
  readonly revision: number;
}

/**
 * Reads a session with all its events. A long history is read in pages.
 *
 * @throws SessionError `not_found`; `connection_lost` with `missing: 'events'` over a cache that cannot fetch all
 */
export async function readWhole(
  store: Store,
  key: CompositeSessionKey,
  call: Call,
): Promise<WholeSession> {
  const { computesHistories, readsToEnd } = store.traits;
  // Over a cache only a read of all fails if it cannot have them.
  const last = computesHistories === true || readsToEnd === true ? 'all' : PAGE;
  const session = await store.read({ kind: 'window', key, last }, call);
  if (session === undefined) throw sessionNotFound(key.sessionId);
  const { events, state, title, created, revision } = session;
  const older = events.length === last ? await readOlder(store, key, session, call) : [];
  // It was deleted meanwhile, and perhaps created again.
  if (older === undefined) return readWhole(store, key, call);
  return {
    events: older.length === 0 ? events : [...older, ...events],
    ...{ state: JSON.parse(state) as StateShape, title, created, revision },
    initialState: () => readInitialState(store, key, call),
  };
}

/** Reads the events before those of a session. Returns `undefined` if the session is another one by now. */
async function readOlder(
  store: Store,
  key: CompositeSessionKey,
  { events: [first], created }: Pick<ReadSession, 'events' | 'created'>,
  call: Call,
): Promise<Event[] | undefined> {
  const pages: Event[][] = [];
  let before: string | undefined = first!.id;
  while (before !== undefined) {
    await nextTask();
    const page = await readBefore(store, key, { eventId: before, limit: PAGE }, call);
    if (page?.events === undefined || page.created !== created) return undefined;
    pages.unshift(page.events);
    before = page.hasOlder === true ? page.firstId : undefined;
  }
  return pages.flat();
}

function readBefore(
  store: Store,
  key: CompositeSessionKey,
  page: { readonly eventId?: string; readonly limit: number; readonly skipCorrupt?: boolean },
  call: Call,
): Promise<ReadPage | undefined> {
  const before = { direction: 'before', eventId: undefined, withCount: false } as const;
  return store.read({ kind: 'page', key, ...before, ...page }, call);
}

async function readInitialState(
  store: Store,
  key: CompositeSessionKey,
  call: Call,
): Promise<StateShape | undefined> {
  const read = await readBefore(store, key, { limit: 1, skipCorrupt: true }, call);
  return initialStateOf<StateShape>(read?.initialState).initialState;
}
