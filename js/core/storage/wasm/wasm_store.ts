import { isPromise } from '../../../values/members.js';
import { afterCommit, type Call, requireNotAborted } from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import {
  type CreateWrite,
  type DeleteWrite,
  type DescribeWrite,
  NO_CONDITIONS,
  type ReadyWrite,
  type ReadyAppend,
  type UpdateWrite,
  type WriteKind,
} from '../../write.js';
import type { MutationId } from '../../../values/model/diagnostic.js';
import type { Event } from '../../../values/model/event/event.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { StoredEvents } from '../../../values/model/event_page.js';
import { VIEW_PLANS } from '../../history/views/read_view.js';
import { callWasmStorage, wasmStorageError } from '../../wasm/all.js';
import { requireRoom, type WasmStorage } from '../../wasm/core.js';
import { MOST_CHANGED } from '../../wasm/protocol.js';
import {
  type ChangedSession,
  type SinceRequest,
  type ReadResults,
  type ReadKind,
  type IdsRequest,
  type MarkersRequest,
  type PageRequest,
  type ReadMarkers,
  type ReadPage,
  type WindowRequest,
  type ReadSession,
  type SessionReads,
  type SessionRead,
} from '../../read.js';
import {
  type Appended,
  type CreatedSession,
  type Deletion,
  type ListedSession,
  type ListRequest,
  type MissedEvent,
  type ReadList,
  type Results,
  type SharedRevisions,
  type SharedStates,
  type StateRequest,
  type Store,
  type StoredKind,
  type StoreTraits,
  type SynchronousStore,
} from '../store.js';
import { changedSession, type RowsSince, storedEvents } from '../changes.js';
import {
  appendOnce,
  createOnce,
  deleteOnce,
  DELETED,
  describeOnce,
  UNKNOWN,
  updateOnce,
  deleteCreated,
  type MemoryMutations,
} from '../mutations.js';
import type { StorageKey } from '../rows.js';
import { storageKey } from '../scopes.js';
import {
  packAppends,
  packComputed,
  packCreation,
  type PackedAppended,
  type PackedOutcome,
  packRead,
  type PackedCreated,
  unpackAppend,
  unpackCreated,
} from './packed.js';
import { after, type MaybePromise } from './maybe_promise.js';

/** The events of a read: from memory texts of many events each, joined by commas; from IndexedDB its records. */
export type StoredFragments = readonly unknown[];

/** A page of events as the wasm gives it. It has only the revisions if no event has the id of its end. */
interface CorePage extends Omit<ReadPage, 'events'> {
  readonly revision: number;
  readonly events?: StoredFragments | undefined;
}

/** The events that were found by their ids, as the wasm gives them. */
interface CoreEvents extends Omit<StoredEvents, 'events'> {
  readonly events: readonly MissedEvent[];
}

/** A page of a list as the wasm gives it. */
interface CoreList extends Pick<ReadList, 'total'>, Pick<SharedStates, 'app'> {
  /** Over IndexedDB its records. */
  readonly sessions: readonly unknown[];
  /** Pairs of a user's id and state. */
  readonly users: readonly (readonly [userId: string, state: string])[];
}

/** What differs between memory and IndexedDB. */
export interface CoreStorage {
  /** Whether the data is in the wasm's memory, and lost if the instance traps. */
  readonly holdsData: boolean;
  readonly parse: (events: StoredFragments, sessionId: string, skipCorrupt: boolean) => Event[];
  /** Checks the stored records of listed sessions. Absent over memory. */
  readonly toListed?: (records: readonly unknown[]) => ListedSession[];
  /** Only over memory. */
  readonly mutations?: MemoryMutations;
  /** Runs each call. Only over IndexedDB. */
  readonly run?: <T>(call: () => MaybePromise<T>) => Promise<T>;
}

/**
 * A function for each kind of writes and of reads, but for those of histories, and for those that the service computes.
 */
