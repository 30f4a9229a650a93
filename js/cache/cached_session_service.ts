import { copyRequest } from '../call/call.js';
import { Diagnostics } from '../call/diagnostics.js';
import { invalid } from '../errors/invalid.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { takeAutoTitle } from '../model/auto_title.js';
import type { Event } from '../model/event/event.js';
import type {
  CompositeSessionKey,
  CreateSessionRequest,
  GetSessionConfig,
  GetSessionRequest,
  Session,
} from '../model/session.js';
import type { RunRequest } from '../remote/index.js';
import { IndexedDbSessionService } from '../service/indexed_db_session_service.js';
import { CORE, ServiceCore } from '../service/service_core.js';
import { checkedClock } from '../service/sources.js';
import { StoredSessionService } from '../service/stored_session_service.js';
import type { StateShape } from '../state/state_shape.js';
import { Bounds } from './copies/bounds.js';
import { CacheFeed } from './cache_feed.js';
import { CacheStore, READS } from './cache_store.js';
import { Fetch } from './copies/fetch.js';
import { Lease, LEASE_MS } from './records/lease.js';
import { Lists } from './copies/lists.js';
import { LocalCopies } from './copies/local_copies.js';
import { type CachedSessionOptions, type ReadPolicy, takeCacheOptions, takePolicy, type TakenOptions } from './options.js'; // prettier-ignore
import { type CacheOutbox, Outbox } from './outbox.js';
import { Pending, takeCacheKey } from './records/pending.js';
import { callerOf, keyOfName, nameOf, Records } from './records/records.js';
import { failureOf, isRefusal, RemoteEnd } from './copies/remote_end.js';
import { Room } from './copies/room.js';
import { isSession, Sender } from './sender.js';
import {
  type CacheKey,
  type CacheStatus,
  StatusBoard,
  type StatusChanges,
} from './records/status.js';
import { forEachOf } from './records/turns.js';

/** The most sessions that `sync` fetches at once. */
const MOST_AT_ONCE = 8;

/**
 * The request to read a session through a cache.
 *
 * @example
 * ```ts
 * import type { CachedGetSessionRequest } from 'adk-session-wasm/cache';
 *
 * const config: CachedGetSessionRequest['config'] = { numRecentEvents: 50, reads: 'network-first' };
 * ```
 */
export interface CachedGetSessionRequest extends GetSessionRequest {
  /** Which events to return, and where this read looks first. */
  config?: CachedGetSessionConfig | undefined;
}

/**
 * What a read through a cache returns, and from where.
 *
 * @example
 * ```ts
 * import type { CachedGetSessionConfig } from 'adk-session-wasm/cache';
 *
 * const config: CachedGetSessionConfig = { reads: 'cache-only' };
 * ```
 */
export interface CachedGetSessionConfig extends GetSessionConfig {
  /** Where this read looks first. Default: the service's option `reads`. */
  reads?: ReadPolicy | undefined;
}

/**
 * A session service that keeps copies of a remote's sessions in a local storage. Reads return the copy at once, writes
 * resolve when they are stored locally, and everything goes on offline. In the background it sends what was written,
 * in order and once, and fetches what others have written.
 *
 * It begins to send what an earlier visit left as soon as it is constructed. Tabs with the same owner share the copies,
 * and one of them sends. `close` settles what is under way, and closes the local database if the cache has opened it; what
 * waits stays stored. `ping` checks the local storage, without asking the remote.
 *
 * @example
 * ```ts
 * import { CachedSessionService } from 'adk-session-wasm/cache';
 * import { RemoteSessionService } from 'adk-session-wasm/remote';
 *
 * async function open(): Promise<void> {
 *   const remote = new RemoteSessionService({ url: 'https://chat.example/api/sessions' });
 *   const service = new CachedSessionService({ remote, owner: 'ada' });
 *   const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 *   const session = await service.getOrCreateSession(key);
 *   const content = { role: 'user', parts: [{ text: 'Which teas are there?' }] };
 *   await service.appendEvent({ session, event: { author: 'user', invocationId: 'i1', content } });
 *   console.log(service.status.online);
 * }
 * ```
 */
export class CachedSessionService<S extends object = StateShape> extends StoredSessionService<S> {
  /** What waits for the remote, and what it refused. */
  readonly outbox: CacheOutbox;
  readonly #parts: CacheParts;

  /** @throws SessionError `invalid_argument` if an option is unknown or invalid */
  constructor(options: CachedSessionOptions<S>) {
    const taken = takeCacheOptions(options);
    const parts = openParts(taken);
    super(parts.core);
    this.#parts = parts;
    this.outbox = parts.outbox;
  }

  /** What the cache is doing now. */
  get status(): CacheStatus {
    return this.#parts.board.status;
  }

