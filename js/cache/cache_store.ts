import { untilAborted } from '../call/time_limit.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { CompositeSessionKey } from '../model/session.js';
import { isShared, REMOVED } from '../state/scope.js';
import type { StateShape } from '../state/state_shape.js';
import type { StorageDeleteRequest, StorageDeleteUnchangedRequest } from '../storage/adapter.js';
import type { StorageKey } from '../storage/rows.js';
import type { StateOwner } from '../storage/scopes.js';
import type {
  AppendRequest,
  CreatedSession,
  CreateRequest,
  DescribeRequest,
  Floor,
  SessionStore,
} from '../storage/session_store.js';
import type { Appended, Compute, SharedRevisions } from '../wasm/protocol.js';
import { appendOrReplace } from './copies/rewrites.js';
import { sharedKeysOf, stateWrites } from './copies/writes.js';
import { type CacheKey, belongsTo, isSession, nameOf } from './records/cache_key.js';
import { erasedError } from './records/failures.js';
import {
  CLEAR,
  type Creation,
  newOperation,
  type OwnerRecords,
  SESSION,
  type SessionRecord,
  SET,
  type UnsentValue,
  withoutPrefix,
} from './records/session_record.js';
import { CopyReads, type ReadParts } from './reads.js';
import type { Sender } from './sending/sender.js';

export interface CacheStoreParts extends ReadParts {
  readonly sender: Sender;
  readonly isThrough: boolean;
}

/** Counts keys as unsent before they are written. */
type Pin = (keys: Iterable<string>) => void;

/** The copies as a store. Reads and writes go to the local storage; they start work in the background. */
export class CacheStore extends CopyReads implements SessionStore {
  readonly #parts: CacheStoreParts;
  /** Whether the remote is known to have revisions. Then it has a route to append events. */
  #hasRevisions = false;

  constructor(parts: CacheStoreParts) {
    super(parts);
    this.#parts = parts;
  }

  async open(call: StorageCall): Promise<void> {
    await this.#parts.local.call((store) => store.open(call));
  }

