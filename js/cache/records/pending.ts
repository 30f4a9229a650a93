import { invalid } from '../../errors/invalid.js';
import type { CacheKey, StatusBoard } from './status.js';
import { type Cleared, keyOfName, nameOf, type Refusal } from './session_record.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { StateOwner } from '../../storage/scopes.js';

/** What waits in one session or shared state. */
interface PendingContent {
  /** The ids of the unsent events. */
  readonly ids: Set<string>;
  /** The shared keys that the unsent changes write. */
  readonly keys: ReadonlySet<string>;
  /** What waits to be deleted of a user or an app. */
  readonly clears: readonly Cleared[];
  /** Why it was set aside. Absent if it can be sent. */
  readonly refusal: Refusal | undefined;
}

/** What this tab knows to wait. */
interface PendingEntry extends PendingContent {
  readonly key: CacheKey;
  readonly events: number;
  /** Counts the changes, so that one that came after a look is noticed. */
  readonly version: number;
  /** The version of the last write. A look changes the version only. */
  readonly lastWrite: number;
}

/** Collects the shared keys that are unsent at any time from its start to its stop. */
export interface PinnedKeys {
  readonly keys: ReadonlySet<string>;
  /** The names of sessions that were deleted meanwhile: what the remote said about them is out of date. */
  readonly deleted: ReadonlySet<string>;
  /** The names of users whose deletion waited meanwhile. */
  readonly deletedUsers: ReadonlySet<string>;
  stop(): void;
}

/** A write of this tab that is under way. */
interface LocalWrite {
  readonly key: CacheKey;
  /** The shared keys that it writes. */
  readonly keys: ReadonlySet<string>;
}

interface Collector extends PinnedKeys {
  readonly owner: StateOwner;
  readonly except: string | undefined;
  readonly keys: Set<string>;
  readonly deleted: Set<string>;
  readonly deletedUsers: Set<string>;
}

/** The sessions and shared states with unsent changes, as far as this tab knows. */
export class Pending {
  readonly #entries = new Map<string, PendingEntry>();
  readonly #writes = new Map<LocalWrite, Promise<unknown>>();
  readonly #collectors = new Set<Collector>();
  readonly #board: StatusBoard;
  #versions = 0;
  /** Called after each change that the status or a waiting call sees. */
  onChange: (() => void) | undefined;

  constructor(board: StatusBoard) {
    this.#board = board;
  }