type CoreVerbs = {
  readonly [Kind in StoredKind]: CoreWrite<Kind>;
} & {
  readonly [Kind in 'window' | 'page' | 'markers' | 'ids' | 'since']: CoreRead<Kind>;
};

type CoreWrite<Kind extends WriteKind> = (
  write: ReadyWrite<Kind>,
  call: Call,
) => MaybePromise<Results[Kind]>;

type CoreRead<Kind extends ReadKind> = (
  request: SessionReads[Kind],
  call: Call,
) => MaybePromise<ReadResults[Kind] | undefined>;

/** Memory or IndexedDB, both in the wasm. Memory answers at once, so it ignores the signal. */
export class WasmStore implements Store, CoreVerbs {
  readonly traits: StoreTraits;
  readonly sync: SynchronousStore | undefined;
  readonly wasm: WasmStorage;
  readonly #storage: CoreStorage;

  constructor(core: WasmStorage, storage: CoreStorage) {
    this.wasm = core;
    this.#storage = storage;
    const { holdsData, mutations } = storage;
    const keepsMutations = mutations !== undefined;
    this.traits = { keepsMutations, views: VIEW_PLANS };
    // Over memory these verbs return no promise, unless a write has a mutation.
    if (holdsData) this.sync = this as SynchronousStore;
  }

