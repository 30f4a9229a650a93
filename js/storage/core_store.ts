import { callCore, coreError, requireRoom, type SessionCore } from '../wasm/core.js';
import type { MaybePromise } from '../call/call.js';
import type { StorageKey } from './adapter.js';
import type {
  AppendRequest,
  CreatedSession,
  Floor,
  PageRequest,
  ReadPage,
  ReadSession,
  Scopes,
  SessionStore,
} from './session_store.js';
import { packAppends } from '../wasm/appends.js';
import type { AppendAnswer, AppendOutcome } from '../wasm/protocol.js';

/** A store in the wasm: over memory or IndexedDB. It ignores the signal. */
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

  create(
    { appName, userId, sessionId }: Required<StorageKey>,
    state: string,
    now: number,
    ifAbsent: boolean,
  ): MaybePromise<CreatedSession | undefined> {
    requireRoom(state.length);
    return this.#answer(() => this.core.create(appName, userId, sessionId, state, now, ifAbsent));
  }

  get(
    { appName, userId, sessionId }: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
  ): MaybePromise<ReadSession | undefined> {
    return this.#answer(() => this.core.get(appName, userId, sessionId, last, after));
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    { limit, offset, page, withTotal }: PageRequest,
  ): MaybePromise<ReadPage> {
    return this.#answer(() =>
      this.core.list(appName, userId, descending, limit, offset, page, withTotal),
    );
  }

  append(request: AppendRequest): MaybePromise<AppendAnswer> {
    // Only memory takes the texts into the wasm.
    const { packed, numbers, texts } = packAppends([request], this.#holdsData);
    return this.#answer(() => this.core.append(packed, numbers, texts));
  }

  get appendMany(): SessionStore['appendMany'] {
    // Memory answers each append at once.
    if (this.#holdsData) return undefined;
    return (requests) => {
      const { packed, numbers, texts = [] } = packAppends(requests, false);
      const outcomes = this.#answer<AppendOutcome[]>(() =>
        this.core.append_many(packed, numbers, texts),
      );
      return requests.map(async (_, index) => {
        const [answer, error] = (await outcomes)[index]!;
        if (answer === undefined) throw coreError(error);
        return answer;
      });
    };
  }

  update(appName: string, userId: string | undefined, delta: string): MaybePromise<Scopes> {
    requireRoom(delta.length);
    return this.#answer(() => this.core.update(appName, userId, delta));
  }

  scopeState(appName: string, userId: string | undefined): MaybePromise<string> {
    return this.#answer(() => this.core.scope_state(appName, userId));
  }

  delete(
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
    withSessions: boolean,
  ): MaybePromise<Floor> {
    return this.#answer(() => this.core.delete(appName, userId, sessionId, withSessions));
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
