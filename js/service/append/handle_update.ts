/**
 * Changes a handle after the commit of an append: gives it the stored events and those that it had missed.
 *
 * Every write of a session has a revision. An append stores its events at the revisions up to `Appended.revision`, one
 * each. Four members of `HandleFacts` say what a handle has:
 *
 * | member         | what the handle has                                                     | after an append                   |
 * | -------------- | ----------------------------------------------------------------------- | --------------------------------- |
 * | `knownUntil`   | every change up to this revision                                        | rises while no revision is left out |
 * | `laterChanges` | single events and keys above `knownUntil`, each with its revision       | gets those of the append          |
 * | `revision`     | what the next append names; the storage returns what others wrote since | that of the append                |
 * | `firstEventId` | all events, as long as it still begins with this one                    | set if the handle was empty       |
 *
 * A change is put on the handle only if its revision is above `knownUntil`, and above that in `laterChanges`. For
 * example, a handle has everything up to revision 5, and others write revision 6:
 *
 * | append of the handle                 | stored at | `knownUntil` | `laterChanges` | `revision` |
 * | ------------------------------------ | --------- | ------------ | -------------- | ---------- |
 * | `stale: 'merge'`, which brings 6     | 7         | 7            | none           | 7          |
 * | `stale: 'append'`, which brings none | 7         | 5            | the event, 7   | 7          |
 */
import { isMarker } from '../../values/model/event/markers.js';
import { withoutIdempotencyKey } from '../../values/model/event/metadata.js';
import { isViewSummary } from '../../values/model/event/stored.js';
import type { Event, EventActions } from '../../values/model/event/event.js';
import { setMember } from '../../values/members.js';
import type { Session } from '../../values/model/session.js';
import { applySnapshot } from '../../values/model/event/snapshot.js';
import type { Appended, MissedEvent, UnchangedEvent } from '../../core/storage/store.js';
import type { ReadyAppend } from '../../core/write.js';
import type { StalePolicy } from '../../core/wasm/protocol.js';
import { hasUnstoredWrite } from '../../values/state/write_order.js';
import { insertEvents, indexOfId, putEvent } from '../../core/handle/event_index.js';
import type { HandleSnapshot } from '../../core/handle/handle.js';
import type { HandleFacts } from '../../core/handle/handle_facts.js';
import { type EventToStore, withoutKeys, type StateWriter } from './state_writer.js';
import { writeKey } from '../../values/state/keys.js';
import type { ObservingHandle } from './waiting_appends.js';
import { partsOf, hasCallParts } from '../../values/model/event/parts.js';
import { parseEventText } from '../../core/storage/stored_events.js';

/**
 * Applies an append to the caller's objects, after its commit. Nothing else changes them.
 *
 * @param handle its events are those of the write
 */
export function applyWritten(
  handle: ObservingHandle,
  { stale, firstTitle }: ReadyAppend,
  appended: Appended,
): void {
  const { facts } = handle;
  const { texts } = appended;
  updateHandle(texts === undefined ? handle : takeStoredTexts(handle, texts), stale, appended);
  if (firstTitle !== undefined) facts.noteTitle();
}

/**
 * Puts what is stored into the caller's events, since the server or a plugin may have changed it. Returns the handle
 * with the stored texts.
 */
function takeStoredTexts(
  handle: ObservingHandle,
  texts: NonNullable<Appended['texts']>,
): ObservingHandle {
  const stored = new Map(texts.map(({ position, text }) => [position, text]));
  const events = handle.events.map((taken, position) => {
    const text = stored.get(position);
    const told = text === undefined ? undefined : parseEventText(text);
    if (text === undefined || told === undefined) return taken;
    const { event, snapshot } = taken;
    try {
      for (const name of ['content', 'customMetadata'] as const) {
        if (name in told || name in event) setMember(event, name, told[name]);
      }
      const { artifactDelta = {} } = told.actions as Partial<EventActions>;
      // The append sets the actions of an event without any.
      const { actions = snapshot.actions } = event as Partial<Event>;
      setMember(actions, 'artifactDelta', artifactDelta);
    } catch {
      // A committed append must not fail.
    }
    return { ...taken, snapshot: { ...snapshot, text } };
  });
  return { ...handle, events };
}

/**
 * Gives the handle the stored events, and the events that it had missed.
 *
 * Never throws, because a committed append must not fail. Setters or proxies of the handle may
 * throw; the handle then keeps its old revision. The next append through the handle updates it, or
 * reports it as stale.
 */
