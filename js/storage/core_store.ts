import { callCore, coreError, requireRoom, type SessionCore } from '../wasm/core.js';
import { after, type MaybePromise, requireNotAborted } from '../call/call.js';
import { ownMembers } from '../members/own.js';
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
} from './session_store.js';
import { packAppends, packCreation } from '../wasm/appends.js';
import type { AppendAnswer, AppendOutcome, Compute, SharedRevisions } from '../wasm/protocol.js';

/**
 * A store in the wasm: over memory or IndexedDB. Memory answers at once, so it ignores the signal.
 * Reads ignore it too.
 */
export class CoreStore implements SessionStore {
  readonly core: SessionCore;
  /** Whether the data is in the wasm's memory, and lost if the instance traps. */
  readonly #holdsData: boolean;

  constructor(core: SessionCore, holdsData: boolean) {
    this.core = core;
    this.#holdsData = holdsData;
  }

  open(): MaybePromise<void> {
    return this.#answer(() => this.core.open());
  }

  create(request: CreateRequest, ifAbsent: boolean): MaybePromise<CreatedSession | undefined> {
    const { state, delta, sharesState, description, signal } = request;
    const { title, labels, initialState } = description;
    requireRoom(state.length + delta.length);
    const { packed, numbers, texts } = packCreation(request, this.#holdsData);
    const check = abortCheck(signal);
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
        check,
      ),
    );
  }

  describe({ key, title, labels, signal }: DescribeRequest): MaybePromise<boolean> {
    const { appName, userId, sessionId } = key;
    const check = abortCheck(signal);
    return this.#answer(() => this.core.describe(appName, userId, sessionId, title, labels, check));
  }

  get(
    { appName, userId, sessionId }: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
  ): MaybePromise<ReadSession | undefined> {
    return this.#answer(() => this.core.get(appName, userId, sessionId, last, after));
  }

  page(
    { appName, userId, sessionId }: Required<StorageKey>,
    { isForward, eventId, limit, withCount }: EventPageRequest,
  ): MaybePromise<ReadEvents | undefined> {
    return this.#answer(() =>
      this.core.page(appName, userId, sessionId, isForward, eventId, limit, withCount),
    );
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    { limit, offset, page, withTotal, after }: PageRequest,
  ): MaybePromise<ReadPage> {
    const place = after && [after.lastUpdateTime, after.sessionId, after.userId];
    return this.#answer(() =>
      this.core.list(appName, userId, descending, limit, offset, page, withTotal, place),
    );
  }

  append(request: AppendRequest): MaybePromise<AppendAnswer> {
    // Only memory takes the texts into the wasm.
    const { packed, numbers, texts } = packAppends([request], this.#holdsData);
    const check = abortCheck(request.signal);
    return this.#answer(() => this.core.append(packed, numbers, texts, check, request.compute));
  }

  get appendMany(): SessionStore['appendMany'] {
    // Memory answers each append at once.
    if (this.#holdsData) return undefined;
    return (requests) => {
      const { packed, numbers, texts = [] } = packAppends(requests, false);
      const checks = requests.map(({ signal }) => abortCheck(signal));
      const outcomes = this.#answer<AppendOutcome[]>(() =>
        this.core.append_many(packed, numbers, texts, checks),
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
    signal: AbortSignal | undefined,
  ): MaybePromise<SharedRevisions> {
    const [text, compute] = typeof delta === 'string' ? [delta] : ['{}', delta];
    requireRoom(text.length);
    const check = abortCheck(signal);
    return this.#answer(() => this.core.update(appName, userId, text, check, compute));
  }

  sharedState({ appName, userId }: StateOwner): MaybePromise<string> {
    return this.#answer(() => this.core.shared_state(appName, userId));
  }

  delete(
    { what, key }: StorageDeleteRequest,
    signal: AbortSignal | undefined,
  ): MaybePromise<Floor> {
    const { appName, userId, sessionId }: StorageKey = ownMembers(key);
    const check = abortCheck(signal);
    return this.#answer(() =>
      this.core.delete(appName, userId, sessionId, what === 'user', undefined, undefined, check),
    );
  }

  deleteUnchanged({
    key: { appName, userId, sessionId },
    revision,
    labels,
    signal,
  }: StorageDeleteUnchangedRequest): MaybePromise<{ readonly floor: Floor } | undefined> {
    const check = abortCheck(signal);
    const deleted = this.#answer<Floor>(() =>
      this.core.delete(appName, userId, sessionId, false, revision, labels, check),
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

/** Returns a function that throws `aborted` if the signal has fired. The wasm calls it before it writes. */
function abortCheck(signal: AbortSignal | undefined): (() => void) | undefined {
  return signal && (() => requireNotAborted(signal));
}
