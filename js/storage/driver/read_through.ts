/** Reads sessions and pages of events through an adapter, and checks its results. */
import { eventLimit } from '../../wasm/core.js';
import { untilAborted } from '../../call/time_limit.js';
import type { StorageCall } from '../../model/diagnostic.js';
import type { StorageAdapter, StoragePageRequest, StorageReadRequest } from '../adapter.js';
import {
  eventTuple,
  optionalSession,
  optionalShared,
  requireArray,
  requireCounter,
  requireObject,
} from '../checked_rows.js';
import { readAndCut } from '../cut_page.js';
import type { BuiltInAdapter, BuiltInRows } from '../built_in_adapter.js';
import type { PageRows, Rows, StorageKey } from '../rows.js';
import type { EventPageRequest, ReadEvents } from '../session_store.js';
import { requestOf, settled } from './adapter_calls.js';

/**
 * Reads a session with a window of its events, or the state of a user or an app.
 *
 * @param builtIn the adapter, if it is one of this package
 */
export function readThrough(
  adapter: StorageAdapter,
  builtIn: BuiltInAdapter | undefined,
  key: StorageKey,
  window: StorageReadRequest['window'],
  call: StorageCall,
) {
  const { signal } = call;
  const request: StorageReadRequest = requestOf({ key, window }, call);
  return settled('read', signal, async () => {
    const read =
      builtIn === undefined ? readChecked(adapter, request) : builtIn.readParsed(request);
    const rows: BuiltInRows = await untilAborted(signal, read);
    return {
      session: optionalSession('read', rows),
      user: optionalShared('read', 'user', rows),
      app: optionalShared('read', 'app', rows),
      events: rows.events,
      parsed: rows.parsed,
    };
  });
}

/** Reads through an adapter of a user, and checks its result. */
async function readChecked(adapter: StorageAdapter, request: StorageReadRequest): Promise<Rows> {
  const rows = await adapter.read(request);
  requireObject('read', 'a result', rows);
  const session = rows.session;
  const user = rows.user;
  const app = rows.app;
  const events = [...requireArray('read', 'events', rows.events)];
  for (const [index, row] of events.entries()) eventTuple('read', 'events', row, index);
  return { session, user, app, events };
}

/**
 * Reads a page of a session's events. An adapter without `readPage` reads the whole session.
 *
 * @param builtIn the adapter, if it is one of this package
 */
export async function pageThrough(
  adapter: StorageAdapter,
  builtIn: BuiltInAdapter | undefined,
  key: Required<StorageKey>,
  page: EventPageRequest,
  call: StorageCall,
): Promise<ReadEvents | undefined> {
  const { isForward, eventId, limit, withCount } = page;
  const hasVerb = adapter.readPage !== undefined;
  const readsBack = builtIn?.readsBack === true;
  const isWhole = page.isToEnd === true && (!hasVerb || readsBack);
  const most = eventLimit(limit);
  const wanted = isWhole ? Infinity : most;
  const given: StoragePageRequest = {
    key,
    direction: isForward ? 'after' : 'before',
    // One event more tells whether there are older ones.
    limit: isForward ? wanted : wanted + 1,
    ...(eventId !== undefined && { eventId }),
    ...(!withCount && { withCount }),
  };
  const { signal } = call;
  const request = requestOf(given, call);
  const verb = hasVerb ? 'readPage' : 'read';
  return settled(verb, signal, async () => {
    const read = hasVerb ? adapter.readPage!(request) : readAndCut(adapter, request);
    const rows: PageRows = await untilAborted(signal, read);
    requireObject(verb, 'a result', rows);
    const session = optionalSession(verb, rows);
    if (session === undefined) return undefined;
    const { created, lastUpdateTime, title, labels, createTime, initialState } = session;
    const head = [createTime, lastUpdateTime, initialState, title, labels] as const;
    const found = rows.events;
    if (found === undefined && eventId !== undefined) return [created];
    const all = requireArray(verb, 'events', found!);
    const events = all.slice(isForward ? 0 : -wanted);
    for (const [index, row] of events.entries()) eventTuple(verb, 'events', row, index);
    const count = rows.eventCount;
    if (count !== undefined) requireCounter(verb, '', 'eventCount', count);
    const hasOlder = isForward ? eventId !== undefined : all.length > wanted;
    return [created, events, hasOlder, events[0]?.id, events.at(-1)?.id, count, ...head];
  });
}