  /** Runs a local write, once what an earlier visit has left is known: its order counts too. */
  #write<T>(key: CacheKey, write: (pin: Pin) => Promise<T>): Promise<T> {
    const { unsent } = this.#parts;
    return unsent.pins.write(key, async (pin) => {
      // Why it is not known is reported elsewhere, and does not concern this write.
      await unsent.known().catch(() => undefined);
      return write(pin);
    });
  }

  create(request: CreateRequest, ifAbsent: boolean): Promise<CreatedSession | undefined> {
    return this.#write(request.key, (pin) => this.#create(request, ifAbsent, pin));
  }

  async #create(
    request: CreateRequest,
    ifAbsent: boolean,
    pin: Pin,
  ): Promise<CreatedSession | undefined> {
    const { local, records, bounds, unsent } = this.#parts;
    const { erasure } = unsent.pins;
    const { key, events, state, delta, description, lastUpdateTime, sharesState } = request;
    const create = (): Promise<CreatedSession | undefined> =>
      local.at(key, (store, key) => store.create({ ...request, key }, ifAbsent));
    // If there is a copy, this fails or returns `undefined`.
    if ((await local.head(key)) !== undefined) return create();
    const creation = { state, delta, description, lastUpdateTime, sharesState };
    const operation = newOperation<Creation>({ ...creation, events: events.length });
    const keys = sharedKeysOf(stateWrites(events, operation.value));
    pin(keys);
    // The record comes before the session: without it, a session would look like an unfinished copy.
    await bounds.write(() =>
      records.changeSession(key, ({ create }) => {
        if (create !== undefined) return {};
        return { refused: undefined, title: undefined, labels: undefined, create: operation };
      }),
    );
    const created = await bounds.write(create).catch(async (error: unknown) => {
      const isThere = isSessionError(error, 'already_exists');
      if (!isThere) await records.removeSent(key, { create: operation });
      throw error;
    });
    if (created === undefined) return undefined;
    // Another creation, which came too late, may have written its record first. A sender that has seen no copy may
    // still remove the first record, so this one has another id.
    const bound = newOperation<Creation>({ ...operation.value, copy: created[0] });
    await records.changeSession(key, ({ base }) =>
      base?.copy === created[0] ? {} : { create: bound },
    );
    if (erasure.aborted) {
      await local.deleteCreatedAt(key, created[0]);
      await records.removeSent(key, { create: bound });
      throw erasedError();
    }
    await this.#written(key, request, events, keys);
    return created;
  }

  describe(request: DescribeRequest): Promise<boolean> {
    return this.#write(request.key, () => this.#describe(request));
  }

  async #describe(request: DescribeRequest): Promise<boolean> {
    const { local, records, bounds } = this.#parts;
    const { key, title, labels } = request;
    await this.#require(key, request);
    const changes = {
      ...(title !== undefined && { title: newOperation(title) }),
      ...(labels !== undefined && { labels: newOperation(labels) }),
    };
    // Record the changes first: after a crash in between, a title that the copy shows is still sent.
    await bounds.write(() => records.changeSession(key, () => changes));
    const isThere = await bounds.write(() =>
      local.at(key, (store, key) => store.describe({ ...request, key })),
    );
    if (!isThere) await records.removeSent(key, changes);
    else await this.#written(key, request);
    return isThere;
  }

  /** Fetches a session for a write, if there is no copy. */
  async #require(key: CompositeSessionKey, call: StorageCall): Promise<void> {
    const { local, fetch } = this.#parts;
    if ((await local.head(key)) !== undefined || (await this.isDeleted(key))) return;
    await untilAborted(call.signal, fetch.require(key, 0));
  }

  append(request: AppendRequest): Promise<Appended> {
    return this.#write(request.key, (pin) => this.#append(request, pin));
  }

  async #append(request: AppendRequest, pin: Pin): Promise<Appended> {
    const { bounds } = this.#parts;
    const { key, events, position, compute } = request;
    pin(sharedKeysOf(events));
    const pinned = { ...request, ...(compute && { compute: pinning(compute, pin) }) };
    const append = (): Promise<Appended> =>
      bounds.write(() => appendOrReplace(this.#parts, pinned));
    await this.#refuseIfReadOnly(key, events.length);
    const appended = await append().catch(async (error: unknown) => {
      const isKnown = position.created >= 0;
      if (isKnown || !isSessionError(error, 'not_found')) throw error;
      await this.#require(key, request);
      return append();
    });
    bounds.markUsed(key);
    if (events.length > 0) await this.#written(key, request, events, sharedKeysOf(events));
    return appended;
  }

  /** Refuses events that the remote has no route for. Stored locally, they would wait for ever. */
  async #refuseIfReadOnly(key: CompositeSessionKey, count: number): Promise<void> {
    if (count === 0 || this.#hasRevisions) return;
    const { base } = await this.#parts.records.session(key);
    this.#hasRevisions = typeof base?.created === 'number';
    if (base?.created !== null) return;
    const message = 'The remote has no route to append events; run the agent there.';
    throw new SessionError('unsupported', message, { storage: 'cache' });
  }

  update(
    appName: string,
    userId: string | undefined,
    delta: string | Compute,
    call: StorageCall,
  ): Promise<SharedRevisions> {
    const owner = { appName, userId };
    return this.#write(owner, (pin) => this.#update(owner, delta, pin, call));
  }

  async #update(
    owner: StateOwner,
    delta: string | Compute,
    pin: Pin,
    call: StorageCall,
  ): Promise<SharedRevisions> {
    const { local, bounds } = this.#parts;
    const keys = new Set<string>();
    const take = (text: string): string => {
      keys.clear();
      for (const key of Object.keys(JSON.parse(text) as object)) keys.add(key);
      pin(keys);
      return text;
    };
    const run = typeof delta === 'string' ? take(delta) : (state: string) => take(delta(state));
    const revisions = await bounds.write(() =>
      local.at(owner, (store, { appName, userId }) => store.update(appName, userId, run, call)),
    );
    if (keys.size === 0) return revisions;
    await this.#sendLast(owner, keys);
    await this.#written(owner, call);
    return revisions;
  }

  delete(request: StorageDeleteRequest, call: StorageCall): Promise<Floor> {
    return this.#write(request.key, () => this.#delete(request, call));
  }

  async #delete(request: StorageDeleteRequest, call: StorageCall): Promise<Floor> {
    const { local, records, unsent } = this.#parts;
    const { what, key } = request;
    const erase = () =>
      local.at(key, (store, key) => store.delete({ what, key } as StorageDeleteRequest, call));
    const { appName, userId, sessionId }: StorageKey = key;
    if (what === 'session' && userId !== undefined && sessionId !== undefined) {
      const session = { appName, userId, sessionId };
      await this.#keepShared(session);
      const record = await records.session(session);
      const floor = await erase();
      await this.#deleted(session, record, call);
      return floor;
    }
    const owner = { appName, userId };
    const deleted = what === 'user' ? unsent.keys().filter((key) => belongsTo(key, owner)) : [];
    // What the sessions have written to the state of the app stays.
    for (const key of deleted) if (isSession(key)) await this.#keepShared(key);
    const floor = await erase();
    const prefix = what === 'appState' ? 'app:' : 'user:';
    // Unsent events of sessions that stay would write their values again, so these are removed after them.
    const keys = what === 'user' ? [] : unsent.keysOf(owner, prefix);
    const removals = valuesAt(unsent.nextWrite(), keys, {});
    await records.change(owner, (all) => {
      const changes: Record<string, unknown> = { [CLEAR + what]: newOperation(true) };
      const prefixes = [SET + prefix];
      if (what === 'user') prefixes.push(SESSION);
      for (const name of Object.keys(all)) {
        if (prefixes.some((prefix) => name.startsWith(prefix))) changes[name] = undefined;
      }
      return { ...changes, ...removals };
    });
    // The deleted sessions have nothing to send, and the deletion is sent before everything else of the owner.
    await Promise.all([owner, ...deleted].map((key) => unsent.refresh(key)));
    await this.#written(owner, call);
    return floor;
  }

  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): Promise<{ readonly floor: Floor } | undefined> {
    return this.#write(request.key, () => this.#deleteUnchanged(request));
  }

  async #deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): Promise<{ readonly floor: Floor } | undefined> {
    const { local, records } = this.#parts;
    const { key } = request;
    await this.#keepShared(key);
    const record = await records.session(key);
    const deleted = await local.at(key, (store, key) => store.deleteUnchanged({ ...request, key }));
    if (deleted !== undefined) await this.#deleted(key, record, request);
    return deleted;
  }

  /**
   * Records a deletion, after the copy is gone. A crash before this leaves a session that is fetched again.
   *
   * @param record what was recorded before the deletion; another tab may have created the session again since
   */
  async #deleted(
    key: CompositeSessionKey,
    record: SessionRecord,
    call: StorageCall,
  ): Promise<void> {
    const { local, records, unsent } = this.#parts;
    unsent.pins.markDeleted(key);
    const deletion = { delete: newOperation<true>(true), refused: undefined };
    await records.removeCopy(key, record.base?.copy, record, deletion);
    // A fetch that was under way may have made a copy before the record was written.
    await local.deleteFetched(key);
    await this.#written(key, call);
  }

  /** Keeps the shared keys that unsent changes of a session wrote: they are sent although the session is deleted. */
  async #keepShared(key: CompositeSessionKey): Promise<void> {
    const { copy, record } = await this.#parts.local.unsent(key);
    const { base, create } = record;
    if (copy === undefined || (base === undefined && create === undefined)) return;
    const keys = sharedKeysOf(stateWrites(copy.events, create?.value));
    if (keys.size > 0) await this.#sendLast(key, keys);
  }

  /**
   * Records the values of shared keys as values of the user or the app, which are sent behind everything that has written
   * them. Older values there become the present ones too, because all are sent at once.
   */
  async #sendLast({ appName, userId }: CacheKey, keys: ReadonlySet<string>): Promise<void> {
    const { local, records, bounds, unsent } = this.#parts;
    const owner = { appName, userId };
    // Before the read: what is written after it is later. And at once, so that the next write sees it.
    const at = unsent.nextWrite();
    unsent.add(owner, [], keys, at);
    const state = await local.sharedStates(owner);
    const all = new Set(keys);
    await bounds.write(() =>
      records.change(owner, (stored) => {
        const values = withoutPrefix(stored, SET) as Record<string, UnsentValue>;
        for (const key of Object.keys(values)) all.add(key);
        const isOlder = (key: string): boolean => (values[key]?.at ?? 0) < at;
        return valuesAt(at, [...all].filter(isOlder), state);
      }),
    );
    unsent.add(owner, [], all, at);
  }

  free(): void {
    // The local service frees its store.
  }

  /** Counts new changes of the local storage as unsent, and sends them. */
  async #written(
    key: CacheKey,
    { signal }: StorageCall,
    events: AppendRequest['events'] = [],
    keys: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const { records, bounds, unsent, sender, tell, isThrough } = this.#parts;
    const overtaken = new Set(unsent.overtaken(key, keys));
    const isOrdered = isSession(key) && keys.size > 0 && unsent.hasOther({ key, keys });
    // At once, so that the next write sees it.
    const at = unsent.nextWrite();
    unsent.add(key, events, keys, at);
    if (isOrdered) {
      await bounds.write(() => records.changeSession(key, () => ({ order: newOperation(at) })));
      // It was sent meanwhile, so nothing else would remove that record.
      if (!unsent.has(nameOf(key))) await unsent.refresh(key);
    }
    if (overtaken.size > 0) await this.#sendLast(key, overtaken);
    tell(key);
    sender.wakeForWrite();
    if (isThrough) await sender.confirm(key, signal);
  }
}

/** Returns the records of the values that shared keys have in a state. A key that it lacks was removed. */
function valuesAt(at: number, keys: Iterable<string>, state: StateShape): OwnerRecords {
  return Object.fromEntries(
    Array.from(keys, (key): [string, UnsentValue] => {
      const value = Object.hasOwn(state, key) ? state[key] : REMOVED;
      return [SET + key, { ...newOperation(value), at }];
    }),
  );
}

function pinning(compute: Compute, pin: Pin): Compute {
  return (state) => {
    const text = compute(state);
    const [delta = '{}'] = text.split('\0', 1);
    pin(Object.keys(JSON.parse(delta) as object).filter(isShared));
    return text;
  };
}
