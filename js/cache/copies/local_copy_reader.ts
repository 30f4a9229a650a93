import type { MaybePromise } from '../../call/call.js';
import { isSessionError, type SessionError } from '../../errors/errors.js';
import { newEventId } from '../../model/event/create_event.js';
import { type EventSnapshot, snapshotEvent } from '../../model/event/snapshot.js';
import type { Event } from '../../model/event/event.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { requireTruncating } from '../../service/replace_end.js';
import type { ServiceCore } from '../../service/service_core.js';
import { corruptRecord, parseEventText } from '../../read/stored_events.js';
import type { StateShape } from '../../state/state_shape.js';
import type { StateOwner } from '../../storage/scopes.js';
import type { TruncatingStore } from '../../storage/session_store.js';
import { isSameJson } from '../../wasm/core.js';
import { type Appended, APPENDED, MOST_CHANGED, STALE_POLICIES } from '../../wasm/protocol.js';
import { failureOf } from '../records/failures.js';
import { callerOf, prefixOf, type Records } from '../records/records.js';
import {
  firstBaseOf,
  isFirstBase,
  newOperation,
  type SessionRecord,
} from '../records/session_record.js';
import type { UnsentEvent } from './writes.js';

/** The local revisions of a copy. */
export interface CopyRevisions {
  readonly created: number;
  readonly revision: number;
}

/** What a copy's session says about itself. */
export interface CopyDescription {
  readonly title: string;
  /** JSON text. */
  readonly labels: string;
}

/** A copy without its events and its state. */
export interface CopyHead extends CopyRevisions, CopyDescription {}

/** A copy's state, and the writes of its events after a local revision. */
export interface CopyChanges extends CopyRevisions {
  /** With `user:` and `app:` keys. */
  readonly state: StateShape;
  /** In order. An event that was written again has several writes. */
  readonly events: readonly UnsentEvent[];
}

/** A copy with its record. */
export interface UnsentCopy {
  /** Absent if there is no copy. */
  readonly copy?: CopyChanges;
  readonly record: SessionRecord;
  /** Why the copy cannot be read. The cache changes nothing of it, and treats it as set aside. */
  readonly damage?: SessionError;
}

export interface ListedCopy extends CopyHead {
  readonly userId: string;
  readonly sessionId: string;
}

/** An event, with the local revisions of its first write (`seq`) and of its last one. */
type ChangedRow = readonly [seq: number, revision: number, text: string];

/**
 * Reads the local copies of one owner. The names in its arguments are the service's. The storage keeps the app under
 * another name.
 */
export class LocalCopyReader {
  readonly core: ServiceCore;
  protected readonly records: Records;
  protected readonly clock: () => number;

  constructor(core: ServiceCore, records: Records, clock: () => number) {
    this.core = core;
    this.records = records;
    this.clock = clock;
  }

  /** Calls the local storage. */
  async call<T>(run: (store: TruncatingStore) => MaybePromise<T>): Promise<T> {
    try {
      return await callerOf(this.core)((store) => run(requireTruncating(store)));
    } catch (error) {
      if (error instanceof Error) error.message = this.records.withAppNames(error.message);
      throw error;
    }
  }

  /** Calls the local storage about a key. The function gets the key with the name that the storage has for the app. */
  at<Key extends StateOwner, T>(
    key: Key,
    run: (store: TruncatingStore, key: Key) => MaybePromise<T>,
  ): Promise<T> {
    return this.call((store) => run(store, this.keyOf(key)));
  }

  protected keyOf<Key extends StateOwner>(key: Key): Key {
    return { ...key, appName: this.records.appOf(key.appName) };
  }

  /** Returns `undefined` if there is no copy. */
  async head(key: CompositeSessionKey): Promise<CopyHead | undefined> {
    const read = await this.at(key, (store, localKey) => store.get(localKey, 0, undefined, {}));
    if (read === undefined) return undefined;
    const [created, revision, , , , title = '', labels = ''] = read;
    return { created, revision, title, labels };
  }

