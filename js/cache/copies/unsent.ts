import { isSessionError, type SessionError } from '../../errors/errors.js';
import type { EventSnapshot } from '../../model/event/snapshot.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { StateOwner } from '../../storage/scopes.js';
import { type CacheKey, belongsTo, isSession, keyOfName, nameOf } from '../records/cache_key.js';
import { errorOf } from '../records/failures.js';
import { type LocalChanges, Pins } from '../records/pins.js';
import type { Records } from '../records/records.js';
import {
  clearsOf,
  hasOperations,
  isSent,
  isUnsentState,
  recordOf,
  type Refusal,
  SESSION,
  SET,
  STATE_REFUSED,
  type UnsentValue,
  withoutPrefix,
} from '../records/session_record.js';
import type { StatusBoard } from '../records/status.js';
import { Turns } from '../records/turns.js';
import type { LocalCopyReader } from './local_copy_reader.js';
import { sharedKeysOf, stateWrites } from './writes.js';

export interface UnsentParts {
  readonly local: LocalCopyReader;
  readonly records: Records;
  readonly board: StatusBoard;
  readonly report: (error: unknown) => void;
  /** Tells the other tabs that something of this key has changed, was sent or was set aside. */
  readonly tell: (key: CacheKey) => void;
}

/** The unsent changes of one session or shared state, as they are stored. */
interface StoredChanges extends Required<Omit<LocalChanges, 'key'>> {
  /** The writes of unsent events, in order. */
  readonly events: readonly EventSnapshot[];
  readonly lastWrite: number;
  /** Why a copy cannot be read. It is treated as set aside. */
  readonly damage?: SessionError | undefined;
}

/** The unsent changes of one session or shared state, as this tab knows them. */
interface Entry extends Required<LocalChanges> {
  /** The ids of the unsent events. */
  readonly ids: Set<string>;
  /** The number of ids when the entry was made. */
  readonly events: number;
  /** A new number for each change. It tells whether the entry has changed since a read. */
  readonly version: number;
  /** When it last wrote a shared key. 0: before everything else that writes one of its keys. */
  readonly lastWrite: number;
}

/**
 * The sessions and shared states with unsent changes, as far as this tab knows. The local storage says what they are;
 * {@link scan} and {@link refresh} read it.
 */
export class Unsent {
  readonly #parts: UnsentParts;
  readonly #entries = new Map<string, Entry>();
  readonly pins = new Pins(this.#entries);
  #versions = 0;
  /** When the newest known write was. */
  #newestWrite = 0;
  #firstScan: Promise<unknown> | undefined;
  /** Called after each change that the status or a waiting call sees. */
  onChange: (() => void) | undefined;
  /** Runs one refresh of a key after the other. Otherwise an earlier one could overwrite what a later one has read. */
  readonly #refreshes = new Turns<CacheKey>(([key]) => this.#refresh(key));

  constructor(parts: UnsentParts) {
    this.#parts = parts;
  }

  /** The names of the sessions and states that can be sent: those that were not set aside. */
  ready(): string[] {
    return this.#ready().map(([name]) => name);
  }

  /**
   * The names of what can be sent beside the requests that are under way.
   *
   * - A deletion of a user or of a state is sent before everything else of its owner, and alone. Otherwise it could
   *   delete what was written after it, also if its answer is lost and the request is sent again.
   * - What writes one shared key is sent one after the other, in the order of the writes. Otherwise an older value could
   *   arrive last.
   */
  sendable(inFlight: ReadonlyMap<string, unknown>): string[] {
    const ready = this.#ready();
    const deletions = ready.map(([, entry]) => entry).filter(({ clears }) => clears.length > 0);
    const keysInFlight = deletions.length === 0 ? [] : [...inFlight.keys()].map(keyOfName);
    const isBlocked = (entry: Entry): boolean =>
      deletions.some((deletion) => deletion !== entry && belongsTo(entry.key, deletion.key)) ||
      (deletions.includes(entry) && keysInFlight.some((key) => belongsTo(key, entry.key)));
    const sharing = ready.filter(([, { keys }]) => keys.size > 0);
    // The values of an owner with a deletion are sent after it, so they do not hold it up.
    const isBehind = (entry: Entry): boolean =>
      entry.keys.size > 0 &&
      entry.clears.length === 0 &&
      sharing.some(([name, other]) => {
        const isFirst = inFlight.has(name) || other.lastWrite < entry.lastWrite;
        return other !== entry && isFirst && shareKeys(entry, other);
      });
    return ready
      .filter(([name, entry]) => !inFlight.has(name) && !isBlocked(entry) && !isBehind(entry))
      .map(([name]) => name);
  }

  #ready(): [string, Entry][] {
    return [...this.#entries].filter(([, { refusal }]) => refusal === undefined);
  }

  keys(): CacheKey[] {
    return [...this.#entries.values()].map(({ key }) => key);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  isReady(name: string): boolean {
    return this.has(name) && this.refusalOf(name) === undefined;
  }

  refusalOf(name: string): Refusal | undefined {
    return this.#entries.get(name)?.refusal;
  }

  versionOf(name: string): number {
    return this.#entries.get(name)?.version ?? 0;
  }

  /**
   * Adds changes that were just written.
   *
   * @param at when: a time of {@link nextWrite}
   */
  add(
    key: CacheKey,
    events: readonly { id: string }[],
    keys: ReadonlySet<string>,
    at: number,
  ): void {
    const last = this.#entries.get(nameOf(key));
    // The same set goes on: a copy for each event would make many appends slow.
    const ids = last?.ids ?? new Set();
    for (const { id } of events) ids.add(id);
    this.#put({
      key,
      ids,
      keys: new Set([...(last?.keys ?? []), ...keys]),
      clears: last?.clears ?? [],
      refusal: last?.refusal,
      lastWrite: keys.size === 0 ? 0 : at,
    });
  }

