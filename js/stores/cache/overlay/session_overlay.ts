/** A session as a reader sees it: what the remote has said, with the mutations over it. */
import { isTemp, storedScopeOf } from '../../../values/state/scope.js';
import { countedDeltas } from '../../../core/history/rules/fold.js';
import type { EventRow } from '../../../core/storage/rows.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import { type Copy, type EventRecord, hasCopy, type SessionRecord } from '../records/records.js';
import {
  eventsOf,
  isOf,
  isRefused,
  type Mutation,
  type MutationEvent,
  replacedVersionOf,
} from '../outbox/mutation.js';
import { DeltaFold, parseDelta } from './shared_overlay.js';
import { ownStateText, writeKey } from '../../../values/state/keys.js';
import type { StateShape } from '../../../values/state/state_shape.js';

/** An event of a mutation, over the copy. */
export interface OverlayEvent extends MutationEvent {
  /** The remote's revision that the event replaces, if the mutation knows one. */
  readonly expected: number | undefined;
  /** The number of the last mutation that writes it. */
  readonly number: number;
  /** The texts of the event in all mutations. */
  readonly texts: readonly string[];
}

/** The local id of the session whose copy the record has. `undefined`: it has no copy. */
export function localIdOfCopy(record: SessionRecord | undefined): number | undefined {
  return record?.copy && record.localId;
}

/** The mutations of one session, folded in their order. Those that come later can be added. */
export class SessionOverlay {
  /** The local id of the session that is there after the mutations. `undefined`: it is deleted, or was never there. */
  localId: number | undefined;
  /** The creation, if the copy has no part in the session. */
  creation: Mutation<'create'> | undefined;
  readonly events = new Map<string, OverlayEvent>();
  /** The session's own state at the cut of the last rewind, in place of that of the copy. */
  state: string | undefined;
  /** The changes of the session's own state. */
  readonly values = new DeltaFold();
  title: string | undefined;
  labels: string | undefined;
  firstTitle: string | undefined;
  time = 0;
  localVersion = 0;
  /** The local id of a session whose deletion was refused. */
  #refusedDeletion: number | undefined;

  /** @param copyId the session under the mutations; see {@link localIdOfCopy} */
  constructor(copyId: number | undefined) {
    this.localId = copyId;
  }

  /** Applies the deletion of the user. */
  deleteUser(number: number): void {
    if (this.localId !== undefined && this.localId < number) this.#reset(undefined);
  }

  add(mutation: Mutation): void {
    const { localId, time } = mutation;
    if (isOf(mutation, 'create')) {
      const { write, number } = mutation;
      const isAnother = this.localId !== undefined && localId !== this.localId;
      if (isAnother && this.#refusedDeletion === this.localId) this.#reset(undefined);
      if (this.localId !== undefined) {
        // The session exists on the remote, but the answer is not here yet.
        if (localId === this.localId) this.#putCreated(mutation);
        return;
      }
      this.#reset(localId);
      this.creation = mutation;
      this.#change(JSON.parse(write.state) as StateShape);
      this.#putCreated(mutation);
      this.#change(JSON.parse(write.delta) as StateShape);
      this.title = write.description.title ?? '';
      this.labels = write.description.labels ?? '';
      this.localVersion = Math.max(this.localVersion, number);
      this.time = time;
      return;
    }
    if (this.localId === undefined || localId !== this.localId) return;
    if (isOf(mutation, 'delete')) {
      // A refused one is not done, unless the user has made another session since.
      if (!isRefused(mutation)) this.#reset(undefined);
      else this.#refusedDeletion = localId;
      return;
    }
    if (isOf(mutation, 'describe')) {
      if (isRefused(mutation)) return;
      const { title, labels } = mutation.write;
      if (title !== undefined) {
        this.title = title;
        this.firstTitle = undefined;
      }
      this.labels = labels ?? this.labels;
      return;
    }
    const events = eventsOf(mutation);
    for (const event of events) this.#put(event, mutation);
    if (isOf(mutation, 'append')) {
      for (const { text } of events) this.#change(parseDelta(text));
      this.firstTitle ??= mutation.write.firstTitle;
    } else if (isOf(mutation, 'rewind')) {
      this.values.clear();
      this.state = mutation.write.result.state;
      // The state is that after the marker.
      for (const { text } of events.slice(1)) this.#change(parseDelta(text));
    }
    this.time = Math.max(this.time, time);
  }

  /** Adds the events of a creation, as the remote will store them. */
  #putCreated(mutation: Mutation<'create'>): void {
    const events = eventsOf(mutation);
    for (const event of events) this.#put(event, mutation);
    const parsed = events.flatMap(({ text }) => parseEventText(text) ?? []);
    for (const delta of countedDeltas(parsed)) this.#change(delta);
  }