  /**
   * Returns the record of a copy, without the parts that belong to another copy. Copies and records are written one
   * after the other. So a record may belong to an earlier copy, or to a creation that lost against another one.
   *
   * @param copy the local revision that created the copy, which was read before; `undefined` if there is none
   */
  async recordFor(key: CompositeSessionKey, copy: number | undefined): Promise<SessionRecord> {
    return this.#partsFor(key, copy, await this.records.session(key));
  }

  async #partsFor(
    key: CompositeSessionKey,
    copy: number | undefined,
    { base, create, ...otherMembers }: SessionRecord,
  ): Promise<SessionRecord> {
    if (copy === undefined)
      return create === undefined ? otherMembers : { ...otherMembers, create };
    if (base?.copy === copy) return { ...otherMembers, base };
    if (create?.value.copy === copy) return { ...otherMembers, create };
    const state = await this.#initialState(key, copy);
    if (state === undefined) return otherMembers;
    if (isFirstBase(state)) {
      // The tab that fetched the copy has crashed before it recorded the base, or has yet to record it.
      const firstBase = firstBaseOf(state, copy);
      await this.records.writeBase(key, firstBase, undefined);
      return { ...otherMembers, base: firstBase };
    }
    // Only a copy that was created here has an initial state. Its creation is unsent, even if its record is lost.
    const { copy: createdCopy, description } = create?.value ?? {};
    // If two tabs create the session at once, the record may be the other tab's.
    const isOwn =
      createdCopy === undefined && isSameJson(description?.initialState ?? 'null', state);
    if (create !== undefined && isOwn) return { ...otherMembers, create };
    const lostCreation = {
      state,
      delta: '{}',
      events: 0,
      lastUpdateTime: undefined,
      sharesState: true,
    };
    return {
      ...otherMembers,
      create: newOperation({ ...lostCreation, description: { initialState: state } }),
    };
  }

  async #initialState(key: CompositeSessionKey, copy: number): Promise<string | undefined> {
    const page = { isForward: true, eventId: undefined, limit: 1, withCount: false };
    const read = await this.at(key, (store, localKey) => store.page(localKey, page, {}));
    return read?.[0] === copy ? (read[8] ?? undefined) : undefined;
  }

  /** Reads the unsent events of a copy, and its record. Without a base, all events may be unsent. */
  async unsent(key: CompositeSessionKey): Promise<UnsentCopy> {
    try {
      const stored = await this.records.session(key);
      let created = stored.base?.copy ?? stored.create?.value.copy;
      let record = await this.#partsFor(key, created, stored);
      for (;;) {
        const copy = created && (await this.changedSince(key, created, record.base?.local ?? 0));
        if (copy) return { copy, record };
        // The record belongs to another copy.
        created = (await this.head(key))?.created;
        record = await this.recordFor(key, created);
        if (created === undefined) return { record };
      }
    } catch (error) {
      if (!isSessionError(error, 'corrupt_record')) throw error;
      return { record: { refused: failureOf(error) }, damage: error };
    }
  }

  /**
   * Reads the writes of events that came after a local revision, in order. If another tab changes the copy
   * between two reads of many events, all are read again: the events may have moved to later revisions.
   *
   * @param created the local revision that created the copy
   * @returns `undefined` if the copy is gone
   */
  async changedSince(
    key: CompositeSessionKey,
    created: number,
    since: number,
  ): Promise<CopyChanges | undefined> {
    const events = new Map<number, ChangedRow>();
    let from = since;
    for (let firstRevision: number | undefined; ;) {
      const appended = await this.#readChanges(key, created, from);
      if (appended === undefined) return undefined;
      const revision = appended[APPENDED.revision];
      if (revision !== (firstRevision ??= revision)) return this.changedSince(key, created, since);
      const rows = appended[APPENDED.missed] ?? [];
      for (const row of rows) events.set(row[0], row);
      if (rows.length < MOST_CHANGED) {
        const state = JSON.parse(appended[APPENDED.state]!) as StateShape;
        return { created, revision, state, events: await this.#writesOf(key, events, since) };
      }
      from = Math.max(from + 1, ...rows.map(([seq]) => seq));
    }
  }

  /**
   * Returns the writes of events in order. An event that was written again stands where it was written first, but its
   * deltas count where it was written last.
   */
  async #writesOf(
    key: CompositeSessionKey,
    events: ReadonlyMap<number, ChangedRow>,
    since: number,
  ): Promise<UnsentEvent[]> {
    const rows = [...events.values()];
    const isRewritten = rows.some(([seq, writtenAt]) => seq !== writtenAt);
    // Read the notes after the rows: a version is recorded before it is replaced.
    const notes = isRewritten ? ((await this.records.session(key)).earlier?.value ?? []) : [];
    const writes = rows.flatMap(([seq, writtenAt, text]): UnsentEvent[] => {
      const event = parseEventText(text);
      if (event === undefined)
        throw corruptRecord(`event of session "${key.sessionId}"`, undefined);
      const last = { ...this.snapshot(event), writtenAt };
      if (seq === writtenAt) return [last];
      const write = (writtenAt: number, stateDelta: StateShape): UnsentEvent => {
        const actions = { ...event.actions, stateDelta };
        return { ...this.snapshot({ ...event, actions }), writtenAt, isEarlier: true };
      };
      // The remote already has an event whose first write is not later than `since`.
      const versions = seq > since ? [write(seq, {})] : [];
      const note = notes.findLast(
        (note) => note.id === event.id && isSameJson(note.text, last.text),
      );
      if (note !== undefined) versions.push(write(writtenAt, note.delta));
      return [...versions, last];
    });
    return writes.sort((one, other) => one.writtenAt - other.writtenAt);
  }

  /** Returns `undefined` if the copy is gone. */
  async #readChanges(
    key: CompositeSessionKey,
    created: number,
    since: number,
  ): Promise<Appended | undefined> {
    const position = { created, revision: since, lastEventId: undefined };
    const request = { position, policy: STALE_POLICIES.merge, events: [] };
    try {
      return await this.at(key, (store, key) => store.append({ key, ...request }));
    } catch (error) {
      if (isSessionError(error, 'not_found')) return undefined;
      throw error;
    }
  }

  snapshot(event: Event): EventSnapshot {
    return snapshotEvent(event, this.clock, newEventId);
  }

  /** Returns the size of a copy's events, as `sessionInfo` measures it. */
  async bytesOf(key: CompositeSessionKey): Promise<number> {
    const request = { ...this.keyOf(key), skipCorrupt: true };
    const info = await this.core.pages.info(request).catch((error: unknown) => {
      if (isSessionError(error, 'not_found')) return { bytes: 0 };
      throw error;
    });
    return info.bytes;
  }

  /** Lists the copies of a user, or of all users of an app. */
  async list(appName: string, userId: string | undefined): Promise<ListedCopy[]> {
    const numbers = { limit: undefined, page: undefined, withTotal: false };
    const page = { ...numbers, orderBy: 'lastUpdateTime' } as const;
    const [listed] = await this.at({ appName, userId }, (store, { appName }) =>
      store.list(appName, userId, false, page, {}),
    );
    return listed.map(({ userId, sessionId, created, revision, title = '', labels = '' }) => {
      return { userId, sessionId, created, revision, title, labels };
    });
  }

  /** Returns a shared state. Its keys have no prefix. */
  async sharedState(owner: StateOwner): Promise<StateShape> {
    const text = await this.at(owner, (store, owner) => store.sharedState(owner, {}));
    return JSON.parse(text) as StateShape;
  }

  /** Returns the states of an app and a user. Their keys have prefixes. */
  async sharedStates({ appName, userId }: StateOwner): Promise<StateShape> {
    const state: StateShape = {};
    for (const owner of userId === undefined ? [{ appName }] : [{ appName }, { appName, userId }]) {
      const values = await this.sharedState(owner);
      for (const key of Object.keys(values)) state[prefixOf(owner) + key] = values[key];
    }
    return state;
  }
}

/** Whether a copy has this title and these labels, JSON text. */
export function isDescribed(head: CopyDescription, title: string, labels: string): boolean {
  return head.title === title && isSameJson(head.labels || '{}', labels || '{}');
}
