/** Views of a read session; see `js/history`. */
import { after, type MaybePromise } from '../call/call.js';
import { compactionOf, isMarker } from '../history/marks.js';
import { viewOf } from '../history/view.js';
import type { Event } from '../model/event/event.js';
import { isViewSummary } from '../model/event/view_summary.js';
import type { CompositeSessionKey, HistoryView } from '../model/session.js';
import type { ReadSession } from '../storage/backend.js';
import { missingCalls } from './history_window.js';

export const HISTORY_VIEWS = ['raw', 'transcript', 'model'] as const satisfies HistoryView[];

/** The events that a read asks for; see `GetSessionConfig`. */
export interface EventWindow {
  readonly last: number | undefined;
  readonly from: number | undefined;
}

type Load = (window: EventWindow) => MaybePromise<ReadSession | undefined>;

/** The end of a view that was read. It holds ids instead of events, which may change. */
interface KeptView {
  readonly created: number;
  readonly revision: number;
  /** The ids of events, and whole summaries. They are the last {@link limit} of the view, or all of it. */
  readonly items: readonly (string | Event)[];
  readonly limit: number;
  /** The last stored event. */
  readonly lastId: string;
  /** How many stored events there are from the first of `items` on. */
  readonly reach: number;
  /** Compactions hide no event after this time. */
  readonly hiddenUntil: number;
}

const MOST_KEPT = 100;
const LONGEST_KEPT = 1000;
/** The events that were probably appended since. */
const MARGIN = 16;
const WHOLE: EventWindow = { last: undefined, from: undefined };

/**
 * Reads the events of views. Windows count after the view.
 *
 * A marker changes only what stands before it, so the last events are read alone, and are the window if no marker is
 * among them. An event that was appended after a compaction, with a time that the compaction covers, stays in such a
 * window: its author's clock was behind.
 *
 * Otherwise all events are read, and the end of the view is kept. It is continued at later reads, as long as nothing
 * but ordinary events is appended: each of them raises the revision by one.
 */
export class ViewReader {
  /** By key and view; the first one was used least recently. */
  readonly #kept = new Map<string, KeptView>();

  read(
    key: CompositeSessionKey,
    load: Load,
    window: EventWindow,
    view: HistoryView,
  ): MaybePromise<ReadSession | undefined> {
    const { last, from } = window;
    if (view === 'raw') return load(window);
    if (last === undefined || from !== undefined) {
      return after(load(WHOLE), (read) => {
        return read && { ...read, events: inWindow(viewOf(read.events, view).events, window) };
      });
    }
    const name = JSON.stringify([key.appName, key.userId, key.sessionId, view]);
    const kept = this.#kept.get(name);
    const isKept = kept !== undefined && last <= kept.limit;
    const reach = isKept ? kept.reach + MARGIN : 0;
    return after(load({ last: Math.max(last, reach), from }), (read) => {
      if (read === undefined) return undefined;
      const recent = inWindow(read.events, window);
      if (!recent.some(isMarker)) return { ...read, events: recent };
      const continued = isKept ? continuedView(kept, read, last) : undefined;
      if (continued !== undefined) {
        this.#keep(name, continued.limit, read, continued.events, kept!.hiddenUntil);
        return { ...read, events: inWindow(continued.events, window) };
      }
      return after(load(WHOLE), (read) => {
        if (read === undefined) return undefined;
        const { events } = viewOf(read.events, view);
        this.#keep(name, Math.max(last, kept?.limit ?? 0), read, events, lastHidden(read.events));
        return { ...read, events: inWindow(events, window) };
      });
    });
  }

  /** Keeps the end of a view for windows of up to `limit` events. */
  #keep(
    name: string,
    limit: number,
    { created, revision, events: stored }: ReadSession,
    shown: readonly Event[],
    hiddenUntil: number,
  ): void {
    this.#kept.delete(name);
    const lastId = stored.at(-1)?.id;
    if (limit > LONGEST_KEPT || lastId === undefined) return;
    const end = limit === 0 ? [] : shown.slice(-limit);
    const items = end.map((event) => (isViewSummary(event) ? structuredClone(event) : event.id));
    const ids = new Set(items);
    const first = stored.findIndex(({ id }) => ids.has(id));
    const reach = first < 0 ? 0 : stored.length - first;
    this.#kept.set(name, { created, revision, items, limit, lastId, reach, hiddenUntil });
    if (this.#kept.size <= MOST_KEPT) return;
    for (const [oldest] of this.#kept) {
      this.#kept.delete(oldest);
      break;
    }
  }
}

/**
 * Returns the end of a view, at least `last` events or all, from a kept one and the events since. `undefined` if
 * something else was written since, or an event of the view was not read.
 *
 * @returns `limit` as that of a {@link KeptView}
 */
function continuedView(
  { created, revision, items, limit, lastId, hiddenUntil }: KeptView,
  read: ReadSession,
  last: number,
): { events: Event[]; limit: number } | undefined {
  const since = read.events.findLastIndex(({ id }) => id === lastId) + 1;
  const later = read.events.slice(since);
  const isOther = read.created !== created || read.revision !== revision + later.length;
  if (since === 0 || isOther || later.some(isMarker)) return undefined;
  const events = new Map(read.events.slice(0, since).map((event) => [event.id, event]));
  const shown: Event[] = [];
  for (const item of items) {
    const event = typeof item === 'string' ? events.get(item) : structuredClone(item);
    if (event !== undefined) shown.push(event);
    // An earlier event may lie before what was read. The window then begins after it.
    else shown.length = 0;
  }
  const length = shown.length + later.length;
  const isCut = shown.length < items.length;
  if (isCut && length < last) return undefined;
  if (later.some(({ timestamp }) => timestamp <= hiddenUntil)) return undefined;
  // A response brings back a call that is hidden.
  if (hiddenUntil >= 0 && missingCalls(later, [...shown, ...later]).size > 0) return undefined;
  return { events: [...shown, ...later], limit: isCut ? Math.min(limit, length) : limit };
}

/** Returns the end of the latest range that a compaction covers; −1 without one. */
function lastHidden(events: readonly Event[]): number {
  let end = -1;
  for (const event of events) end = Math.max(end, compactionOf(event)?.endTimestamp ?? -1);
  return end;
}

/** Returns the events of a window, as storages select them. */
function inWindow(events: Event[], { last, from }: EventWindow): Event[] {
  const later = from === undefined ? events : events.filter(({ timestamp }) => timestamp >= from);
  return last === undefined ? later : later.slice(Math.max(0, later.length - last));
}
