/** Views of a read session; see `js/history`. */
import { after, type MaybePromise } from '../call/call.js';
import { compactionOf, isMarker } from '../history/marks.js';
import { noteSummarised, viewOf } from '../history/view.js';
import type { Event } from '../model/event/event.js';
import type { CompositeSessionKey, HistoryView } from '../model/session.js';
import { copyJson } from '../json/copy.js';
import { putLast } from '../members/bounded_map.js';
import type { ChangedSession, ReadMarkers, ReadSession } from '../storage/backend.js';
import { parseEventText } from '../storage/stored_events.js';
import { MOST_CHANGED } from '../wasm/protocol.js';
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
  /** Returns `undefined` if there is no session, or if the storage cannot read changed events alone. */
  readonly changed: (since: number) => MaybePromise<ChangedSession | undefined>;
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
  /** The ids of the last stored events. */
  readonly storedIds: readonly string[];
  /** How many stored events follow the last marker. */
  readonly afterMarker: number;
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
 * among them. For models they must also have the calls that they answer, because a compaction hides a call only until
 * it is answered. An event that was appended after a compaction, with a time that the compaction covers, stays in such a
 * window: its author's clock was behind.
 *
 * Otherwise the markers are read, and then more and more of the last events, until these decide the end of the view;
 * see {@link endOfView}. If the storage cannot find markers alone, all events are read. The end of the view is kept.
 * Later reads load only the events that have changed since. They continue what is kept if these are new, ordinary
 * events.
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
    const { load, skipsCorrupt } = source;
    if (view === 'raw') return load(window);
    if (last === undefined || from !== undefined) {
      return after(load(WHOLE), (read) => {
        return read && { ...read, events: inWindow(viewOf(read.events, view).events, window) };
      });
    }
    const name = JSON.stringify([key.appName, key.userId, key.sessionId, view, skipsCorrupt]);
    const kept = this.#kept.get(name);
    const isEnough = kept !== undefined && kept.limit >= last && kept.afterMarker < last;
    return after(isEnough ? source.changed(kept.revision) : undefined, (session) => {
      const isKept = isEnough && session !== undefined;
      const continued = isKept ? this.#continue(name, kept, session, last) : undefined;
      return continued ?? this.#readEnd(name, source, last, view);
    });
  }

  /**
   * Returns the last events of a kept view with those that follow it. `undefined` if they change what it shows, or if
   * no marker is among the last stored events.
   */
  #continue(
    name: string,
    kept: KeptView,
    session: ChangedSession,
    last: number,
  ): ReadSession | undefined {
    const later = laterEvents(kept, session);
    if (later === undefined) return undefined;
    const events = [...kept.events, ...later];
    const storedIds = [...kept.storedIds, ...later.map(({ id }) => id)];
    const afterMarker = kept.afterMarker + later.length;
    this.#keep(name, { ...kept, revision: session.revision, events, storedIds, afterMarker });
    if (afterMarker >= last) return undefined;
    const shown = copyJson(lastOf(events, last));
    noteSummarised(shown, kept.summarised);
    return { ...session, events: shown };
  }

  /** Reads the end of a view, and keeps it if it is not just the last stored events. */
  #readEnd(
    name: string,
    source: ViewSource,
    last: number,
    view: Exclude<HistoryView, 'raw'>,
  ): MaybePromise<ReadSession | undefined> {
    return after(this.#loadLast(source, last, view), ({ read, isView }) => {
      if (read === undefined || isView) return read;
      const limit = Math.max(last, this.#kept.get(name)?.limit ?? 0);
      const isWhole = read.events.length < last && !source.skipsCorrupt;
      const whole = isWhole ? wholeView(read, view) : undefined;
      return after(whole ?? readEnd(source, view, limit, ATTEMPTS), (end) => {
        if (end === undefined) return undefined;
        const { read, hiddenUntil } = end;
        const { created, revision } = read;
        const events = lastOf(end.events, last);
        if (limit > LONGEST_KEPT) return { ...read, events };
        const copies = copyJson(lastOf(end.events, limit));
        const ids = copies.map(({ id }) => id).filter((id) => end.summarised.has(id));
        const summarised = new Set(ids);
        const storedIds = read.events.map(({ id }) => id);
        const afterMarker = read.events.length - 1 - read.events.findLastIndex(isMarker);
        const marks = { summarised, storedIds, afterMarker, hiddenUntil };
        this.#keep(name, { created, revision, events: copies, limit, ...marks });
        return { ...read, events };
      });
    });
  }

  /** Reads the last stored events, and tells whether the view ends with them. */
  #loadLast(source: ViewSource, last: number, view: Exclude<HistoryView, 'raw'>) {
    return after(source.load({ last, from: undefined }), (read) => {
      if (read?.events.some(isMarker) !== false) return { read, isView: false };
      if (view === 'transcript' || missingCalls(read.events, read.events).size === 0) {
        return { read, isView: true };
      }
      return after(source.markers(), (markers) => {
        return { read, isView: markers?.events.some(isMarker) !== true };
      });
    });
  }

  #keep(name: string, kept: KeptView): void {
    const events = lastOf(kept.events, kept.limit);
    const storedIds = lastOf(kept.storedIds, MOST_CHANGED);
    putLast(this.#kept, name, { ...kept, events, storedIds }, MOST_KEPT);
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
 * the view shows. Over SQL databases the changed events may be known, and an event of a program whose clock is behind
 * may stand before known ones.
 */
function laterEvents(kept: KeptView, session: ChangedSession): Event[] | undefined {
  const { created, revision, events: changed } = session;
  if (created !== kept.created || revision < kept.revision) return undefined;
  if (revision === kept.revision) return [];
  if (changed.length >= MOST_CHANGED) return undefined;
  const known = new Set(kept.storedIds);
  const later: Event[] = [];
  for (const { seq, revision, text } of [...changed].sort((one, other) => one.seq - other.seq)) {
    const event = parseEventText(text);
    if (event === undefined) return undefined;
    if (known.has(event.id) && revision <= kept.revision) continue;
    const isNew = !known.has(event.id) && seq > kept.revision;
    if (!isNew || isMarker(event) || event.timestamp <= kept.hiddenUntil) return undefined;
    later.push(event);
  }
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
  return last === undefined ? later : lastOf(later, last);
}

function lastOf<Item>(list: readonly Item[], count: number): Item[] {
  return list.slice(Math.max(0, list.length - count));
}
