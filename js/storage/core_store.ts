import { callSessionCore, coreError, requireRoom, type SessionCore } from '../wasm/core.js';
import { isPromise } from '../members/is_promise.js';
import { after, type MaybePromise, requireNotAborted } from '../call/call.js';
import { untilAborted } from '../call/time_limit.js';
import type { HostAbortSignal } from '../model/host.js';
import type { StorageCall, StorageOperation } from '../model/diagnostic.js';
import type { StorageDeleteUnchangedRequest } from './adapter.js';
import {
  appendOnce,
  createOnce,
  DELETED,
  describeOnce,
  UNKNOWN,
  writeOnce,
} from './applied_operations.js';
import { deleteCreated } from './delete_created.js';
import { MemoryOperations } from './memory_operations.js';
import type { StorageKey } from './rows.js';
import { type StateOwner, storageKey } from './scopes.js';
import {
  type AppendRequest,
  type CreatedSession,
  type CreateRequest,
  type DeleteRequest,
  type DescribeRequest,
  type EventPageRequest,
  type Floor,
  type ListedSession,
  type ListPageRequest,
  NOT_DELETED,
  type ReadEvents,
  type ReadList,
  type ReadSession,
  type SessionStore,
} from './session_store.js';
import { packAppends, packCreation } from '../wasm/appends.js';
import {
  type Appended,
  APPENDED,
  type AppendedByCore,
  type AppendOutcome,
  type Compute,
  type SharedRevisions,
  withPlaces,
} from '../wasm/protocol.js';

/** A list as the wasm returns it; see `listing_to_javascript` in `src/wasm/bindings/values.rs`. */
type CoreList = [
  sessions: readonly unknown[],
  ...(ReadList extends [unknown, ...infer Rest] ? Rest : never),
];

/** A listed session as memory returns it. */
type ListedTuple = readonly [
  sessionId: string,
  userId: string,
  created: number,
  revision: number,
  lastUpdateTime: number,
  state: string,
  createTime: number | undefined,
  title?: string | undefined,
  labels?: string | undefined,
];

interface CoreStoreOptions {
  /** Checks the stored records of listed sessions. Absent over memory. */
  readonly toListed?: (records: readonly unknown[]) => ListedSession[];
  readonly clock?: () => number;
}

/**
 * A store in the wasm: over memory or IndexedDB. Memory answers at once, so it ignores the signal.
 */
export class CoreStore implements SessionStore {
  readonly core: SessionCore;
  /** Whether the data is in the wasm's memory, and lost if the instance traps. */
  readonly #holdsData: boolean;

  /** Checks the stored records of listed sessions. Absent over memory. */
  readonly #toListed: ((records: readonly unknown[]) => ListedSession[]) | undefined;
  /** Only over memory. */
  readonly #operations: MemoryOperations | undefined;

  /** @param clock only over memory */
  constructor(core: SessionCore, holdsData: boolean, { toListed, clock }: CoreStoreOptions = {}) {
    this.core = core;
    this.#holdsData = holdsData;
    this.#toListed = toListed;
    this.#operations = clock && new MemoryOperations(clock);
  }

  get keepsOperations(): boolean {
    return this.#operations !== undefined;
  }

