/** A session as a reader sees it: what the remote has said, with the operations over it. */
import { isTemp, storedScopeOf } from '../../../values/state/scope.js';
import { countedDeltas } from '../../../core/history/fold.js';
import type { EventRow } from '../../../core/storage/rows.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import {
  type Copy,
  type EventRecord,
  eventsOf,
  type Expectation,
  hasCopy,
  isOf,
  isOfEvent,
  type Operation,
  type OperationEvent,
  type SessionRecord,
} from '../records/records.js';
import { DeltaFold, deltaOf } from './shared_overlay.js';
import { writeKey } from '../../../values/state/keys.js';
import type { StateShape } from '../../../values/state/state_shape.js';

/** An event of an operation, over the copy. */
export interface OverlayEvent extends OperationEvent {
  /** The remote's revision that the event replaces, if the operation knows one. */
  readonly expected: number | undefined;
  /** The number of the last operation that writes it. */
  readonly number: number;
  /** The texts of the event in all operations. */
  readonly texts: readonly string[];
}

/** The birth of the session that a record has a copy of. `undefined`: it has none. */
export function birthOfCopy(record: SessionRecord | undefined): number | undefined {
  return record?.copy && record.birth;
}

/** The operations of one session, folded in their order. Those that come later can be added. */
export class SessionOverlay {
  /** The birth of the session that is there after the operations. `undefined`: it is deleted, or was never there. */
  birth: number | undefined;
  /** The creation, if the copy has no part in the session. */
  creation: Operation<'create'> | undefined;
  readonly events = new Map<string, OverlayEvent>();
  /** The session's own state at the cut of the last rewind, in place of that of the copy. */
  state: string | undefined;
  /** The changes of the session's own state. */
  readonly values = new DeltaFold();
  title: string | undefined;
  labels: string | undefined;
  firstTitle: string | undefined;
  time = 0;
  tick = 0;

  /** @param base the session under the operations; see {@link birthOfCopy} */
  constructor(base: number | undefined) {
    this.birth = base;
  }

  /** Applies the deletion of the user. */
  deleteUser(number: number): void {
    if (this.birth !== undefined && this.birth < number) this.#reset(undefined);
  }

  add(operation: Operation): void {
    const { birth, time } = operation.basis;
    if (isOf(operation, 'create')) {
      const { write, number } = operation;
      if (this.birth !== undefined) {
        // The session exists on the remote, but the answer is not here yet.
        if (birth === this.birth) this.#putCreated(operation);
        return;
      }
      this.#reset(birth);
      this.creation = operation;
      this.#change(JSON.parse(write.state) as StateShape);
      this.#putCreated(operation);
      this.#change(JSON.parse(write.delta) as StateShape);
      this.title = write.description.title ?? '';
      this.labels = write.description.labels ?? '';
      this.tick = Math.max(this.tick, number);
      this.time = time;
      return;
    }
    if (this.birth === undefined || birth !== this.birth) return;
    if (isOf(operation, 'delete')) return this.#reset(undefined);
    if (isOf(operation, 'describe')) {
      const { title, labels } = operation.write;
      if (title !== undefined) {
        this.title = title;
        this.firstTitle = undefined;
      }
      this.labels = labels ?? this.labels;
      return;
    }
    const events = eventsOf(operation);
    for (const event of events) this.#put(event, operation);
    if (isOf(operation, 'append')) {
      for (const { text } of events) this.#change(deltaOf(text));
      this.firstTitle ??= operation.write.firstTitle;
    } else if (isOf(operation, 'rewind')) {
      this.values.clear();
      this.state = operation.basis.result.state;
      // The state is that after the marker.
      for (const { text } of events.slice(1)) this.#change(deltaOf(text));
    }
    this.time = Math.max(this.time, time);
  }

