import { callCore, coreError, requireRoom, type SessionCore } from '../wasm/core.js';
import { after, type MaybePromise, requireNotAborted } from '../call/call.js';
import { ownMembers } from '../members/own.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { StorageDeleteRequest, StorageDeleteUnchangedRequest } from './adapter.js';
import type { StorageKey } from './rows.js';
import type { StateOwner } from './scopes.js';
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
  TruncatingRequest,
} from './session_store.js';
import { packAppends, packCreation } from '../wasm/appends.js';
import type { AppendAnswer, AppendOutcome, Compute, SharedRevisions } from '../wasm/protocol.js';

/**
 * A store in the wasm: over memory or IndexedDB. Memory answers at once, so it ignores the signal.
 * Reads ignore it too.
 */
export class CoreStore implements SessionStore {
  readonly core: SessionCore;
  readonly truncates = true;
  /** Whether the data is in the wasm's memory, and lost if the instance traps. */
  readonly #holdsData: boolean;

  readonly #beforeCreationList: (() => Promise<void>) | undefined;

  /** @param beforeCreationList called with the storage open before each list by `createTime` */
  constructor(core: SessionCore, holdsData: boolean, beforeCreationList?: () => Promise<void>) {
    this.core = core;
    this.#holdsData = holdsData;
    this.#beforeCreationList = beforeCreationList;
  }

  open(): MaybePromise<void> {
    return this.#answer(() => this.core.open());
  }

  create(request: CreateRequest, ifAbsent: boolean): MaybePromise<CreatedSession | undefined> {
    const { state, delta, sharesState, description } = request;
    const { title, labels, initialState } = description;
    requireRoom(state.length + delta.length);
    const { packed, numbers, texts } = packCreation(request, this.#holdsData);
    const caller = callerOf(request);
    return this.#answer(() =>
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
  }

  describe(request: DescribeRequest): MaybePromise<boolean> {
    const { key, title, labels } = request;
    const { appName, userId, sessionId } = key;
    const caller = callerOf(request);
    return this.#answer(() =>
      this.core.describe(appName, userId, sessionId, title, labels, caller),
    );
  }

  get(
    { appName, userId, sessionId }: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    { onRetry }: StorageCall,
  ): MaybePromise<ReadSession | undefined> {
    return this.#answer(() => this.core.get(appName, userId, sessionId, last, after, onRetry));
  }

  page(
    { appName, userId, sessionId }: Required<StorageKey>,
    { isForward, eventId, limit, withCount }: EventPageRequest,
    { onRetry }: StorageCall,
  ): MaybePromise<ReadEvents | undefined> {
    return this.#answer(() =>
      this.core.page(appName, userId, sessionId, isForward, eventId, limit, withCount, onRetry),
    );
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    { limit, offset, page, withTotal, orderBy, after: last }: PageRequest,
    { onRetry }: StorageCall,
  ): MaybePromise<ReadPage> {
    const place = last && [last[orderBy], last.sessionId, last.userId];
    const byCreation = orderBy === 'createTime';
    const list = (): MaybePromise<ReadPage> =>
      this.#answer(() =>
        this.core.list(
          appName,
          userId,
          byCreation,
          descending,
          limit,
          offset,
          page,
          withTotal,
          place,
          onRetry,
        ),
      );
    const complete = byCreation ? this.#beforeCreationList : undefined;
    return complete === undefined ? list() : after(after(this.open(), complete), list);
  }

  append(request: AppendRequest | TruncatingRequest): MaybePromise<AppendAnswer> {
    // Only memory takes the texts into the wasm.
    const { packed, numbers, texts } = packAppends([request], this.#holdsData);
    const caller = callerOf(request);
    return this.#answer(() => this.core.append(packed, numbers, texts, caller, request.compute));
  }

  get appendMany(): SessionStore['appendMany'] {
    // Memory answers each append at once.
    if (this.#holdsData) return undefined;
    return (requests) => {
      const { packed, numbers, texts = [] } = packAppends(requests, false);
      const callers = requests.map(callerOf);
      const outcomes = this.#answer<AppendOutcome[]>(() =>
        this.core.append_many(packed, numbers, texts, callers),
      );
      return requests.map(async (_, index) => {
        const [answer, error] = (await outcomes)[index]!;
        if (answer === undefined) throw coreError(error);
        return answer;
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
    return this.#answer(() => this.core.update(appName, userId, text, caller, compute));
  }

  sharedState({ appName, userId }: StateOwner, { onRetry }: StorageCall): MaybePromise<string> {
    return this.#answer(() => this.core.shared_state(appName, userId, onRetry));
  }

  delete({ what, key }: StorageDeleteRequest, call: StorageCall): MaybePromise<Floor> {
    const { appName, userId, sessionId }: StorageKey = ownMembers(key);
    const caller = callerOf(call);
    return this.#answer(() =>
      this.core.delete(appName, userId, sessionId, what === 'user', undefined, undefined, caller),
    );
  }

  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): MaybePromise<{ readonly floor: Floor } | undefined> {
    const { key, revision, labels } = request;
    const { appName, userId, sessionId } = key;
    const caller = callerOf(request);
    const deleted = this.#answer<Floor>(() =>
      this.core.delete(appName, userId, sessionId, false, revision, labels, caller),
    );
    return after(deleted, (floor) => (floor === undefined ? undefined : { floor }));
  }

  free(): void {
    this.core.free();
  }

  #answer<T>(call: () => unknown): MaybePromise<T> {
    const answer = callCore(call, this.#holdsData) as MaybePromise<T>;
    if (!(answer instanceof Promise)) return answer;
    return answer.catch((thrown: unknown) => {
      throw coreError(thrown);
    });
  }
}

/**
 * Returns the function by which the wasm asks about a write's call: it throws `aborted` if the signal has
 * fired, and counts a retry. See `src/wasm/indexed_db/connection/caller.rs`. A read only counts.
 */
function callerOf({ signal, onRetry }: StorageCall): ((isRetry: boolean) => void) | undefined {
  if (signal === undefined && onRetry === undefined) return undefined;
  return (isRetry) => (isRetry ? onRetry?.() : requireNotAborted(signal));
}
