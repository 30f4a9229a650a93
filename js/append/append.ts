/**
 * Appending through a handle: what is taken at the call, what goes into the store when its turn has
 * come, and what the handle gets afterwards.
 */
import type { Event } from '../model/event.js';
import { setMember } from '../members/member.js';
import type { Session } from '../model/session.js';
import { applySnapshot, type EventSnapshot, snapshotEvent } from '../model/snapshot.js';
import { type AppendAnswer, STALE_POLICIES } from '../wasm/protocol.js';
import { hasUnstoredWrite } from '../state/write_order.js';
import { positionOf, putEvent } from '../handle/event_index.js';
import type { HandleRecord, TakenHandle } from '../handle/handle.js';
import { type PendingEvent, type StateWriter, writeKey } from './state_writer.js';
import { readEvent } from '../read/stored_events.js';

/** An event that was taken, and the caller's object that it was taken from. */
export interface TakenEvent extends PendingEvent {
  readonly event: Event;
}

/** Takes an event at the moment of the call. */
export function takeEvent(
  event: Event,
  writer: StateWriter,
  clock: () => number,
  newId: () => string,
): TakenEvent {
  const snapshot = snapshotEvent(event, clock, newId);
  return { event, snapshot, order: writer.take(event) };
}

/** The event without keys that a later, already stored write has superseded. */
export function withoutKeys(taken: TakenEvent, keys: readonly string[]): TakenEvent {
  if (keys.length === 0) return taken;
  const { snapshot } = taken;
  const delta: Record<string, unknown> = { ...snapshot.delta };
  const stored = JSON.parse(snapshot.deltaText) as Record<string, unknown>;
  for (const key of keys) {
    Reflect.deleteProperty(delta, key);
    Reflect.deleteProperty(stored, key);
  }
  const event = JSON.parse(snapshot.text) as Event;
  event.actions.stateDelta = stored;
  const reduced: EventSnapshot = {
    ...snapshot,
    delta,
    deltaText: JSON.stringify(stored),
    text: JSON.stringify(event),
    whole: snapshot.text,
    actions: { ...snapshot.actions, stateDelta: delta },
  };
  return { ...taken, snapshot: reduced };
}

/**
 * Gives the handle what was stored, and what it had missed. Never throws, as what was committed must not
 * fail: a handle that does not take it, since setters or proxies of its own throw, stays as stale as it
 * was. So the next append through it brings it anew, or says so.
 */
export function apply(
  session: TakenHandle,
  record: HandleRecord,
  events: readonly TakenEvent[],
  policy: number,
  answer: AppendAnswer,
  writer: StateWriter,
): void {
  const { 0: created, 1: revision, 2: lastUpdateTime, 3: since, 4: unchanged, 5: missed } = answer;
  const merges = policy === STALE_POLICIES.merge;
  const earlier = unchanged && new Map(unchanged);
  const written = events.length - (earlier?.size ?? 0);
  // The written ones got one revision after the other.
  let last = revision - written;
  setTime(session, lastUpdateTime);
  let isGiven = true;
  // What was stored before it was at, it has: also what lies outside of its window.
  if (Number.isNaN(record.created)) record.toldUntil = since;
  try {
    if (missed !== undefined && missed.length > 0) {
      applyMissed(session, record, since, missed, answer[8]);
    }
    if (merges) record.toldUntil = last;
  } catch {
    isGiven = false;
  }
  let position = 0;
  for (const taken of events) {
    const storedAt = earlier?.get(position) ?? ++last;
    position += 1;
    isGiven = give(session, record, taken, storedAt, writer) && isGiven;
  }
  if (!isGiven) return;
  if (record.beginsWith === '') record.beginsWith = session.events[0]?.id ?? '';
  record.created = created;
  // A retry tells a handle that does not merge nothing of what others appended behind it.
  record.revision =
    merges || written > 0 ? revision : Math.max(since, ...(earlier?.values() ?? []));
  record.lastUpdateTime = lastUpdateTime;
}

/**
 * Gives the handle one event that is stored, each part of it whatever becomes of the others.
 *
 * The event itself and each key of its delta stand at a revision on the handle, and change only if the stored
 * one is later. So a retry of an append whose answer was lost brings what the handle lacks, and nothing that
 * later appends have overtaken.
 *
 * @param storedAt the revision that the event was written at, by this append or an earlier one
 * @returns whether the handle and the event took it
 */
