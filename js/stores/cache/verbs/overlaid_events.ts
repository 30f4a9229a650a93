import { rewindTargetOf } from '../../../values/model/event/markers.js';
import type { EventRow } from '../../../core/storage/rows.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import type { CopyEvents } from '../data/copy_records.js';
import {
  overlayEvent,
  overlayRow,
  overlayRows,
  type OverlaidSession,
} from '../overlay/session_overlay.js';

/** The most events of mutations that are looked up one by one. */
const MOST_LOOKUPS = 64;

/** The events of a session as a reader sees them: those of the copy, with those of the mutations over them. */
export class OverlaidEvents {
  readonly #view: OverlaidSession;
  /** The events of the copy. */
  readonly #copied: CopyEvents;

  constructor(transaction: CacheTransaction, key: CompositeSessionKey, view: OverlaidSession) {
    this.#view = view;
    this.#copied = transaction.copies.events(key);
  }

  /** Returns the last events of those at or after a time. */
  async last({ last, after }: { readonly last?: number; readonly after?: number }) {
    const added = await this.#added();
    const { first, next } = this.#range;
    if (after === undefined) {
      const ends = lastOf(added, last);
      const rest = last === undefined ? undefined : last - ends.length;
      return [...(await this.#ofCopy(first, next, rest)), ...ends];
    }
    const all = [...(await this.#ofCopy(first, next)), ...added];
    const later = all.filter(({ timestamp }) => timestamp >= after);
    return lastOf(later, last);
  }

  /** Returns the page of events before or after one; `undefined` if no event has that id. */
  async page(
    isForward: boolean,
    eventId: string | undefined,
    limit: number,
  ): Promise<EventRow[] | undefined> {
    const added = await this.#added();
    const { first, next } = this.#range;
    const position = eventId === undefined ? undefined : await this.#copied.positionOf(eventId);
    const index = added.findIndex(({ id }) => id === eventId);
    const isOfCopy = this.#view.copy !== undefined && position !== undefined;
    if (eventId !== undefined && !isOfCopy && index < 0) return undefined;
    if (isForward) {
      const from = isOfCopy ? position + 1 : index >= 0 ? next : first;
      const copied = await this.#ofCopy(from, Math.min(next, from + limit));
      return [...copied, ...added.slice(index + 1, index + 1 + limit - copied.length)];
    }
    const before = isOfCopy ? [] : index >= 0 ? added.slice(0, index) : added;
    const ends = lastOf(before, limit);
    const to = isOfCopy ? position : next;
    return [...(await this.#ofCopy(first, to, limit - ends.length)), ...ends];
  }

  /** Returns how many events are here. */
  async count(): Promise<number> {
    const { first, next } = this.#range;
    return next - first + (await this.#added()).length;
  }

  /** Returns the events with these ids. */
  async withIds(ids: readonly string[]): Promise<EventRow[]> {
    const { copy, overlay } = this.#view;
    const rows: EventRow[] = [];
    for (const id of new Set(ids)) {
      const over = overlay.events.get(id);
      const stored = copy && (await this.#copied.withId(id));
      if (stored !== undefined) rows.push(overlayEvent(stored, over));
      else if (over !== undefined) rows.push(overlayRow(over));
    }
    return rows;
  }

  /** Returns the events that have changed after a local number. */
  async changedAfter(since: number): Promise<EventRow[]> {
    const { copy, copyVersion, overlay, revision } = this.#view;
    const rows: EventRow[] = [];
    if (since >= revision) return rows;
    const ids = new Set<string>();
    if (copyVersion > since) {
      for (const stored of await this.#copied.changedAfter(since)) {
        ids.add(stored.id);
        rows.push(overlayEvent(stored, overlay.events.get(stored.id)));
      }
    }
    for (const row of overlayRows(this.#view)) {
      if (row.revision <= since || ids.has(row.id)) continue;
      const stored = copy && (await this.#copied.withId(row.id));
      rows.push(stored === undefined ? row : overlayEvent(stored, overlay.events.get(row.id)));
    }
    return rows;
  }

  get #range(): { readonly first: number; readonly next: number } {
    return this.#view.copy ?? { first: 0, next: 0 };
  }

  /** Returns the events of mutations that the copy does not have. */
  async #added(): Promise<EventRow[]> {
    const rows = overlayRows(this.#view);
    const { first, next } = this.#range;
    if (rows.length === 0 || next === first) return rows;
    if (rows.length <= MOST_LOOKUPS) {
      const places = await Promise.all(rows.map(({ id }) => this.#copied.positionOf(id)));
      return rows.filter((_, index) => places[index] === undefined);
    }
    const ids = await this.#copied.ids();
    return rows.filter(({ id }) => !ids.has(id));
  }

  /** Returns events of the copy, with what mutations have made of them. */
  async #ofCopy(from: number, to: number, last?: number): Promise<EventRow[]> {
    if (last === 0 || from >= to) return [];
    const first = last === undefined ? from : Math.max(from, to - last);
    const { overlay } = this.#view;
    const stored = await this.#copied.between(first, to);
    return stored.map((event) => overlayEvent(event, overlay.events.get(event.id)));
  }
}

function lastOf(rows: EventRow[], count: number | undefined): EventRow[] {
  return count === undefined ? rows : rows.slice(Math.max(0, rows.length - count));
}

/**
 * Returns the invocations that rewinds in a copy name, and that begin before the copy, or may. An invocation may have
 * events before the copy and in it, so the remote tells where it begins. For a rewind of this device that the remote
 * has not answered, it counts whether the copy has events of the invocation.
 *
 * @param events all of the copy
 */
export function olderInvocations(
  events: readonly Event[],
  { copy, overlay }: OverlaidSession,
): string[] {
  const starts = new Map(
    copy?.rewindStarts?.map(({ invocationId, eventId }) => [invocationId, eventId]),
  );
  const ids = new Set(events.map(({ id }) => id));
  const here = new Set<unknown>();
  const older = new Set<string>();
  for (const event of events) {
    here.add(event.invocationId);
    const target = rewindTargetOf(event);
    if (target === undefined) continue;
    const start = starts.get(target);
    const isHere = starts.has(target)
      ? start === undefined || ids.has(start)
      : overlay.events.has(event.id) && here.has(target);
    if (!isHere) older.add(target);
  }
  return [...older];
}
