import { isRevision } from '../../../core/storage/checked_rows.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import { SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { LocalKey, LocalTransaction } from '../local_store/local_store.js';
import { type CacheKey, nameOf } from '../records/cache_key.js';
import {
  below,
  type CopiedRecord,
  entryKey,
  type EvictedRecord,
  hasCopy,
  type SessionRecord,
  type EventRecord,
} from '../records/records.js';

/** The sessions in one transaction: their records, and the events of their copies. */
export class CopyRecords {
  readonly #local: LocalTransaction;
  readonly #ownerName: string;
  /** The sessions that were read or changed, with the records that they have now. */
  readonly #records = new Map<string, SessionRecord | undefined>();
  /** The sessions whose records are to be stored, by name. */
  readonly #unstored = new Map<string, CompositeSessionKey>();

  constructor(local: LocalTransaction, ownerName: string) {
    this.#local = local;
    this.#ownerName = ownerName;
  }

  async get(key: CompositeSessionKey): Promise<SessionRecord | undefined> {
    const name = nameOf(key);
    if (this.#records.has(name)) return this.#records.get(name);
    const value = await this.#local.get('sessions', this.#keyOf(key));
    const record = value === undefined ? undefined : checkedRecord(value, key);
    if (!this.#records.has(name)) this.#records.set(name, record);
    return this.#records.get(name);
  }

  /** Returns the record of a session that has mutations or a copy. @throws SessionError `corrupt_record` */
  async require(key: CompositeSessionKey): Promise<SessionRecord> {
    return (await this.get(key)) ?? checkedRecord(undefined, key);
  }

  /** The outbox version of a session that was read or changed. `undefined`: it has no record */
  outboxVersionOf(name: string): number | undefined {
    return this.#records.get(name)?.outboxVersion;
  }

  /** Stores the record of a session. Its outbox version changes only with its mutations. */
  async put(key: CompositeSessionKey, record: SessionRecord): Promise<void> {
    const { outboxVersion } = (await this.get(key)) ?? record;
    this.#put(key, { ...record, outboxVersion });
  }

  /** Records that the mutations of a session have changed. A session without a record has no outbox version. */
  async putOutboxVersion(key: CompositeSessionKey, draw: () => number): Promise<void> {
    const record = await this.get(key);
    if (record !== undefined) this.#put(key, { ...record, outboxVersion: draw() });
  }

  #put(key: CompositeSessionKey, record: SessionRecord): void {
    this.#records.set(nameOf(key), record);
    this.#unstored.set(nameOf(key), key);
  }

  /** Stores the records that have changed: each once, at the end of the transaction. */
  async store(): Promise<void> {
    for (const [name, key] of this.#unstored) {
      await this.#local.put('sessions', this.#keyOf(key), this.#records.get(name));
    }
    this.#unstored.clear();
  }

  async list(
    of: Partial<StateOwner>,
  ): Promise<(readonly [key: CompositeSessionKey, record: SessionRecord])[]> {
    await this.store();
    const range = below(entryKey(this.#ownerName, of));
    const [keys, values] = await Promise.all([
      this.#local.keys('sessions', range),
      this.#local.list('sessions', range),
    ]);
    return keys.map((key, index) => {
      const [, appName, userId, sessionId] = key as [string, string, string, string];
      return [{ appName, userId, sessionId }, checkedRecord(values[index], { sessionId })] as const;
    });
  }

  /** Lists the sessions that have a copy. */
  async copied(
    of: Partial<StateOwner>,
  ): Promise<(readonly [key: CompositeSessionKey, record: CopiedRecord])[]> {
    const sessions = await this.list(of);
    return sessions.flatMap(([key, record]) => (hasCopy(record) ? [[key, record] as const] : []));
  }

  /** Deletes the record and the events of a session. Its mutations stay. */
  async delete(key: CompositeSessionKey): Promise<void> {
    this.#records.set(nameOf(key), undefined);
    this.#unstored.delete(nameOf(key));
    await this.#local.delete('sessions', this.#keyOf(key));
    await this.events(key).clear();
  }

  /** Deletes the copy of a session for want of room. The remote has it. */
  async evict(key: CompositeSessionKey, { localId, copy }: SessionRecord): Promise<void> {
    await this.delete(key);
    await this.putEvicted(key, { localId, created: copy?.created ?? null });
  }

  async putEvicted(key: CompositeSessionKey, record: EvictedRecord): Promise<void> {
    await this.#local.put('states', this.#keyOf(key), record);
  }

  /** Returns what is known of a session whose copy was evicted. */
  async evicted(key: CompositeSessionKey): Promise<EvictedRecord | undefined> {
    return (await this.#local.get('states', this.#keyOf(key))) as EvictedRecord | undefined;
  }

  /** Records that a session has a copy again, or never will. */
  async forgetEvicted(key: CompositeSessionKey): Promise<void> {
    await this.#local.delete('states', this.#keyOf(key));
  }

  /** The events of the copy of a session. */
  events(key: CompositeSessionKey): CopyEvents {
    return new CopyEvents(this.#local, this.#keyOf(key));
  }

  #keyOf(key: CacheKey): LocalKey {
    return entryKey(this.#ownerName, key);
  }
}

/** @throws SessionError `corrupt_record` */
function checkedRecord(
  value: unknown,
  { sessionId }: Pick<CompositeSessionKey, 'sessionId'>,
): SessionRecord {
  const { localId, localVersion } = Object(value) as Partial<SessionRecord>;
  if (isRevision(localId) && isRevision(localVersion)) return value as SessionRecord;
  const record = `copy of session ${JSON.stringify(sessionId)}`;
  const message = `The ${record} is damaged. Give it up with outbox.drop; it is then fetched again.`;
  throw new SessionError('corrupt_record', message, { record, storage: 'cache' });
}

const IDS = 'i';
const LOCAL_VERSIONS = 't';

/** The key of the position of an event, by the key of its session. */
export function idKey(session: LocalKey, id: string): LocalKey {
  return [...session, IDS, id];
}

/**
 * The events of a session's copy. Those are stored by position, and positions have no gaps. Further entries find the
 * position of an event by its id, and the positions of those that have changed since a local version. Events that come
 * together have one entry of the second kind, at the highest of their local versions.
 */
export class CopyEvents {
  readonly #local: LocalTransaction;
  readonly #session: LocalKey;
  /** The positions of events that have come, and the highest of their local versions. */
  readonly #added: { positions: number[]; localVersion: number } = {
    positions: [],
    localVersion: 0,
  };

  constructor(local: LocalTransaction, session: LocalKey) {
    this.#local = local;
    this.#session = session;
  }

  async positionOf(id: string): Promise<number | undefined> {
    return (await this.#local.get('events', idKey(this.#session, id))) as number | undefined;
  }

  async at(position: number): Promise<EventRecord> {
    return (await this.#local.get('events', [...this.#session, position])) as EventRecord;
  }

  async withId(id: string): Promise<EventRecord | undefined> {
    const position = await this.positionOf(id);
    return position === undefined ? undefined : this.at(position);
  }

  /** Lists the events from a position on, up to another one that is not included. */
  async between(from: number, to: number): Promise<readonly EventRecord[]> {
    const range = { from: [...this.#session, from], to: [...this.#session, to] };
    return (await this.#local.list('events', range)) as readonly EventRecord[];
  }

  async ids(): Promise<ReadonlySet<unknown>> {
    const keys = await this.#local.keys('events', below([...this.#session, IDS]));
    return new Set(keys.map((key) => key.at(-1)));
  }

  /** Lists the events that have changed after a local number. */
  async changedAfter(localVersion: number): Promise<EventRecord[]> {
    const from = [...this.#session, LOCAL_VERSIONS, localVersion + 1];
    const { to } = below([...this.#session, LOCAL_VERSIONS]);
    const entries = (await this.#local.list('events', { from, to })) as (number | number[])[];
    const positions = [...new Set(entries.flat())];
    const events = await Promise.all(positions.map((position) => this.at(position)));
    return events
      .filter((event) => event.localVersion > localVersion)
      .sort((one, other) => one.localVersion - other.localVersion);
  }

  /**
   * Puts an event. {@link store} comes at the end.
   *
   * @param localId that of the session. No handle lacks an event that has changed at that time
   * @param earlier the event that has the position
   */
  async put(
    position: number,
    event: EventRecord,
    localId: number,
    earlier: EventRecord | undefined,
  ): Promise<void> {
    const { id, localVersion } = event;
    await this.#local.put('events', [...this.#session, position], event);
    if (earlier === undefined) {
      await this.#local.put('events', idKey(this.#session, id), position);
      if (localVersion <= localId) return;
      this.#added.positions.push(position);
      this.#added.localVersion = Math.max(this.#added.localVersion, localVersion);
    } else if (earlier.localVersion !== localVersion) {
      if (earlier.localVersion > localId) await this.#deleteVersion(earlier.localVersion);
      if (localVersion > localId) await this.#putVersion(localVersion, position);
    }
  }

  /** Stores the entry of the events that have come. */
  async store(): Promise<void> {
    const { positions, localVersion } = this.#added;
    if (positions.length > 0) await this.#putVersion(localVersion, positions.splice(0));
  }

  async #putVersion(localVersion: number, positions: number | readonly number[]): Promise<void> {
    await this.#local.put('events', [...this.#session, LOCAL_VERSIONS, localVersion], positions);
  }

  /** Deletes the entry of a local version, unless other events have it too. */
  async #deleteVersion(localVersion: number): Promise<void> {
    const key = [...this.#session, LOCAL_VERSIONS, localVersion];
    const entry = (await this.#local.get('events', key)) as number | number[] | undefined;
    if (!Array.isArray(entry) || entry.length < 2) await this.#local.delete('events', key);
  }

  async clear(): Promise<void> {
    const { from, to } = below(this.#session);
    await this.#local.delete('events', from, to);
  }
}