function give(
  session: TakenHandle,
  record: HandleRecord,
  taken: TakenEvent,
  storedAt: number,
  writer: StateWriter,
): boolean {
  const { event, snapshot } = taken;
  const { later } = record;
  const isLater = (than = 0): boolean => storedAt > Math.max(record.toldUntil, than);
  const isNews = isLater(later?.events.get(snapshot.id));
  let isGiven = true;
  try {
    const isWhole = isNews && later === undefined;
    const keys = isWhole ? [] : Object.keys(snapshot.delta);
    const overtaken = keys.filter((key) => !isLater(later?.keys.get(key)));
    writer.after(session, withoutKeys(taken, overtaken));
  } catch {
    isGiven = false;
  }
  try {
    applySnapshot(event, snapshot);
  } catch {
    isGiven = false;
  }
  try {
    const isPut = isNews || positionOf(session.events, snapshot.id) < 0;
    if (isPut) putEvent(session.events, event, snapshot.id);
  } catch {
    isGiven = false;
  }
  if (isGiven) noteGiven(record, snapshot, storedAt);
  return isGiven;
}

/** Notes that the handle has what was written at a revision. */
function noteGiven(record: HandleRecord, { id, delta }: EventSnapshot, revision: number): void {
  if (revision <= record.toldUntil + 1) {
    record.toldUntil = Math.max(record.toldUntil, revision);
    return;
  }
  record.later ??= { events: new Map(), keys: new Map() };
  const { events, keys } = record.later;
  const note = (map: Map<string, number>, name: string): void => {
    map.set(name, Math.max(revision, map.get(name) ?? 0));
  };
  note(events, id);
  for (const key of Object.keys(delta)) note(keys, key);
}

/** Sets the time of the caller's object, unless it is another session by now, or does not take it. */
function setTime({ given, id, state }: TakenHandle, time: number): void {
  try {
    if (given.state === state && given.id === id) setMember(given, 'lastUpdateTime', time);
  } catch {
    // The next `getSession` tells it.
  }
}

/** An event that a handle may have missed. */
interface MissedEvent {
  readonly seq: number;
  readonly revision: number;
  readonly text: string;
  readonly event: Event;
}

/**
 * Gives the handle the events that it has not. A storage that others write by rules of their own also
 * gives what only may have come since; of this the handle gets what it should have been read with, had it
 * been there.
 *
 * @param stored the stored state, where that tells more than the events
 */
function applyMissed(
  session: Session,
  record: HandleRecord,
  since: number,
  rows: readonly [seq: number, revision: number, text: string][],
  stored?: string,
): void {
  const { state, events } = session;
  const missed: MissedEvent[] = [];
  for (const [seq, revision, text] of rows) {
    // The append is stored: it must not fail for one that is damaged, which the next read names.
    const event = readEvent(text);
    if (event !== undefined) missed.push({ seq, revision, text, event });
  }
  missed.sort((one, other) => one.seq - other.seq);
  const belongs = windowOf(session, record, missed);
  const applied = missed.filter(({ seq, revision, event }) => {
    const isNew = revision > since;
    const isKnown = positionOf(events, event.id) >= 0;
    // One that was replaced comes only where the handle has it: it may lie outside of its window.
    const isPut = isKnown ? isNew : seq > since || (!isNew && belongs(seq, event));
    if (isPut) putEvent(events, event);
    return isPut || isNew;
  });
  applied.sort((one, other) => one.revision - other.revision);
  // By key the newest value. What an event changed before it was replaced, only the stored state tells.
  const values = new Map<string, unknown>();
  const put = (delta: Record<string, unknown>): void => {
    for (const key of Object.keys(delta)) values.set(key, delta[key]);
  };
  // Parsed once more, so that state and event share no object.
  for (const { text } of applied)
    put((JSON.parse(text) as Partial<Event>).actions?.stateDelta ?? {});
  if (stored !== undefined) {
    for (const key of values.keys()) values.set(key, undefined);
    put(JSON.parse(stored) as Record<string, unknown>);
  }
  for (const [key, value] of values) {
    // A write of this handle's own agents that is still to be appended is newer.
    if (!hasUnstoredWrite(state, key)) writeKey(state, key, value);
  }
}

/** Tells of an event up to the handle's revision whether the window holds it that the handle was read with. */
function windowOf(
  { events }: Session,
  { beginsWith }: HandleRecord,
  missed: readonly MissedEvent[],
): (seq: number, event: Event) => boolean {
  // A handle that we did not give out may hold anything.
  const first = events[0] as Event | null | undefined;
  if (beginsWith !== undefined && beginsWith === (first?.id ?? '')) return () => true;
  if (!first) return () => false;
  // Whatever is not among them lies further back than all of them.
  const from = missed.find(({ event }) => event.id === first.id)?.seq ?? 0;
  return (seq, { timestamp }) => seq >= from && timestamp >= first.timestamp;
}