  /** Runs a write once, if the store keeps operations. `createdOf` is that of {@link MemoryOperations}. */
  #once<T>(
    key: StorageKey,
    operation: StorageOperation | undefined,
    write: () => MaybePromise<T>,
    createdOf: (result: T) => number | undefined,
  ): MaybePromise<T> {
    if (this.#operations === undefined) return write();
    return this.#operations.run(key, operation, write as () => T, createdOf);
  }

  open({ signal }: StorageCall): MaybePromise<void> {
    return this.#read(signal, () => this.core.open());
  }

  #read<T>(signal: HostAbortSignal | undefined, read: () => unknown): MaybePromise<T> {
    return orAborted(signal, callSessionCore<T>(this.#holdsData, read));
  }

  create(request: CreateRequest, ifAbsent: boolean): MaybePromise<CreatedSession | undefined> {
    const { state, delta, sharesState, description } = request;
    const { title, labels, initialState } = description;
    requireRoom(state.length + delta.length);
    const { packed, numbers, texts } = packCreation(request, this.#holdsData);
    const caller = callerOf(request);
    const create = (): MaybePromise<CreatedSession | undefined> =>
      callSessionCore(this.#holdsData, () =>
        this.core.create(
          packed,
          numbers,
          texts,
          state,
          delta,
          sharesState,
          title,
          labels,
          initialState,
          ifAbsent,
          caller,
        ),
      );
    const { key, operation } = request;
    return createOnce(
      () => this.#once(key, operation, create, (created) => created?.[0]),
      () => this.get(key, 0, undefined, request),
    );
  }

  describe(request: DescribeRequest): MaybePromise<boolean> {
    const { key, title, labels, operation } = request;
    const { appName, userId, sessionId } = key;
    const caller = callerOf(request);
    const describe = (): MaybePromise<boolean> =>
      callSessionCore(this.#holdsData, () =>
        this.core.describe(appName, userId, sessionId, title, labels, caller),
      );
    return describeOnce(
      () => this.#once(key, operation, describe, (isThere) => (isThere ? UNKNOWN : undefined)),
      () => this.get(key, 0, undefined, request),
    );
  }

  get(
    { appName, userId, sessionId }: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    { signal, onRetry }: StorageCall,
  ): MaybePromise<ReadSession | undefined> {
    return this.#read(signal, () =>
      this.core.get(appName, userId, sessionId, last, after, onRetry),
    );
  }

  page(
    { appName, userId, sessionId }: Required<StorageKey>,
    { isForward, eventId, limit, withCount }: EventPageRequest,
    { signal, onRetry }: StorageCall,
  ): MaybePromise<ReadEvents | undefined> {
    return this.#read(signal, () =>
      this.core.page(appName, userId, sessionId, isForward, eventId, limit, withCount, onRetry),
    );
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    { limit, page, withTotal, orderBy, after: last }: ListPageRequest,
    { signal, onRetry }: StorageCall,
  ): MaybePromise<ReadList> {
    const place = last && [last[orderBy], last.sessionId, last.userId];
    const listed = this.#read<CoreList>(signal, () =>
      this.core.list(
        appName,
        userId,
        orderBy === 'createTime',
        descending,
        limit,
        page,
        withTotal,
        place,
        onRetry,
      ),
    );
    return after(listed, ([sessions, ...rest]) => {
      const records = this.#toListed?.(sessions);
      return [records ?? (sessions as readonly ListedTuple[]).map(listedSession), ...rest];
    });
  }

  append(request: AppendRequest): MaybePromise<Appended> {
    return appendOnce(
      (request) =>
        this.#once(
          request.key,
          request.operation,
          () => this.#append(request),
          (appended) => appended[APPENDED.createdRevision],
        ),
      request,
    );
  }

  #append(request: AppendRequest): MaybePromise<Appended> {
    // Only memory takes the texts into the wasm.
    const { packed, numbers, texts } = packAppends([request], this.#holdsData);
    const caller = callerOf(request);
    const appended = callSessionCore<AppendedByCore>(this.#holdsData, () =>
      this.core.append(packed, numbers, texts, caller, request.compute),
    );
    return after(appended, (appended) => withPlaces(appended, request.events.length));
  }

  get appendMany(): SessionStore['appendMany'] {
    // Memory answers each append at once.
    if (this.#holdsData) return undefined;
    return (requests) => {
      const { packed, numbers, texts = [] } = packAppends(requests, false);
      const callers = requests.map(callerOf);
      const outcomes = callSessionCore<AppendOutcome[]>(this.#holdsData, () =>
        this.core.append_many(packed, numbers, texts, callers),
      );
      return requests.map(async ({ events }, index) => {
        const [appended, error] = (await outcomes)[index]!;
        if (appended === undefined) throw coreError(error);
        return withPlaces(appended, events.length);
      });
    };
  }

  update(
    appName: string,
    userId: string | undefined,
    delta: string | Compute,
    call: StorageCall,
  ): MaybePromise<SharedRevisions> {
    const [text, compute] = typeof delta === 'string' ? [delta] : ['{}', delta];
    requireRoom(text.length);
    const caller = callerOf(call);
    const update = (): MaybePromise<SharedRevisions> =>
      callSessionCore(this.#holdsData, () =>
        this.core.update(appName, userId, text, caller, compute),
      );
    const once = (): MaybePromise<SharedRevisions> =>
      this.#once(storageKey({ appName, userId }), call.operation, update, () => UNKNOWN);
    return writeOnce(once, [0, 0]);
  }

  sharedState(
    { appName, userId }: StateOwner,
    { signal, onRetry }: StorageCall,
  ): MaybePromise<string> {
    return this.#read(signal, () => this.core.shared_state(appName, userId, onRetry));
  }

  delete({ what, key, created }: DeleteRequest, call: StorageCall): MaybePromise<Floor> {
    const { appName, userId, sessionId }: StorageKey = key;
    const caller = callerOf(call);
    const remove = (): MaybePromise<Floor> =>
      what === 'session' && created !== undefined
        ? deleteCreated(this, key, created, call)
        : callSessionCore(this.#holdsData, () =>
            this.core.delete(
              appName,
              userId,
              sessionId,
              what === 'user',
              undefined,
              undefined,
              caller,
            ),
          );
    const mark = what === 'session' ? DELETED : UNKNOWN;
    return writeOnce(() => this.#once(key, call.operation, remove, () => mark), NOT_DELETED);
  }

  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): MaybePromise<{ readonly floor: Floor } | undefined> {
    const { key, revision, labels } = request;
    const { appName, userId, sessionId } = key;
    const caller = callerOf(request);
    const deleted = callSessionCore<Floor>(this.#holdsData, () =>
      this.core.delete(appName, userId, sessionId, false, revision, labels, caller),
    );
    return after(deleted, (floor) => (floor === undefined ? undefined : { floor }));
  }

  free(): void {
    this.core.free();
  }
}

/** Ends a wait for the browser, which writes nothing, when the signal fires. Memory answers at once. */
function orAborted<T>(
  signal: HostAbortSignal | undefined,
  result: MaybePromise<T>,
): MaybePromise<T> {
  const isAwaited = signal !== undefined && isPromise(result);
  return isAwaited ? untilAborted(signal, result) : result;
}

function listedSession([
  sessionId,
  userId,
  created,
  revision,
  lastUpdateTime,
  state,
  createTime,
  title,
  labels,
]: ListedTuple): ListedSession {
  const times = { created, revision, lastUpdateTime, createTime };
  return { sessionId, userId, ...times, state, title, labels, isDamaged: false };
}

/**
 * Returns the function by which the wasm asks about a write's call: it throws `aborted` if the signal has
 * fired, and counts a retry. See `src/wasm/bindings/js_call.rs`. A read only counts.
 */
function callerOf({ signal, onRetry }: StorageCall): ((isRetry: boolean) => void) | undefined {
  if (signal === undefined && onRetry === undefined) return undefined;
  return (isRetry) => (isRetry ? onRetry?.() : requireNotAborted(signal));
}