function updateHandle(
  { session, facts, events, writer }: ObservingHandle,
  stale: StalePolicy,
  appended: Appended,
): void {
  const { revision, lastUpdateTime, since = 0, unchanged, missed } = appended;
  const merges = stale === 'merge';
  const earlier =
    unchanged.length === 0
      ? NONE
      : new Map(unchanged.map(({ position, revision }) => [position, revision]));
  const written = events.length - earlier.size;
  // Each written event got a revision of its own, one after the other.
  let last = revision - written;
  setTime(session, lastUpdateTime);
  let isGiven = true;
  facts.startAt(since);
  try {
    if (missed.length > 0) applyMissed(session, facts, since, missed, appended.state);
    if (merges) facts.noteCaughtUp(last);
  } catch {
    isGiven = false;
  }
  let position = 0;
  for (const taken of events) {
    const storedAt = earlier.get(position) ?? ++last;
    position += 1;
    isGiven = give(session, facts, taken, storedAt, writer) && isGiven;
  }
  if (!isGiven) return;
  try {
    facts.noteFirstEvent(session.events);
  } catch {
    return;
  }
  const seen = Math.max(facts.revision, since);
  let next = revision;
  if (!merges && written === 0) {
    // A handle that refuses to be stale has seen everything up to the retried event.
    next =
      stale === 'reject' ? Math.max(seen, ...earlier.values()) : revisionAfter(seen, unchanged);
  }
  facts.moveTo({ created: appended.created, revision: next, lastUpdateTime });
}

const NONE: ReadonlyMap<number, number> = new Map();

/**
 * Returns the revision of a handle after a retry that wrote nothing and brought it nothing. It covers no events of
 * others: a rewind or an end event may be among them.
 */
function revisionAfter(since: number, unchanged: readonly UnchangedEvent[]): number {
  let last = since;
  for (const { revision } of unchanged) if (revision === last + 1) last = revision;
  return last;
}

/**
 * Gives the handle one stored event. Each part is applied even if another part fails.
 *
 * The handle has a revision for the event itself and one for each key of its delta. A part is
 * applied only if `storedAt` is later. So a retry of an append whose answer was lost adds what the
 * handle lacks, and never overwrites what later appends have changed.
 *
 * @param storedAt the revision at which this append, or an earlier one, wrote the event
 * @returns whether both the handle and the event could be changed
 */
function give(
  session: HandleSnapshot,
  facts: HandleFacts,
  taken: EventToStore,
  storedAt: number,
  writer: StateWriter,
): boolean {
  const { event, snapshot } = taken;
  const { laterChanges } = facts;
  const isLater = (than = 0): boolean => storedAt > Math.max(facts.knownUntil, than);
  const isNews = isLater(laterChanges?.events.get(snapshot.id));
  let isGiven = true;
  try {
    const isWhole = isNews && laterChanges === undefined;
    const keys = isWhole ? [] : Object.keys(snapshot.delta);
    const overtaken = keys.filter((key) => !isLater(laterChanges?.keys.get(key)));
    writer.applyDelta(session, withoutKeys(taken, overtaken));
  } catch {
    isGiven = false;
  }
  try {
    applySnapshot(event, snapshot);
  } catch {
    isGiven = false;
  }
  try {
    const isPut = isNews || indexOfId(session, snapshot.id) < 0;
    if (isPut && isShown(session, facts, event)) putEvent(session, event, snapshot.id);
  } catch {
    isGiven = false;
  }
  if (isGiven) facts.noteGiven(snapshot, storedAt);
  return isGiven;
}

/**
 * Sets the time of the caller's object. Skips an object that is another session by now or refuses
 * the change.
 */
function setTime({ given, id, state }: HandleSnapshot, time: number): void {
  try {
    if (given.state === state && given.id === id) setMember(given, 'lastUpdateTime', time);
  } catch {
    // The next `getSession` returns the time.
  }
}

/**
 * Returns whether an event may stand on the handle: markers are in no view but `'raw'`. Notes whether the event changes
 * which others belong to the view.
 */
function isShown(session: Session, facts: HandleFacts, event: Event): boolean {
  if (facts.view === 'raw') return true;
  const isNoEvent = isMarker(event);
  const changesOthers = facts.view === 'model' && touchesSummary(session, event);
  if (isNoEvent || changesOthers) facts.outdateView();
  return !isNoEvent;
}

/** Returns whether a shown summary may hide an event, whose clock was behind, or a call that the event answers. */
function touchesSummary({ events }: Session, event: Event): boolean {
  const isAnswer = partsOf(event).some(({ functionResponse }) => functionResponse);
  // Most events are neither, and pay nothing for the search.
  const isLate = event.timestamp <= (events.at(-1)?.timestamp ?? 0);
  if (!isAnswer && !isLate) return false;
  return events.some(
    (shown) => isViewSummary(shown) && (isAnswer || event.timestamp <= shown.timestamp),
  );
}

