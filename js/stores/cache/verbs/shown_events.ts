/** The events of a session as a reader sees them: those of the copy, with those of the operations over them. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { EventRow } from '../../../core/storage/rows.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import {
  overlayEvent,
  overlayRow,
  overlayRows,
  type SessionView,
} from '../overlay/session_overlay.js';

/** The most events of operations that are looked up one by one. */
const MOST_LOOKUPS = 64;

/** Returns the events of operations that the copy does not have. */
export async function addedEvents(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: SessionView,
): Promise<EventRow[]> {
  const rows = overlayRows(view);
  const { copy } = view;
  if (rows.length === 0 || copy === undefined || copy.next === copy.first) return rows;
  if (rows.length <= MOST_LOOKUPS) {
    const events = transaction.copies.events(key);
    const places = await Promise.all(rows.map(({ id }) => events.positionOf(id)));
    return rows.filter((_, index) => places[index] === undefined);
  }
  const ids = await transaction.copies.events(key).ids();
  return rows.filter(({ id }) => !ids.has(id));
}

/** Returns events of the copy, with what operations have made of them. */
async function eventsOfCopy(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { copy, overlay }: SessionView,
  from: number,
  to: number,
  last?: number,
): Promise<EventRow[]> {
  if (copy === undefined || last === 0 || from >= to) return [];
  const first = last === undefined ? from : Math.max(from, to - last);
  const stored = await transaction.copies.events(key).between(first, to);
  return stored.map((event) => overlayEvent(event, overlay.events.get(event.id)));
}

/** Returns the last events of those at or after a time. */
export async function lastEvents(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: SessionView,
  { last, after }: { readonly last?: number; readonly after?: number },
): Promise<EventRow[]> {
  const { copy } = view;
  const added = await addedEvents(transaction, key, view);
  const [first, next] = [copy?.first ?? 0, copy?.next ?? 0];
  if (after === undefined) {
    const ends = lastOf(added, last);
    const rest = last === undefined ? undefined : last - ends.length;
    return [...(await eventsOfCopy(transaction, key, view, first, next, rest)), ...ends];
  }
  const all = [...(await eventsOfCopy(transaction, key, view, first, next)), ...added];
  const later = all.filter(({ timestamp }) => timestamp >= after);
  return lastOf(later, last);
}

/** Returns the page of events before or after one; `undefined` if no event has that id. */
export async function pageOfEvents(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: SessionView,
  isForward: boolean,
  eventId: string | undefined,
  limit: number,
): Promise<EventRow[] | undefined> {
  const { copy } = view;
  const added = await addedEvents(transaction, key, view);
  const [first, next] = [copy?.first ?? 0, copy?.next ?? 0];
  const position =
    eventId === undefined ? undefined : await transaction.copies.events(key).positionOf(eventId);
  const index = added.findIndex(({ id }) => id === eventId);
  const isOfCopy = copy !== undefined && position !== undefined;
  if (eventId !== undefined && !isOfCopy && index < 0) return undefined;
  if (isForward) {
    const from = isOfCopy ? position + 1 : index >= 0 ? next : first;
    const end = Math.min(next, from + limit);
    const copied = await eventsOfCopy(transaction, key, view, from, end);
    return [...copied, ...added.slice(index + 1, index + 1 + limit - copied.length)];
  }
  const before = isOfCopy ? [] : index >= 0 ? added.slice(0, index) : added;
  const ends = lastOf(before, limit);
  const to = isOfCopy ? position : next;
  const rest = limit - ends.length;
  return [...(await eventsOfCopy(transaction, key, view, first, to, rest)), ...ends];
}

/** Returns how many events are here. */
export async function countEvents(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: SessionView,
): Promise<number> {
  const { first = 0, next = 0 } = view.copy ?? {};
  return next - first + (await addedEvents(transaction, key, view)).length;
}

function lastOf(rows: EventRow[], count: number | undefined): EventRow[] {
  return count === undefined ? rows : rows.slice(Math.max(0, rows.length - count));
}

/** Returns the events with these ids. */
export async function eventsWithIds(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: SessionView,
  ids: readonly string[],
): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  for (const id of new Set(ids)) {
    const over = view.overlay.events.get(id);
    const stored = view.copy && (await transaction.copies.events(key).withId(id));
    if (stored !== undefined) rows.push(overlayEvent(stored, over));
    else if (over !== undefined) rows.push(overlayRow(over));
  }
  return rows;
}

/** Returns the events that have changed after a local number. */
export async function changedEvents(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  view: SessionView,
  since: number,
): Promise<EventRow[]> {
  const { copy, copyTick, overlay } = view;
  const rows: EventRow[] = [];
  if (since >= view.revision) return rows;
  const events = transaction.copies.events(key);
  const ids = new Set<string>();
  if (copyTick > since) {
    for (const stored of await events.changedAfter(since)) {
      ids.add(stored.id);
      rows.push(overlayEvent(stored, overlay.events.get(stored.id)));
    }
  }
  for (const row of overlayRows(view)) {
    if (row.revision <= since || ids.has(row.id)) continue;
    const stored = copy && (await events.withId(row.id));
    rows.push(stored === undefined ? row : overlayEvent(stored, overlay.events.get(row.id)));
  }
  return rows;
}