  /** The names of what waits and was not set aside. */
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
    const isBlocked = (entry: PendingEntry): boolean =>
      deletions.some((deletion) => deletion !== entry && isOf(entry.key, deletion.key)) ||
      (deletions.includes(entry) && keysInFlight.some((key) => isOf(key, entry.key)));
    const sharing = ready.filter(([, { keys }]) => keys.size > 0);
    const isBehind = (entry: PendingEntry): boolean =>
      entry.keys.size > 0 &&
      sharing.some(([name, other]) => {
        const isFirst = inFlight.has(name) || other.lastWrite < entry.lastWrite;
        return other !== entry && isFirst && shareKeys(entry, other);
      });
    return ready
      .filter(([name, entry]) => !inFlight.has(name) && !isBlocked(entry) && !isBehind(entry))
      .map(([name]) => name);
  }

  /** Returns what waits to be deleted of an app's state, and of a user. */
  clearsOf({ appName, userId }: StateOwner): Cleared[] {
    return [...new Set([nameOf({ appName }), nameOf({ appName, userId })])].flatMap((name) =>
      this.isReady(name) ? this.#entries.get(name)!.clears : [],
    );
  }

  #ready(): [string, PendingEntry][] {
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

  /** Adds new changes. */
  add(key: CacheKey, events: readonly { id: string }[], keys: Iterable<string> = []): void {
    const entry = this.#entries.get(nameOf(key));
    const ids = entry?.ids ?? new Set();
    for (const { id } of events) ids.add(id);
    const all = new Set([...(entry?.keys ?? []), ...keys]);
    const { clears = [], refusal } = entry ?? {};
    this.#put(key, { ids, keys: all, clears, refusal }, this.#versions + 1);
  }

  /** Sets what waits, as it was read from the local storage. The status is new only if what it shows has changed. */
  set(key: CacheKey, content: PendingContent): void {
    this.#put(key, content, this.#entries.get(nameOf(key))?.lastWrite);
  }

  #put(key: CacheKey, content: PendingContent, lastWrite = this.#versions + 1): void {
    this.#versions += 1;
    const name = nameOf(key);
    const last = this.#entries.get(name);
    const events = content.ids.size;
    const version = this.#versions;
    const entry = { key: keyOfName(name), events, ...content, version, lastWrite };
    this.#entries.set(name, entry);
    for (const collector of this.#collectors) collect(collector, name, entry);
    const isSame =
      last?.events === events && (last.refusal === undefined) === (content.refusal === undefined);
    if (!isSame) this.#publish();
  }

  /** Removes an entry, unless it has changed since that version. */
  remove(name: string, version = this.versionOf(name)): boolean {
    if (this.versionOf(name) !== version) return false;
    if (this.#entries.delete(name)) this.#publish();
    return true;
  }

  clear(): void {
    this.#entries.clear();
    this.#publish();
  }

  /**
   * Runs a local write. Until it settles, the shared keys that it writes count as unsent.
   *
   * @param write passes the keys to the function that it gets, before it writes them
   */
  async write<T>(
    key: CacheKey,
    write: (pin: (keys: Iterable<string>) => void) => Promise<T>,
  ): Promise<T> {
    const written = new Set<string>();
    const entry = { key, keys: written };
    const pin = (keys: Iterable<string>): void => {
      for (const sharedKey of keys) written.add(sharedKey);
      for (const collector of this.#collectors) collect(collector, nameOf(key), entry);
    };
    const done = write(pin);
    this.#writes.set(entry, done);
    try {
      return await done;
    } finally {
      this.#writes.delete(entry);
    }
  }

  /** Waits for the local writes that are under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes.values());
  }

  /**
   * Collects the shared keys of an owner that are unsent from now on.
   *
   * @param except the session whose own changes do not count
   */
  collect(owner: StateOwner, except?: CacheKey): PinnedKeys {
    const collector: Collector = {
      owner,
      except: except && nameOf(except),
      keys: new Set(),
      deleted: new Set(),
      deletedUsers: new Set(),
      stop: () => void this.#collectors.delete(collector),
    };
    for (const [name, entry] of this.#entries) collect(collector, name, entry);
    for (const write of this.#writes.keys()) collect(collector, nameOf(write.key), write);
    this.#collectors.add(collector);
    return collector;
  }

  /** Marks a session as deleted, locally or on the remote. */
  markDeleted(key: CacheKey): void {
    for (const { deleted } of this.#collectors) deleted.add(nameOf(key));
  }

  #publish(): void {
    const pending = [...this.#entries.values()].map(({ key, events }) => ({ key, events }));
    this.#board.setPending(pending);
    this.onChange?.();
  }
}

/** Whether a key is an owner itself, or belongs to it. */
export function isOf(key: CacheKey, { appName, userId }: CacheKey): boolean {
  return key.appName === appName && (userId === undefined || key.userId === userId);
}

/** Whether both have written a value of one key. */
function shareKeys(one: LocalWrite, other: LocalWrite): boolean {
  if (one.key.appName !== other.key.appName) return false;
  const isSameUser = one.key.userId === other.key.userId;
  return [...one.keys].some((key) => other.keys.has(key) && (isSameUser || key.startsWith('app:')));
}

function collect(
  { owner, except, keys, deletedUsers }: Collector,
  name: string,
  { key, keys: written, clears, refusal }: LocalWrite & Partial<PendingContent>,
): void {
  if (name === except || key.appName !== owner.appName) return;
  if (clears?.includes('user') === true && refusal === undefined) deletedUsers.add(name);
  const isSameUser = key.userId === owner.userId;
  for (const shared of written) if (isSameUser || shared.startsWith('app:')) keys.add(shared);
}

/** @throws SessionError `invalid_argument` if it names no session, user or app */
export function takeCacheKey(given: CacheKey): CacheKey {
  const { appName, userId, sessionId } = Object(given) as CacheKey;
  const names = [appName, userId, sessionId];
  const isKey =
    typeof appName === 'string' &&
    names.every((name) => name === undefined || typeof name === 'string') &&
    (sessionId === undefined || userId !== undefined);
  if (!isKey) throw invalid('key', 'must name a session, a user or an app');
  return keyOfName(nameOf({ appName, userId, sessionId }));
}

export function isSession(key: CacheKey): key is CompositeSessionKey {
  return key.sessionId !== undefined;
}