  /** Returns the time of a write that comes now: later than all others, also if the clock was set back. */
  nextWrite(): number {
    return (this.#newestWrite = Math.max(Date.now(), this.#newestWrite + 1));
  }

  /**
   * Returns the shared keys of a session or state that something else has written since. If it writes other keys now, it is
   * sent later than that, with the older values of these.
   *
   * @param written the keys that it writes now
   */
  overtaken(key: CacheKey, written: ReadonlySet<string>): string[] {
    const entry = this.#entries.get(nameOf(key));
    if (entry === undefined || written.size === 0) return [];
    const later = [...this.#entries.values()].filter(
      ({ refusal, lastWrite }) => refusal === undefined && lastWrite > entry.lastWrite,
    );
    return [...entry.keys].filter((shared) => {
      const one = { key, keys: new Set([shared]) };
      return !written.has(shared) && later.some((other) => shareKeys(one, other));
    });
  }

  /** Whether something else that is unsent writes one of these shared keys. */
  hasOther(changes: LocalChanges): boolean {
    const name = nameOf(changes.key);
    return [...this.#entries].some(([other, entry]) => {
      return other !== name && shareKeys(changes, entry);
    });
  }

  /** Returns the shared keys with this prefix that something else of an owner writes. */
  keysOf(owner: StateOwner, prefix: string): string[] {
    const own = nameOf(owner);
    const entries = [...this.#entries].filter(
      ([name, { key }]) => name !== own && belongsTo(key, owner),
    );
    return entries.flatMap(([, { keys }]) => [...keys].filter((key) => key.startsWith(prefix)));
  }