/** An event that a handle may have missed, parsed. */
interface ParsedEvent extends MissedEvent {
  readonly event: Event;
}

/**
 * Gives the handle the events that it lacks, and the values that they have changed.
 *
 * @param stored the stored state before the append; given if a missed event was replaced or is a rewind, since the
 *   events then do not show all changes
 */
function applyMissed(
  session: HandleSnapshot,
  facts: HandleFacts,
  since: number,
  rows: readonly MissedEvent[],
  stored?: string,
): void {
  const missed: ParsedEvent[] = [];
  for (const row of rows) {
    // The append is stored, so a damaged event must not fail it. The next read reports the damaged
    // event.
    const event = parseEventText(row.text);
    if (event !== undefined) missed.push({ ...row, event: withoutIdempotencyKey(event) });
  }
  missed.sort((one, other) => one.seq - other.seq);
  const applied = insertMissed(session, facts, since, missed);
  updateState(session.state, applied, stored);
}

/**
 * Puts the missed events where they belong among those of the handle, and returns those that count for its state.
 *
 * Another program may write to the storage by rules of its own. So an event with a revision up to `since` may have
 * come later, and the storage may return it too. The handle gets such an event only if the window that it was read
 * with would have held it.
 */
function insertMissed(
  session: HandleSnapshot,
  facts: HandleFacts,
  since: number,
  missed: readonly ParsedEvent[],
): readonly ParsedEvent[] {
  const belongs = handleWindowOf(session, facts, missed);
  const before = new Map<number, readonly Event[]>();
  // The lacked events before the next event that the handle has. Only an event that was written since counts:
  // `loadOlder` has put it on the handle. Before an older one, only late events are lacked: their clock was behind.
  // They go to the end.
  let lacked: Event[] = [];
  const applied = missed.filter(({ seq, revision, event }) => {
    const isNew = revision > since;
    const index = indexOfId(session, event.id);
    if (index >= 0) {
      if (!isNew) return false;
      if (lacked.length > 0) before.set(index, lacked);
      lacked = [];
      putEvent(session, event);
      return true;
    }
    // An event that was replaced has a later revision. It may lie outside of the handle's window.
    const isLacked = seq > since || (revision === seq && belongs(seq, event));
    // It may be a call without a response, or the response to a call that was left out.
    if (isLacked && facts.view === 'model' && hasCallParts(event)) facts.outdateView();
    if (isLacked && isShown(session, facts, event)) lacked.push(event);
    return isLacked || isNew;
  });
  insertEvents(session, before);
  for (const event of lacked) putEvent(session, event);
  return applied;
}

/** Gives the state the newest value of each key that the events change. @param stored see {@link applyMissed} */
function updateState(
  state: HandleSnapshot['state'],
  events: readonly ParsedEvent[],
  stored: string | undefined,
): void {
  const values = new Map<string, unknown>();
  const put = (delta: Record<string, unknown>): void => {
    for (const key of Object.keys(delta)) values.set(key, delta[key]);
  };
  // Parses the text once more, so that state and event share no object.
  for (const { text } of [...events].sort((one, other) => one.revision - other.revision))
    put((JSON.parse(text) as Partial<Event>).actions?.stateDelta ?? {});
  if (stored !== undefined) {
    // Only the stored state shows what an event changed before it was replaced, and what a rewind changed.
    for (const key of values.keys()) values.set(key, undefined);
    put(JSON.parse(stored) as Record<string, unknown>);
  }
  for (const [key, value] of values) {
    // A write of this handle's own agents that is not appended yet is newer.
    if (!hasUnstoredWrite(state, key)) writeKey(state, key, value);
  }
}

/**
 * Returns a test for events up to the handle's revision: would the window the handle was read with
 * hold the event?
 */
function handleWindowOf(
  { events }: Session,
  { firstEventId, afterTimestamp = -Infinity }: HandleFacts,
  missed: readonly ParsedEvent[],
): (seq: number, event: Event) => boolean {
  // A handle that we did not give out may hold anything.
  const first = events[0] as Event | null | undefined;
  if (firstEventId !== undefined && firstEventId === (first?.id ?? '')) return () => true;
  if (!first) return () => false;
  // If the handle's first event is not among the missed events, it is older than all of them.
  const from = missed.find(({ event }) => event.id === first.id)?.seq ?? 0;
  // `loadOlder` may have put a first event before `afterTimestamp` on the handle.
  const earliest = Math.max(afterTimestamp, first.timestamp);
  return (seq, { timestamp }) => seq >= from && timestamp >= earliest;
}
