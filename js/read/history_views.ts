/** Views of a read session; see `js/history`. */
import { after, type MaybePromise } from '../call/call.js';
import { isMarker } from '../history/marks.js';
import { viewOf } from '../history/view.js';
import type { Event } from '../model/event/event.js';
import type { HistoryView } from '../model/session.js';
import type { ReadSession } from '../storage/backend.js';

export const HISTORY_VIEWS = ['raw', 'transcript', 'model'] as const satisfies HistoryView[];

/** The events that a read asks for; see `GetSessionConfig`. */
export interface EventWindow {
  readonly last: number | undefined;
  readonly from: number | undefined;
}

/**
 * Reads the events of a view. Windows count after the view.
 *
 * A marker changes only what stands before it, so the last events are read alone, and are the window if no marker is
 * among them. Otherwise all events are read. An event that was appended after a compaction, with a time that the
 * compaction covers, stays in such a window: its author's clock was behind.
 */
export function readView(
  load: (window: EventWindow) => MaybePromise<ReadSession | undefined>,
  window: EventWindow,
  view: HistoryView,
): MaybePromise<ReadSession | undefined> {
  const { last, from } = window;
  if (view === 'raw') return load(window);
  const whole = { last: undefined, from: undefined };
  const viewed = (read: ReadSession | undefined): ReadSession | undefined => {
    if (read === undefined) return undefined;
    const { events } = viewOf(read.events, view);
    return { ...read, events: inWindow(events, window) };
  };
  if (last === undefined || from !== undefined) return after(load(whole), viewed);
  return after(load(window), (read) => {
    if (read?.events.some(isMarker) !== true) return read;
    return after(load(whole), viewed);
  });
}

/** Returns the events of a window, as storages select them. */
function inWindow(events: Event[], { last, from }: EventWindow): Event[] {
  const later = from === undefined ? events : events.filter(({ timestamp }) => timestamp >= from);
  return last === undefined ? later : later.slice(Math.max(0, later.length - last));
}
