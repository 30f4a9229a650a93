/** Views of reads that lack older events of a session. */
import { createEventActions } from '../../../values/model/event/create_event.js';
import type { Event } from '../../../values/model/event/event.js';
import type { ComputedView } from '../../../values/model/values/history_view.js';
import { viewOf, type ViewedEvents } from '../../../core/history/view.js';
import type { ReadSession } from '../../../core/storage/backend.js';

/** A view of a read. */
export interface ViewedRead {
  /** The events of the read, and before them a stub for each invocation that begins earlier. */
  readonly stored: readonly Event[];
  readonly viewed: ViewedEvents;
  /** Returns events without the stubs. */
  readonly withoutStubs: (events: readonly Event[]) => Event[];
}

/**
 * Computes the view of a read. A rewind before an invocation that begins earlier undoes all events of the read up to the
 * rewind. So a stub of that invocation stands before them.
 */
export function viewOfRead(
  { events, olderInvocations = [] }: ReadSession,
  view: ComputedView,
): ViewedRead {
  const stubs = olderInvocations.map((invocationId): Event => ({
    ...{ id: '', invocationId, author: 'user', timestamp: 0 },
    actions: createEventActions(),
  }));
  const stored = stubs.length === 0 ? events : [...stubs, ...events];
  const isStub = new Set(stubs);
  return {
    stored,
    viewed: viewOf(stored, view),
    withoutStubs: (events) => events.filter((event) => !isStub.has(event)),
  };
}