  /** Calls `listener` with each new status, until the returned function is called or the service is closed. */
  watchStatus(listener: (status: CacheStatus) => void): () => void;
  /** Returns the status and its later values. A slow reader gets the newest. */
  watchStatus(): StatusChanges;
  watchStatus(listener?: (status: CacheStatus) => void): (() => void) | StatusChanges {
    const { core, board } = this.#parts;
    core.calls.requireOpen();
    if (listener === undefined) return board.iterate();
    if (typeof listener !== 'function') throw invalid('listener', 'must be a function');
    return board.listen(listener);
  }

  /**
   * Reads a session; see `BaseSessionService`. Without a copy it comes from the remote.
   *
   * @throws SessionError `connection_lost` or `remote` if there is no copy and the remote does not answer
   */
  override async getSession(request: CachedGetSessionRequest): Promise<Session<S> | undefined> {
    const { config } = Object(request) as CachedGetSessionRequest;
    const isOwn = typeof config === 'object' && Object.hasOwn(config, 'reads');
    if (!isOwn) return super.getSession(request);
    const { reads, ...others } = config;
    const own = { [READS]: takePolicy('config.reads', reads) };
    return super.getSession({ ...copyRequest(request), config: others, ...own });
  }

  /** Returns a session, or creates it. If the remote does not answer, it is created locally if there is no copy. */
  override async getOrCreateSession(request: CreateSessionRequest<S>): Promise<Session<S>> {
    try {
      return await super.getOrCreateSession(request);
    } catch (error) {
      if (isRefusal(error) || !isOfRemote(error)) throw error;
      try {
        return await super.createSession(request);
      } catch (refusal) {
        if (!isSessionError(refusal, 'already_exists')) throw refusal;
        return super.getOrCreateSession(request);
      }
    }
  }

  /**
   * Sends what waits and fetches what has changed: of one session or state, or of everything that is stored locally.
   * Resolves when nothing waits that can be sent.
   *
   * @throws SessionError the reason why the remote cannot be reached; `invalid_argument`; `closed`
   */
  sync(key?: CacheKey): Promise<void> {
    return this.#parts.run(async () => {
      const { sender, pending } = this.#parts;
      if (key !== undefined) return this.#syncOne(takeCacheKey(key));
      await sender.scan();
      await sender.deliver(pending.keys());
      await this.#fetchAll();
    });
  }

  async #syncOne(key: CacheKey): Promise<void> {
    const { sender, fetch, lists } = this.#parts;
    await sender.lookAt(key);
    await sender.deliver([key]);
    if (isSession(key)) await fetch.copy(key);
    else await lists.fetchState(key);
  }

  async #fetchAll(): Promise<void> {
    const { records, local, fetch, lists } = this.#parts;
    for (const { appName, userId } of await records.owners()) {
      if (userId !== undefined) {
        const copies = await local.list(appName, userId);
        await forEachOf(copies, MOST_AT_ONCE, ({ sessionId }) => fetch.copy({ appName, userId, sessionId })); // prettier-ignore
      }
      await lists.fetchState({ appName, userId });
    }
  }

  /**
   * Erases everything of this owner in the local storage, also what waits, for example at a logout. Nothing on the
   * remote changes. Other tabs with this owner forget it too.
   */
  forget(): Promise<void> {
    return this.#parts.run(() => this.#parts.forget());
  }

  /**
   * Runs an agent of `adk api_server`; see `RemoteSessionService.run`. What the server has stored is in the copy when
   * the iteration ends. A handle gets it when it is read again.
   *
   * @throws SessionError (at a step) `unsupported` if the remote runs no agents, and those of `run` there
   */
  async *run(request: RunRequest<S>): AsyncGenerator<Event, void, undefined> {
    const { core, remoteService, fetch, report } = this.#parts;
    core.calls.requireOpen();
    const { session, ...options } = copyRequest(request);
    const { appName, userId, sessionId } =
      session === undefined
        ? (options as CompositeSessionKey)
        : { appName: session.appName, userId: session.userId, sessionId: session.id };
    if (!('run' in remoteService)) {
      throw new SessionError('unsupported', 'The remote runs no agents.', { storage: 'cache' });
    }
    const runner = remoteService as unknown as {
      run(request: object): AsyncGenerator<Event, void, undefined>;
    };
    try {
      yield* runner.run({ ...options, appName, userId, sessionId });
    } finally {
      await fetch.copy({ appName, userId, sessionId }).catch(report);
    }
  }
}

type CacheParts = ReturnType<typeof openParts>;

/** Codes that a local storage may have too. */
function isOfRemote(error: unknown): boolean {
  return (
    isSessionError(error) &&
    ['connection_lost', 'remote', 'storage_unavailable'].includes(error.code)
  );
}

