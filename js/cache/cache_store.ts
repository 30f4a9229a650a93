import { isSessionError, SessionError } from '../errors/errors.js';
import type { MaybePromise } from '../call/call.js';
import { Deadline } from '../call/deadline.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { CompositeSessionKey } from '../model/session.js';
import { isShared, REMOVED } from '../state/scope.js';
import type { StorageDeleteRequest, StorageDeleteUnchangedRequest } from '../storage/adapter.js';
import type { StorageKey } from '../storage/rows.js';
import type { StateOwner } from '../storage/scopes.js';
import type {
  AppendRequest,
  CreatedSession,
  CreateRequest,
  DescribeRequest,
  EventPageRequest,
  Floor,
  PageRequest,
  ReadEvents,
  ReadPage,
  ReadSession,
  SessionStore,
} from '../storage/session_store.js';
import type { AppendAnswer, Compute, SharedRevisions } from '../wasm/protocol.js';
import type { Fetch } from './copies/fetch.js';
import type { Lists } from './copies/lists.js';
import type { LocalCopies } from './copies/local_copies.js';
import type { ReadPolicy } from './options.js';
import { CLEAR, type Creation, LISTED, nameOf, noted, ofSession, ownerOf, type RecordChanges, recordedIds, recordOf, KINDS, type Records, type SessionRecord, SET } from './records/records.js'; // prettier-ignore
import { isRefusal } from './copies/remote_end.js';
import type { Pending } from './records/pending.js';
import { sharedKeysOf } from './copies/rebase.js';
import type { Room } from './copies/room.js';
import type { Sender } from './sender.js';
import type { CacheKey } from './records/status.js';

/** The member of a request that holds its own policy. */
export const READS = Symbol('reads');

export interface CacheStoreParts {
  readonly local: LocalCopies;
  readonly records: Records;
  readonly fetch: Fetch;
  readonly lists: Lists;
  readonly pending: Pending;
  readonly sender: Sender;
  readonly room: Room;
  readonly reads: ReadPolicy;
  readonly readTimeoutMs: number;
  readonly isThrough: boolean;
  readonly clock: () => number;
  readonly report: (error: unknown) => void;
  readonly tell: (key: CacheKey) => void;
  readonly noteUse: (key: CompositeSessionKey) => void;
}

/** The copies as a store. Reads and writes go to the local storage; what they begin goes on in the background. */
export class CacheStore implements SessionStore {
  readonly #parts: CacheStoreParts;
  /** The local revision that created each copy that is known to have all events. */
  readonly #wholes = new Map<string, number>();

  constructor(parts: CacheStoreParts) {
    this.#parts = parts;
  }

  async open(call: StorageCall): Promise<void> {
    const { local } = this.#parts;
    await local.call((store) => store.open(call));
    await local.requireTruncating();
  }

  async create(request: CreateRequest, ifAbsent: boolean): Promise<CreatedSession | undefined> {
    const { local, records, room } = this.#parts;
    const { key, events, state, delta, description, lastUpdateTime, sharesState } = request;
    const create = (): Promise<CreatedSession | undefined> =>
      local.call((store) => store.create({ ...request, key: local.keyOf(key) }, ifAbsent));
    // It fails, or answers that there is one.
    if ((await local.head(key)) !== undefined) return create();
    const { title, labels } = description;
    const creation: Creation = { state, delta, events: events.length, title, labels, lastUpdateTime, sharesState }; // prettier-ignore
    const operation = noted(creation);
    // Before the session: it would look like an unfinished copy.
    const nothing = { refused: undefined, title: undefined, labels: undefined };
    await room.run(() => records.change(ownerOf(key), (all) =>
      recordOf(all, key.sessionId).create === undefined ? ofSession(key, { ...nothing, create: operation }) : {})); // prettier-ignore
    const created = await room.run(create).catch(async (error: unknown) => {
      const { sessionId } = key;
      if (!isSessionError(error, 'already_exists')) await records.remove(key, { [`create ${sessionId}`]: operation }); // prettier-ignore
      throw error;
    });
    if (created === undefined) return undefined;
    // Another creation, which came too late, may have written its record first, and a sender may have removed it.
    const bound = { ...operation, value: { ...creation, copy: created[0] } };
    await records.change(ownerOf(key), (all) =>
      recordOf(all, key.sessionId).base?.copy === created[0]
        ? {}
        : ofSession(key, { create: bound }),
    );
    const keys = [...sharedKeysOf(events), ...sharedIn(state), ...sharedIn(delta)];
    await this.#written(key, events.length, sharesState ? keys : sharedIn(delta));
    return created;
  }