  #put(event: MutationEvent, mutation: Mutation): void {
    const earlier = this.events.get(event.id);
    const { revision } = replacedVersionOf(mutation);
    this.localVersion = Math.max(this.localVersion, event.localVersion);
    this.events.set(event.id, {
      ...event,
      seq: earlier?.seq ?? event.seq,
      expected: earlier === undefined ? revision : earlier.expected,
      number: mutation.number,
      texts: [...(earlier?.texts ?? []), event.text],
    });
  }

  #change(delta: StateShape): void {
    for (const [key, value] of Object.entries(delta)) {
      if (isSessionKey(key)) this.values.set(key, value);
    }
  }

  #reset(localId: number | undefined): void {
    this.localId = localId;
    this.creation = undefined;
    this.events.clear();
    this.values.clear();
    this.state = undefined;
    this.title = this.labels = this.firstTitle = undefined;
    this.localVersion = this.time = 0;
  }
}

/** A session as a reader sees it, without its events. The numbers are local. */
export interface OverlaidSession {
  readonly localId: number;
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
  readonly copyVersion: number;
  readonly overlay: SessionOverlay;
}

/** Lays mutations over a session's record. Returns `undefined` if there is no session. */
export function overlaidSessionOf(
  record: SessionRecord | undefined,
  overlay: SessionOverlay,
): OverlaidSession | undefined {
  const { localId, creation, values } = overlay;
  if (localId === undefined) return undefined;
  const copied = creation === undefined && hasCopy(record) ? record : undefined;
  const copy = copied?.copy;
  const copyVersion = copied?.localVersion ?? 0;
  const created = creation?.write;
  const first = copy ?? { createTime: created?.now, ...created?.description };
  const { initialState } = first;
  const state = stateOf(overlay.state ?? copy?.state ?? '{}', values);
  const title = overlay.title ?? copy?.title ?? '';
  return {
    localId,
    revision: Math.max(localId, copyVersion, overlay.localVersion),
    lastUpdateTime: Math.max(copy?.lastUpdateTime ?? 0, overlay.time),
    createTime: first.createTime,
    initialState: initialState && copy === undefined ? ownStateText(initialState) : initialState,
    state,
    title: title === '' ? (overlay.firstTitle ?? '') : title,
    labels: overlay.labels ?? copy?.labels ?? '',
    parent: first.parent,
    copy,
    copyVersion,
    overlay,
  };
}

function isSessionKey(key: string): boolean {
  return !isTemp(key) && storedScopeOf(key) === 'session';
}

function stateOf(copied: string, values: DeltaFold): string {
  if (values.isEmpty) return copied;
  const state = JSON.parse(copied) as StateShape;
  for (const [key, value] of values.changes) writeKey(state, key, value);
  return JSON.stringify(state);
}

/** Returns the events of the mutations, in order. */
export function overlayRows({ overlay }: OverlaidSession): EventRow[] {
  return [...overlay.events.values()].map(overlayRow);
}

export function overlayRow({ id, seq, localVersion, timestamp, text }: MutationEvent): EventRow {
  return { id, seq, revision: localVersion, timestamp, text };
}

/**
 * Lays a mutation's event over the copy's event of the same id. If the copy has a newer text of others, that text
 * stays. A newer text of this device does not: it comes from a mutation whose answer is missing.
 */
export function overlayEvent(stored: EventRecord, over: OverlayEvent | undefined): EventRow {
  const { id, seq, localVersion, text } = stored;
  const isOvertaken =
    over?.expected !== undefined &&
    stored.isExact &&
    stored.revision > over.expected &&
    !over.texts.includes(text);
  if (over === undefined || isOvertaken) return overlayRow(stored);
  return {
    id,
    seq,
    revision: Math.max(over.localVersion, localVersion),
    timestamp: over.timestamp,
    text: over.text,
  };
}