  /** Runs a write once, if the storage keeps mutations. `createdOf` is that of {@link MemoryMutations}. */
  #once<T>(
    key: StorageKey,
    mutation: MutationId | undefined,
    write: () => MaybePromise<T>,
    createdOf: (result: T) => number | undefined,
  ): MaybePromise<T> {
    const { mutations } = this.#storage;
    return mutations ? mutations.run(key, mutation, write as () => T, createdOf) : write();
  }

  /** Calls the wasm, which answers at once or with a promise. */
  #call<T>(call: () => unknown): MaybePromise<T> {
    const { holdsData, run } = this.#storage;
    const answer = call as () => MaybePromise<T>;
    if (run === undefined) return callWasmStorage(holdsData, answer);
    return run(() => callWasmStorage(holdsData, answer));
  }

  #read<T>(call: Call, read: (caller: Caller | undefined) => unknown): MaybePromise<T> {
    const result = this.#call<T>(() => read(callerOf(call)));
    return orAborted(call.signal, result);
  }

  async open(call: Call): Promise<void> {
    await this.#read(call, () => this.wasm.open());
  }

  async write<Kind extends WriteKind>(write: ReadyWrite<Kind>, call: Call): Promise<Results[Kind]> {
    const { [write.kind]: verb } = this as { readonly [Key in WriteKind]?: CoreWrite<Key> };
    return verb!.call(this, write, call);
  }

  create(write: CreateWrite, call: Call): MaybePromise<CreatedSession | undefined> {
    const { key, mutation } = write;
    const { packed, numbers, texts } = packCreation(write, this.#storage.holdsData);
    const caller = callerOf(call);
    const create = (): MaybePromise<CreatedSession | undefined> => {
      const created = this.#call<PackedCreated | undefined>(() =>
        this.wasm.create(packed, numbers, texts, caller),
      );
      return after(created, (created) => created && unpackCreated(created, write));
    };
    if (mutation === undefined) return create();
    return createOnce(
      async () => this.#once(key, mutation, create, (session) => session?.created),
      async () => this.window({ key, last: 0 }, afterCommit(call)),
    );
  }

  describe(write: DescribeWrite, call: Call): Promise<boolean> {
    const { key, mutation } = write;
    const caller = callerOf(call);
    const describe = (): MaybePromise<boolean> =>
      this.#call(() => this.wasm.describe(write, caller));
    return describeOnce(
      async () => this.#once(key, mutation, describe, (isThere) => (isThere ? UNKNOWN : undefined)),
      async () => this.window({ key, last: 0 }, afterCommit(call)),
    );
  }

  async read<Kind extends ReadKind>(
    request: SessionRead<Kind>,
    call: Call,
  ): Promise<ReadResults[Kind] | undefined> {
    return this.find(request, call);
  }

  /** Reads, as {@link read} does. */
  find<Kind extends ReadKind>(
    request: SessionRead<Kind>,
    call: Call,
  ): MaybePromise<ReadResults[Kind] | undefined> {
    const { [request.kind]: verb } = this as { readonly [Key in ReadKind]?: CoreRead<Key> };
    return verb?.call(this, request, call);
  }

  window(request: WindowRequest, call: Call): MaybePromise<ReadSession | undefined> {
    const { key, skipCorrupt = false } = request;
    return after(this.#session<StoredFragments>(request, call), (session) => {
      if (session === undefined) return undefined;
      return {
        ...session,
        events: this.#storage.parse(session.events, key.sessionId, skipCorrupt),
      };
    });
  }

  #session<Events>(
    { key, last, after: from, since }: WindowRequest & { readonly since?: number },
    call: Call,
  ): MaybePromise<ReadSession<Events> | undefined> {
    const most = last === 'all' ? undefined : last;
    const { names, numbers } = packRead(key, most, from, since);
    return this.#read(call, (caller) => this.wasm.get(names, numbers, caller));
  }

  page(request: PageRequest, call: Call): MaybePromise<ReadPage | undefined> {
    const { key, skipCorrupt = false } = request;
    const read = this.#read<CorePage | undefined>(call, (caller) =>
      this.wasm.page(request, caller),
    );
    return after(read, (page) => {
      if (page === undefined) return undefined;
      const { events, ...session } = page;
      if (events === undefined) return session;
      return { ...session, events: this.#storage.parse(events, key.sessionId, skipCorrupt) };
    });
  }

  markers(request: MarkersRequest, call: Call): MaybePromise<ReadMarkers | undefined> {
    const { key, eventId, invocationId, skipCorrupt = false } = request;
    // Nothing tells which event of an invocation is the first.
    if (invocationId !== undefined) return undefined;
    const { sessionId } = key;
    const last = { key, direction: 'before', eventId, limit: 1, withCount: false } as const;
    const read = this.#read<CorePage | undefined>(call, (caller) =>
      this.wasm.page({ ...last, onlyMarkers: true }, caller),
    );
    return after(read, (page) => {
      if (page?.events === undefined) return undefined;
      const { created, revision, events } = page;
      return { created, revision, events: this.#storage.parse(events, sessionId, skipCorrupt) };
    });
  }

  async ids({ key, eventIds }: IdsRequest, call: Call): Promise<StoredEvents | undefined> {
    const { appName, userId, sessionId } = key;
    const found = await this.#read<CoreEvents | undefined>(call, (caller) =>
      this.wasm.events(appName, userId, sessionId, [...eventIds], caller),
    );
    return found && { ...found, events: storedEvents(found.events, sessionId) };
  }

  since(request: SinceRequest, call: Call): MaybePromise<ChangedSession | undefined> {
    return after(
      this.#rowsSince(request, call),
      (session) => session && changedSession(session, request),
    );
  }

  #rowsSince({ key, since }: SinceRequest, call: Call): MaybePromise<RowsSince | undefined> {
    return this.#session({ key, since, last: MOST_CHANGED }, call);
  }

  async list(request: ListRequest, call: Call): Promise<ReadList> {
    return this.sessions(request, call);
  }

  /** Lists sessions. */
  sessions(request: ListRequest, call: Call): MaybePromise<ReadList> {
    const listed = this.#read<CoreList>(call, (caller) => this.wasm.list(request, caller));
    return after(listed, ({ sessions, total, app, users }) => ({
      sessions: this.#storage.toListed?.(sessions) ?? (sessions as ListedSession[]),
      total,
      shared: { app, users: new Map(users) },
    }));
  }

  append(write: ReadyAppend, call: Call): MaybePromise<Appended> {
    if (write.mutation !== undefined) return this.#appendOnce(write, call);
    const { holdsData } = this.#storage;
    // Only memory takes the texts into the wasm.
    const { packed, numbers, texts } = packAppends([write], holdsData, true);
    const caller = callerOf(call);
    const appended = this.#call<PackedAppended>(() =>
      this.wasm.append(packed, numbers, texts, caller, packComputed(write.compute)),
    );
    return after(appended, (appended) => unpackAppend(appended, write));
  }

  #appendOnce(write: ReadyAppend, call: Call): Promise<Appended> {
    return appendOnce(
      async ({ mutation, ...rest }) =>
        this.#once(
          rest.key,
          mutation,
          () => this.append(rest, call),
          ({ created }) => created,
        ),
      async (changes) => this.#rowsSince(changes, call),
      write,
    );
  }

  get writeAll(): Store['writeAll'] {
    // Memory answers each append at once.
    if (this.#storage.holdsData) return undefined;
    return (writes) => {
      const appends = writes.map(([write]) => write);
      const { packed, numbers, texts = [] } = packAppends(appends, false, true);
      const callers = writes.map(([, call]) => callerOf(call));
      const outcomes = this.#call<PackedOutcome[]>(() =>
        this.wasm.write_all(packed, numbers, texts, callers),
      );
      return appends.map(async (write, index) => outcomeOf((await outcomes)[index]!, write));
    };
  }

  update({ key, delta, mutation }: UpdateWrite, call: Call): Promise<SharedRevisions> {
    const { appName, userId } = key;
    const [text, compute] = typeof delta === 'string' ? [delta] : ['{}', delta];
    requireRoom(text.length);
    const caller = callerOf(call);
    const update = (): MaybePromise<SharedRevisions> =>
      this.#call(() => this.wasm.update(appName, userId, text, caller, packComputed(compute)));
    return updateOnce(async () => this.#once(storageKey(key), mutation, update, () => UNKNOWN));
  }

  async state({ appName, userId }: StateRequest, call: Call): Promise<string> {
    return this.#read(call, (caller) => this.wasm.shared_state(appName, userId, caller));
  }

  delete(write: DeleteWrite, call: Call): MaybePromise<Deletion> {
    const { what, key, mutation } = write;
    const { created, unchanged } = what === 'session' ? write : NO_CONDITIONS;
    const remove = (): MaybePromise<Deletion> => {
      if (what === 'session' && created !== undefined)
        return deleteCreated(this, key, created, call);
      const caller = callerOf(call);
      const deleted = this.#call<number | undefined>(() =>
        this.wasm.delete({ what, key, ...unchanged }, caller),
      );
      return after(deleted, (floor) => ({
        isDeleted: unchanged === undefined || floor !== undefined,
        floor,
      }));
    };
    const mark = what === 'session' ? DELETED : UNKNOWN;
    if (mutation === undefined) return remove();
    return deleteOnce(async () => this.#once(key, mutation, remove, () => mark));
  }

  close(): void {
    this.wasm.free();
  }
}

/** @throws SessionError the error of the append */
function outcomeOf({ appended, error }: PackedOutcome, write: ReadyAppend): Appended {
  if (appended === undefined) throw wasmStorageError(error);
  return unpackAppend(appended, write);
}

type Caller = (isRetry: boolean) => void;

/** Ends a wait for the browser, which writes nothing, when the signal fires. Memory answers at once. */
function orAborted<T>(
  signal: HostAbortSignal | undefined,
  result: MaybePromise<T>,
): MaybePromise<T> {
  const isAwaited = signal !== undefined && isPromise(result);
  return isAwaited ? untilAborted(signal, result) : result;
}

/**
 * Returns the function by which the wasm asks about a write's call: it throws `aborted` if the signal has
 * fired, and counts a retry. See `src/wasm/bindings/storages/js_call.rs`. A read only counts.
 */
function callerOf({ signal, onRetry }: Call): Caller | undefined {
  if (signal === undefined && onRetry === undefined) return undefined;
  return (isRetry) => (isRetry ? onRetry?.() : requireNotAborted(signal));
}
