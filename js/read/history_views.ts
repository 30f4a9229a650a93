/** Views of a read session; see `js/history`. */
import { after, type MaybePromise } from '../call/call.js';
import { compactionOf, isMarker } from '../history/marks.js';
import { noteSummarised, viewOf } from '../history/view.js';
import type { Event } from '../model/event/event.js';
import type { CompositeSessionKey, HistoryView } from '../model/session.js';
import type { ReadMarkers, ReadSession } from '../storage/backend.js';
import { endOfView } from './end_of_view.js';
import { missingCalls } from './history_window.js';

export const HISTORY_VIEWS = ['raw', 'transcript', 'model'] as const satisfies HistoryView[];

/** The events that a read asks for; see `GetSessionConfig`. */
export interface EventWindow {
  readonly last: number | undefined;
  readonly from: number | undefined;
}

/** The reads that a view is computed from. */
export interface ViewSource {
  readonly load: (window: EventWindow) => MaybePromise<ReadSession | undefined>;
  /** Returns `undefined` if there is no session, or if the storage cannot find markers alone. */
  readonly markers: () => MaybePromise<ReadMarkers | undefined>;
  /** Whether events that cannot be read are left out. */
  readonly skipsCorrupt: boolean;
}

/** The end of a view that was read. */
interface KeptView {
  readonly created: number;
  readonly revision: number;
  /** Copies of the last {@link limit} events of the view, or of all. */
  readonly events: readonly Event[];
  readonly limit: number;
  /** The ids of a transcript's events that a summary stands for. */
  readonly summarised: ReadonlySet<string>;
  /** The last stored event. */
  readonly lastId: string | undefined;
  /** Compactions hide no event after this time. */
  readonly hiddenUntil: number;
}

const MOST_KEPT = 100;
const LONGEST_KEPT = 300;
/** If a read has too few events to decide the end of a view, the next one has this many times as many. */
export const GROWTH = 4;
/** How often markers are read if others write meanwhile. Then all events are read. */
const ATTEMPTS = 3;
const WHOLE: EventWindow = { last: undefined, from: undefined };

/**
 * Reads the events of views. Windows count after the view.
 *
 * A marker changes only what stands before it, so the last events are read alone, and are the window if no marker is
 * among them. An event that was appended after a compaction, with a time that the compaction covers, stays in such a
 * window: its author's clock was behind.
 *
 * Otherwise the markers are read, and then more and more of the last events, until these decide the end of the view;
 * see {@link endOfView}. If the storage cannot find markers alone, all events are read. The end of the view is kept.
 * Later reads continue it with the events since. They do so only if the revision shows that ordinary events were
 * appended, and that nothing else was written.
 */
export class ViewReader {
  /** By key and view; the first one was used least recently. */
  readonly #kept = new Map<string, KeptView>();

  read(
    key: CompositeSessionKey,
    source: ViewSource,
    window: EventWindow,
    view: HistoryView,
  ): MaybePromise<ReadSession | undefined> {
    const { last, from } = window;
    const { load } = source;
    if (view === 'raw') return load(window);
    if (last === undefined || from !== undefined) {
      return after(load(WHOLE), (read) => {
        return read && { ...read, events: inWindow(viewOf(read.events, view).events, window) };
      });
    }
    const name = JSON.stringify([key.appName, key.userId, key.sessionId, view]);
    return after(load(window), (read) => {
      if (read?.events.some(isMarker) !== true) return read;
      const kept = this.#kept.get(name);
      const later = kept === undefined || kept.limit < last ? undefined : laterEvents(kept, read);
      if (kept !== undefined && later !== undefined) {
        const stored = new Map(read.events.map((event) => [event.id, event]));
        const copies = [...kept.events, ...structuredClone(later)];
        this.#keep(name, read, { ...kept, events: copies });
        const events = inWindow(copies, window).map(
          (event) => stored.get(event.id) ?? structuredClone(event),
        );
        noteSummarised(events, kept.summarised);
        return { ...read, events };
      }
      const limit = Math.max(last, kept?.limit ?? 0);
      const isWhole = read.events.length < last && !source.skipsCorrupt;
      const whole = isWhole ? wholeView(read, view) : undefined;
      return after(whole ?? readEnd(source, view, limit, ATTEMPTS), (end) => {
        if (end === undefined) return undefined;
        const { read, events, hiddenUntil } = end;
        const copies =
          limit > LONGEST_KEPT ? [] : structuredClone(inWindow(events, { last: limit, from }));
        const ids = copies.map(({ id }) => id).filter((id) => end.summarised.has(id));
        const summarised = new Set(ids);
        this.#keep(name, read, { events: copies, limit, summarised, hiddenUntil });
        return { ...read, events: inWindow(events, window) };
      });
    });
  }