  async describe(request: DescribeRequest): Promise<boolean> {
    const { local, records } = this.#parts;
    const { key, title, labels } = request;
    await this.#require(key);
    const isThere = await local.call((store) =>
      store.describe({ ...request, key: local.keyOf(key) }),
    );
    if (!isThere) return false;
    await records.writeSession(key, {
      ...(title !== undefined && { title: noted(title) }),
      ...(labels !== undefined && { labels: noted(labels) }),
    });
    await this.#written(key, 0);
    return true;
  }

  get(
    key: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    call: StorageCall,
  ): MaybePromise<ReadSession | undefined> {
    const need = after === undefined ? (last ?? Infinity) : Infinity;
    return this.#read(key, need, call, (store) =>
      store.get(this.#parts.local.keyOf(key), last, after, call),
    );
  }

  page(
    key: Required<StorageKey>,
    page: EventPageRequest,
    call: StorageCall,
  ): Promise<ReadEvents | undefined> {
    const { isForward, eventId, limit, withCount } = page;
    const isNewest = !isForward && eventId === undefined && !withCount;
    // Older pages: the whole session.
    return this.#read(key, isNewest ? (limit ?? Infinity) : Infinity, call, (store) =>
      store.page(this.#parts.local.keyOf(key), page, call),
    );
  }