  /** Sets an entry. The status is new only if what it shows has changed. */
  #put(changes: Omit<Entry, 'events' | 'version'>): void {
    this.#versions += 1;
    const name = nameOf(changes.key);
    const last = this.#entries.get(name);
    const lastWrite = Math.max(changes.lastWrite, last?.lastWrite ?? 0);
    this.#newestWrite = Math.max(this.#newestWrite, lastWrite);
    const entry = {
      ...changes,
      key: keyOfName(name),
      events: changes.ids.size,
      version: this.#versions,
      lastWrite,
    };
    this.#entries.set(name, entry);
    this.pins.add(entry);
    const isSame =
      last?.events === entry.events &&
      (last.refusal === undefined) === (entry.refusal === undefined);
    if (!isSame) this.#publish();
  }

  /** Removes an entry, unless it has changed since that version. */
  remove(name: string, version: number): boolean {
    if (this.versionOf(name) !== version) return false;
    if (this.#entries.delete(name)) this.#publish();
    return true;
  }

  /** Called when the local data is erased. */
  clear(): void {
    this.pins.markErased();
    this.#entries.clear();
    this.#publish();
  }

  #publish(): void {
    const pending = [...this.#entries.values()].map(({ key, events }) => ({ key, events }));
    this.#parts.board.setPending(pending);
    this.onChange?.();
  }

  /**
   * Finds the unsent changes of all users that are not known yet, for example from an earlier visit.
   *
   * @returns the users and the apps
   */
  async scan(): Promise<StateOwner[]> {
    const owners = await this.#parts.records.owners();
    for (const owner of owners) await this.#scanOwner(owner);
    return owners;
  }

  /** Waits until what an earlier visit has left is known. */
  async known(): Promise<void> {
    this.#firstScan ??= this.scan();
    await this.#firstScan;
  }

  async #scanOwner(owner: StateOwner): Promise<void> {
    const { local, records, report } = this.#parts;
    const { appName, userId } = owner;
    await this.refresh(owner);
    if (userId === undefined) return;
    const all = await records.read(owner);
    // One damaged session makes the list fail. The records name the sessions too.
    const listed = await local.list(appName, userId).catch((error: unknown) => {
      if (!isSessionError(error, 'corrupt_record')) throw error;
      report(error);
      return [];
    });
    const copies = new Map(listed.map((copy) => [copy.sessionId, copy]));
    const ids = new Set([...Object.keys(withoutPrefix(all, SESSION)), ...copies.keys()]);
    const keys = [...ids].map((sessionId) => ({ appName, userId, sessionId }));
    const isUnknown = (key: CompositeSessionKey): boolean =>
      !this.isReady(nameOf(key)) &&
      !isSent(recordOf(all, key.sessionId), copies.get(key.sessionId));
    await Promise.all(keys.filter(isUnknown).map((key) => this.refresh(key)));
  }

  /** Reads the unsent changes of a session or state from the local storage, and replaces the entry. */
  refresh(key: CacheKey): Promise<void> {
    return this.#refreshes.call(nameOf(key), key);
  }

  async #refresh(key: CacheKey): Promise<void> {
    const name = nameOf(key);
    for (;;) {
      const version = this.versionOf(name);
      const stored = await this.read(key);
      // Report it once. Otherwise each list of the outbox would change the status.
      if (stored?.damage !== undefined && this.refusalOf(name) === undefined) {
        this.#parts.report(stored.damage);
      }
      if (stored === undefined) return void this.remove(name, version);
      // A change that came after the read would be lost.
      if (this.versionOf(name) !== version) continue;
      const { events, keys, clears, refusal, lastWrite } = stored;
      const ids = new Set(events.map(({ id }) => id));
      return this.#put({ key, ids, keys, clears, refusal, lastWrite });
    }
  }

  /** Reads the unsent changes of a session or state. Returns `undefined` if there are none. */
  async read(key: CacheKey): Promise<StoredChanges | undefined> {
    const { local, records } = this.#parts;
    if (isSession(key)) {
      const { copy, record, damage } = await local.unsent(key);
      const { events = [] } = copy ?? {};
      const { refused: refusal, create, order } = record;
      if (events.length === 0 && !hasOperations(record) && refusal === undefined) return undefined;
      const keys = sharedKeysOf(stateWrites(events, create?.value));
      return { events, keys, clears: [], refusal, lastWrite: order?.value ?? 0, damage };
    }
    const all = await records.read(key);
    if (!Object.keys(all).some(isUnsentState)) return undefined;
    const values = withoutPrefix(all, SET) as Record<string, UnsentValue>;
    const keys = new Set(Object.keys(values));
    const lastWrite = Math.max(0, ...Object.values(values).map(({ at = 0 }) => at));
    const refusal = all[STATE_REFUSED] as Refusal | undefined;
    return { events: [], keys, clears: clearsOf(all), refusal, lastWrite };
  }

  /**
   * Whether a deletion of the session's user, or of the user's state, is to be sent first. Another tab, or an earlier
   * visit, may have recorded it. Call this after the session was read: changes that follow the deletion wait for it.
   */
  async isBlocked({ appName, userId }: CompositeSessionKey): Promise<boolean> {
    const owner = { appName, userId };
    const { clears = [], refusal } = (await this.read(owner)) ?? {};
    if (clears.length === 0 || refusal !== undefined) return false;
    await this.refresh(owner);
    return true;
  }

  /** Sets a session or state aside, because the remote has refused it. */
  setAside(key: CacheKey, refusal: Refusal): Promise<void> {
    return this.#setRefusal(key, refusal);
  }

  /** Ends that: the session or state can be sent again. */
  release(key: CacheKey): Promise<void> {
    return this.#setRefusal(key, undefined);
  }

  async #setRefusal(key: CacheKey, refusal: Refusal | undefined): Promise<void> {
    const { records, report, tell } = this.#parts;
    if (isSession(key)) await records.changeSession(key, () => ({ refused: refusal }));
    else await records.change(key, () => ({ [STATE_REFUSED]: refusal }));
    if (refusal !== undefined) report(errorOf(refusal));
    await this.refresh(key);
    tell(key);
  }
}

/** Whether both have written a value of one key. */
function shareKeys(one: LocalChanges, other: LocalChanges): boolean {
  if (one.key.appName !== other.key.appName) return false;
  const isSameUser = one.key.userId === other.key.userId;
  return [...one.keys].some((key) => other.keys.has(key) && (isSameUser || key.startsWith('app:')));
}