  /** Keeps the end of a view for windows of up to `limit` events. */
  #keep(
    name: string,
    { created, revision, events: stored }: ReadSession,
    view: Pick<KeptView, 'limit' | 'summarised' | 'hiddenUntil'> & { readonly events: Event[] },
  ): void {
    this.#kept.delete(name);
    const { limit } = view;
    if (limit > LONGEST_KEPT) return;
    const events = inWindow(view.events, { last: limit, from: undefined });
    const lastId = stored.at(-1)?.id;
    this.#kept.set(name, { ...view, created, revision, events, lastId });
    if (this.#kept.size <= MOST_KEPT) return;
    for (const [oldest] of this.#kept) {
      this.#kept.delete(oldest);
      break;
    }
  }
}

/** The end of a view or the whole view, and the read with the last stored events. */
interface EndOfView {
  readonly read: ReadSession;
  readonly events: Event[];
  readonly summarised: ReadonlySet<string>;
  readonly hiddenUntil: number;
}

function wholeView(read: ReadSession, view: Exclude<HistoryView, 'raw'>): EndOfView {
  return { read, ...viewOf(read.events, view), hiddenUntil: lastHidden(read.events) };
}

/** Reads at least the last `limit` events of a view. */
function readEnd(
  source: ViewSource,
  view: Exclude<HistoryView, 'raw'>,
  limit: number,
  attempts: number,
): MaybePromise<EndOfView | undefined> {
  const whole = (read: ReadSession | undefined) => read && wholeView(read, view);
  return after(attempts === 0 ? undefined : source.markers(), (markers) => {
    if (markers === undefined) return after(source.load(WHOLE), whole);
    const attempt = (last: number): MaybePromise<EndOfView | undefined> =>
      after(source.load({ last, from: undefined }), (read) => {
        if (read === undefined) return undefined;
        const isSame = read.created === markers.created && read.revision === markers.revision;
        if (!isSame) return readEnd(source, view, limit, attempts - 1);
        // A short read is the whole history, unless damaged events were left out.
        if (read.events.length < last) {
          return source.skipsCorrupt ? after(source.load(WHOLE), whole) : whole(read);
        }
        const end = endOfView(markers.events, read.events, view, limit);
        if (end === undefined) return attempt(Math.min(last * GROWTH, Number.MAX_SAFE_INTEGER));
        return { read, ...end, hiddenUntil: lastHidden(markers.events) };
      });
    return attempt(Math.min(2 * limit, Number.MAX_SAFE_INTEGER));
  });
}

/**
 * Returns the events that follow a kept view. `undefined` if something else was written since, or if they change what
 * the view shows. Each appended event raises the revision by one, but over SQL databases, where a revision is a time:
 * there each append ends what is kept.
 */
function laterEvents(kept: KeptView, { created, revision, events }: ReadSession) {
  const since = events.findLastIndex(({ id }) => id === kept.lastId) + 1;
  const later = events.slice(since);
  const isOther = created !== kept.created || revision !== kept.revision + later.length;
  if (since === 0 || isOther || later.some(isMarker)) return undefined;
  if (later.some(({ timestamp }) => timestamp <= kept.hiddenUntil)) return undefined;
  // A response brings back a call that is hidden.
  const mayRecover =
    kept.hiddenUntil >= 0 && missingCalls(later, [...kept.events, ...later]).size > 0;
  return mayRecover ? undefined : later;
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