  /** Adds the events of a creation, as the remote will store them. */
  #putCreated(operation: Operation<'create'>): void {
    const events = eventsOf(operation);
    for (const event of events) this.#put(event, operation);
    const parsed = events.flatMap(({ text }) => parseEventText(text) ?? []);
    for (const delta of countedDeltas(parsed)) this.#change(delta);
  }

  #put(event: OperationEvent, operation: Operation): void {
    const earlier = this.events.get(event.id);
    const { expected, isBound }: Expectation = isOfEvent(operation) ? operation.basis : {};
    this.tick = Math.max(this.tick, event.tick);
    this.events.set(event.id, {
      ...event,
      seq: earlier?.seq ?? event.seq,
      expected:
        earlier === undefined && isBound !== true ? (expected ?? undefined) : earlier?.expected,
      number: operation.number,
      texts: [...(earlier?.texts ?? []), event.text],
    });
  }

  #change(delta: StateShape): void {
    for (const [key, value] of Object.entries(delta)) {
      if (isSessionKey(key)) this.values.set(key, value);
    }
  }

  #reset(birth: number | undefined): void {
    this.birth = birth;
    this.creation = undefined;
    this.events.clear();
    this.values.clear();
    this.state = undefined;
    this.title = this.labels = this.firstTitle = undefined;
    this.tick = this.time = 0;
  }
}

/** A session as a reader sees it, without its events. The numbers are local. */
export interface SessionView {
  readonly birth: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
  readonly createTime: number | undefined;
  readonly initialState: string | undefined;
  readonly state: string;
  readonly title: string;
  readonly labels: string;
  readonly parent: string | undefined;
  /** The copy, unless the session was created here after it. */
  readonly copy: Copy | undefined;
  /** The number of the last change of the copy; 0 without one. */
  readonly copyTick: number;
  readonly overlay: SessionOverlay;
}

/** Lays operations over a session's record. Returns `undefined` if there is no session. */
export function viewOf(
  record: SessionRecord | undefined,
  overlay: SessionOverlay,
): SessionView | undefined {
  const { birth, creation, values } = overlay;
  if (birth === undefined) return undefined;
  const copied = creation === undefined && hasCopy(record) ? record : undefined;
  const copy = copied?.copy;
  const copyTick = copied?.tick ?? 0;
  const created = creation?.write;
  const first = copy ?? { createTime: created?.now, ...created?.description };
  const state = stateOf(overlay.state ?? copy?.state ?? '{}', values);
  const title = overlay.title ?? copy?.title ?? '';
  return {
    birth,
    revision: Math.max(birth, copyTick, overlay.tick),
    lastUpdateTime: Math.max(copy?.lastUpdateTime ?? 0, overlay.time),
    createTime: first.createTime,
    initialState: first.initialState,
    state,
    title: title === '' ? (overlay.firstTitle ?? '') : title,
    labels: overlay.labels ?? copy?.labels ?? '',
    parent: first.parent,
    copy,
    copyTick,
    overlay,
  };
}

function isSessionKey(key: string): boolean {
  return !isTemp(key) && storedScopeOf(key) === 'session';
}

function stateOf(base: string, values: DeltaFold): string {
  if (values.isEmpty) return base;
  const state = JSON.parse(base) as StateShape;
  for (const [key, value] of values.changes) writeKey(state, key, value);
  return JSON.stringify(state);
}

/** Returns the events of the operations, in order. */
export function overlayRows({ overlay }: SessionView): EventRow[] {
  return [...overlay.events.values()].map(overlayRow);
}

export function overlayRow({ id, seq, tick, timestamp, text }: OperationEvent): EventRow {
  return { id, seq, revision: tick, timestamp, text };
}

/**
 * Lays an operation's event over the copy's event of the same id. If the copy has a newer text of others, that text
 * stays. A newer text of this device does not: it comes from an operation whose answer is missing.
 */
export function overlayEvent(stored: EventRecord, over: OverlayEvent | undefined): EventRow {
  const { id, seq, tick, text } = stored;
  const isOvertaken =
    over?.expected !== undefined &&
    stored.isExact &&
    stored.revision > over.expected &&
    !over.texts.includes(text);
  if (over === undefined || isOvertaken) return overlayRow(stored);
  return {
    id,
    seq,
    revision: Math.max(over.tick, tick),
    timestamp: over.timestamp,
    text: over.text,
  };
}