/** Makes the parts of a cache, and connects them. */
function openParts(options: TakenOptions) {
  const { owner, reads, readTimeoutMs, write, maxSessions, maxAge } = options;
  const clock = checkedClock(options.clock ?? Date.now);
  const storage = { kind: 'cache', durable: true };
  const diagnostics = Diagnostics.of(options, storage);
  const localService =
    options.local ?? new IndexedDbSessionService({ name: `adk-session-wasm cache ${owner}` });
  const localCore: ServiceCore = localService[CORE];
  storage.durable = localCore.storage.durable;
  const closing = new AbortController();
  const board = new StatusBoard();
  const report = (error: unknown): void => {
    if (closing.signal.aborted) return;
    board.set({ lastError: failureOf(error) });
    diagnostics?.tell('cache', error);
  };
  const records = new Records(callerOf(localCore), owner);
  const local = new LocalCopies(localCore, records, clock);
  const feed = new CacheFeed(localCore.feed.feed, records);
  const pending = new Pending(board);
  const remoteCore: ServiceCore = options.remote[CORE];
  const remote = new RemoteEnd(remoteCore, board, closing.signal, () => {
    void forget().catch(report);
  });
  const tell = (key: CacheKey): void => feed.tell(['changed', sender.id, nameOf(key)]);
  const bounds = new Bounds({ local, records, pending, clock, maxSessions, maxAge, report });
  const room = new Room(() => bounds.evict());
  const shared = { local, remote, records, pending, clock, feed: () => core.feed };
  const refuse = (...values: Parameters<Sender['refuse']>) => sender.refuse(...values);
  const fetch = new Fetch({ ...shared, room, refuse });
  const lists = new Lists({ ...shared, fetch, most: maxSessions });
  const lease = new Lease(records);
  const autoTitle = takeAutoTitle(options.autoTitle);
  const tellIdle = (): void => feed.tell(['idle', sender.id]);
  const sender: Sender = new Sender({ ...shared, fetch, lease, board, autoTitle, report, tell, tellIdle }); // prettier-ignore
  const store = new CacheStore({
    ...{ local, records, fetch, lists, pending, sender, room, clock, report, tell },
    ...{ reads, readTimeoutMs, isThrough: write === 'through', noteUse: bounds.noteUse },
  });

  const clear = (): void => {
    remote.noteErasure();
    records.forgetOwners();
    pending.clear();
    store.forgetCopies();
  };
  const forget = async (): Promise<void> => {
    clear();
    await records.erase();
    clear();
    feed.tell(['forget', sender.id]);
  };
  const onMessage = (message: readonly unknown[] | undefined): void => {
    const [kind, from, name] = message ?? [];
    if (from === sender.id || closing.signal.aborted) return;
    if (kind === 'forget') clear();
    else if (kind === 'idle' && pending.ready().length > 0) sender.wake();
    else if (message === undefined) run(() => sender.scan()).catch(report);
    else if (kind === 'changed' && typeof name === 'string') {
      run(() => sender.lookAt(keyOfName(name)))
        .then(() => pending.isReady(name) && sender.wakeLater(LEASE_MS))
        .catch(report);
    }
  };
  const stopHearing = feed.hear(onMessage);
  const goOnline = (): void => sender.wake();
  globalThis.addEventListener?.('online', goOnline);

  const core: ServiceCore = new ServiceCore(
    {
      storage,
      openStore: () => store,
      parseEvents: (...values) => localCore.pages.parse(...values),
      feed,
      closing() {
        stopHearing();
        globalThis.removeEventListener?.('online', goOnline);
        closing.abort();
      },
      async closeStorage() {
        await sender.close();
        await Promise.all([fetch.turns.idle(), lists.idle(), bounds.close()]);
        await Promise.allSettled(background);
        board.close();
        if (options.local === undefined) await localService.close();
      },
    },
    ownOptions(options),
  );

  /** Work behind calls. `close` waits for it. */
  const background = new Set<Promise<unknown>>();
  function run<T>(work: () => Promise<T>): Promise<T> {
    const done = (async () => {
      core.calls.requireOpen();
      return work();
    })();
    background.add(done);
    const settle = (): void => void background.delete(done);
    done.then(settle, settle);
    return done;
  }
  const outbox = new Outbox({ local, records, pending, fetch, lists, sender, clock, report, tell, run }); // prettier-ignore
  // What an earlier visit left.
  void Promise.resolve()
    .then(() => run(() => sender.scan()))
    .then(() => pending.ready().length > 0 && sender.wake())
    .catch(report);
  const remoteService: object = options.remote;
  return { core, board, records, local, pending, fetch, lists, sender, outbox, remoteService, report, forget, run }; // prettier-ignore
}

/** The options that the service itself takes. */
function ownOptions({
  stale,
  history,
  stateSchema,
  autoTitle,
  clock,
  newId,
  onDiagnostic,
  diagnosticIds,
}: TakenOptions) {
  // prettier-ignore
  return { stale, history, stateSchema, autoTitle, clock, newId, onDiagnostic, diagnosticIds };
}