  /**
   * Reads a copy, and fetches it before if it is missing or too short.
   *
   * @param need the newest events that the read needs
   */
  async #read<T extends readonly unknown[]>(
    key: CompositeSessionKey,
    need: number,
    call: StorageCall,
    read: (store: SessionStore) => MaybePromise<T | undefined>,
  ): Promise<T | undefined> {
    const { local, fetch, noteUse, report } = this.#parts;
    const policy = this.policyOf(call);
    if (policy === 'network-first') await this.#inTime(fetch.copy(key, need));
    const copy = await local.call(read);
    if (policy === 'cache-only') return copy;
    if (copy !== undefined && (await this.#isEnough(key, copy[0] as number, need))) {
      noteUse(key);
      if (policy === 'cache-first' && !fetch.isWaiting(key)) {
        fetch.copy(key).catch(report);
      }
      return copy;
    }
    if (await this.#isDeleted(key)) return undefined;
    try {
      await fetch.copy(key, need);
    } catch (error) {
      // Offline, the newest events are better than none.
      if (copy !== undefined && !isRefusal(error)) return copy;
      throw error;
    }
    return local.call(read);
  }

  async #isEnough(key: CompositeSessionKey, created: number, need: number): Promise<boolean> {
    const name = nameOf(key);
    if (this.#wholes.get(name) === created) return true;
    const { base, create } = await this.#parts.records.session(key);
    if (base?.copy !== created) return create?.value.copy === created;
    if (base.held !== undefined) return need <= base.held;
    this.#wholes.set(name, created);
    return true;
  }

  async #isDeleted(key: CompositeSessionKey): Promise<boolean> {
    const record = await this.#parts.records.session(key);
    return record.delete !== undefined;
  }

  /** Fetches a session for a write, if there is no copy. */
  async #require(key: CompositeSessionKey): Promise<void> {
    const { local, fetch } = this.#parts;
    if ((await local.head(key)) !== undefined || (await this.#isDeleted(key))) return;
    await fetch.copy(key, 0);
  }

  async list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    page: PageRequest,
    call: StorageCall,
  ): Promise<ReadPage> {
    const { local, lists, records, report } = this.#parts;
    const policy = this.policyOf(call);
    const owner = { appName, userId };
    if (policy === 'network-first') {
      await this.#inTime(lists.fetch(owner));
    } else if (policy === 'cache-first') {
      const isFirst = (await records.read(owner))[LISTED] === undefined;
      const fetched = lists.fetch(owner).catch((error: unknown) => {
        // Without a connection, the copies are all there is.
        if (isFirst && isRefusal(error)) throw error;
        report(error);
      });
      if (isFirst) await fetched;
    }
    return local.call((store) =>
      store.list(local.keyOf(owner).appName, userId, descending, page, call),
    );
  }

  async append(request: AppendRequest): Promise<AppendAnswer> {
    const { local, room, noteUse } = this.#parts;
    const { key, events, position } = request;
    const mapped = { ...request, key: local.keyOf(key) };
    const append = (): Promise<AppendAnswer> =>
      room.run(() => local.call((store) => store.append(mapped)));
    await this.#refuseIfReadOnly(key, events.length);
    const answer = await append().catch(async (error: unknown) => {
      const isKnown = position.created >= 0;
      if (isKnown || !isSessionError(error, 'not_found')) throw error;
      await this.#require(key);
      return append();
    });
    noteUse(key);
    if (events.length > 0) await this.#written(key, events.length, sharedKeysOf(events));
    return answer;
  }

  /** Nothing that the remote can never take is stored. */
  async #refuseIfReadOnly(key: CompositeSessionKey, count: number): Promise<void> {
    if (count === 0) return;
    const { base } = await this.#parts.records.session(key);
    if (base?.created !== null) return;
    const message = 'The remote has no route to append events, so the cache takes none either; run the agent there.'; // prettier-ignore
    throw new SessionError('unsupported', message, { storage: 'cache' });
  }

  async update(
    appName: string,
    userId: string | undefined,
    delta: string | Compute,
    call: StorageCall,
  ): Promise<SharedRevisions> {
    const { local, records } = this.#parts;
    let text = typeof delta === 'string' ? delta : '{}';
    const run = typeof delta === 'string' ? delta : (state: string) => (text = delta(state));
    const app = local.keyOf({ appName }).appName;
    const revisions = await local.call((store) => store.update(app, userId, run, call));
    const values = Object.entries(JSON.parse(text) as Record<string, unknown>);
    if (values.length === 0) return revisions;
    const owner = { appName, userId };
    await records.write(owner, Object.fromEntries(values.map(([key, value]) => [SET + key, noted(value)]))); // prettier-ignore
    await this.#written(owner, 0, values.map(([key]) => key)); // prettier-ignore
    return revisions;
  }

  async sharedState(owner: StateOwner, call: StorageCall): Promise<string> {
    const { local, lists, report } = this.#parts;
    const policy = this.policyOf(call);
    if (policy !== 'cache-only') {
      const isFirst = !(await lists.hasState(owner));
      const fetched = lists.fetchState(owner);
      if (policy === 'network-first') await this.#inTime(fetched);
      else if (isFirst) await fetched.catch(report);
      else fetched.catch(report);
    }
    return local.call((store) => store.sharedState(local.keyOf(owner), call));
  }

  async delete(request: StorageDeleteRequest, call: StorageCall): Promise<Floor> {
    const { local, records } = this.#parts;
    const { what, key } = request;
    const mapped = { what, key: local.keyOf(key) } as StorageDeleteRequest;
    const erase = () => local.call((store) => store.delete(mapped, call));
    const { appName, userId, sessionId }: StorageKey = key;
    if (what === 'session' && userId !== undefined && sessionId !== undefined) {
      const session = { appName, userId, sessionId };
      await this.#keepShared(session);
      const record = await records.session(session);
      const floor = await erase();
      await this.#deleted(session, record);
      return floor;
    }
    const floor = await erase();
    await records.change({ appName, userId }, (all) => {
      const changes: Record<string, unknown> = { [CLEAR + what]: noted(true) };
      const prefix = what === 'appState' ? `${SET}app:` : `${SET}user:`;
      for (const name of Object.keys(all)) if (name.startsWith(prefix)) changes[name] = undefined;
      if (what !== 'user') return changes;
      for (const id of recordedIds(all)) {
        for (const kind of KINDS) if (`${kind} ${id}` in all) changes[`${kind} ${id}`] = undefined;
      }
      return changes;
    });
    await this.#written({ appName, userId }, 0);
    return floor;
  }

  async deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): Promise<{ readonly floor: Floor } | undefined> {
    const { local, records } = this.#parts;
    const { key } = request;
    const mapped = { ...request, key: local.keyOf(key) };
    await this.#keepShared(key);
    const record = await records.session(key);
    const deleted = await local.call((store) => store.deleteUnchanged(mapped));
    if (deleted !== undefined) await this.#deleted(key, record);
    return deleted;
  }

  /**
   * The copy is gone. A crash before this leaves a session that is fetched again.
   *
   * @param record what was noted before the deletion; another tab may have created the session again since
   */
  async #deleted(key: CompositeSessionKey, record: SessionRecord): Promise<void> {
    const { local, records, pending } = this.#parts;
    pending.noteDeletion(key);
    await records.removeCopy(key, record.base?.copy, record, { delete: noted(true), refused: undefined }); // prettier-ignore
    // A fetch that was under way may have made a copy before the record stood.
    await local.deleteFetched(key);
    await this.#written(key, 0);
  }

  /** What unsent changes of a session wrote into shared states is sent, although the session is deleted. */
  async #keepShared(key: CompositeSessionKey): Promise<void> {
    const { local, records, pending } = this.#parts;
    const { base, create } = await local.recordFor(key, await local.head(key));
    if (base === undefined && create === undefined) return;
    const copy = await local.changedSince(key, base?.local ?? 0);
    if (copy === undefined) return;
    const keys = sharedKeysOf(copy.events.map(({ snapshot }) => snapshot));
    for (const text of create === undefined ? [] : [create.value.state, create.value.delta]) {
      for (const name of sharedIn(text)) keys.add(name);
    }
    if (keys.size === 0) return;
    const { state } = copy.head;
    const changes = [...keys].map((name) => [SET + name, noted(state[name] ?? REMOVED)]);
    await records.write(ownerOf(key), Object.fromEntries(changes) as RecordChanges);
    pending.add(ownerOf(key), 0, keys);
  }

  /** Called when the local data was erased. */
  forgetCopies(): void {
    this.#wholes.clear();
  }

  free(): void {
    // The local service frees its store.
  }

  policyOf(call: StorageCall): ReadPolicy {
    return (call as { readonly [READS]?: ReadPolicy })[READS] ?? this.#parts.reads;
  }

  /** What the local storage has is to be sent. */
  async #written(key: CacheKey, events: number, keys: Iterable<string> = []): Promise<void> {
    const { pending, sender, records, tell, isThrough } = this.#parts;
    pending.add(key, events, keys);
    tell(key);
    sender.wake();
    if (!isThrough) return;
    await sender.deliver([key]);
    if (key.userId === undefined || key.sessionId === undefined) return;
    const { refused } = await records.session(key as CompositeSessionKey);
    if (refused !== undefined) throw new SessionError(refused.code, refused.message);
  }

  /** Waits for a fetch, but not for longer than a read may wait. Without a connection there is the copy. */
  async #inTime(fetched: Promise<void>): Promise<void> {
    const { readTimeoutMs, report } = this.#parts;
    const deadline = new Deadline(readTimeoutMs);
    await deadline.until(fetched.catch(report));
    deadline.clear();
  }
}

function sharedIn(text: string): string[] {
  return Object.keys(JSON.parse(text) as object).filter(isShared);
}
