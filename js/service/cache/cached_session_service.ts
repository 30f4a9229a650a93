import { takeRequest } from '../../core/call/call.js';
import { endsWithin } from '../../core/call/time_limit.js';
import { requireFunction } from '../../values/errors/option_values.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import type {
  CompositeSessionKey,
  CreateSessionRequest,
  GetSessionConfig,
  GetSessionRequest,
  Session,
} from '../../values/model/session.js';
import { isId, requireKey } from '../../values/model/values/ids.js';
import type { CancelRunRequest, RunRequest } from '../remote/index.js';
import { StoredSessionService } from '../stored_session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { ReadPolicy } from '../../values/model/values/read_options.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import { type CachedSessionOptions, takeCacheOptions, takePolicy } from './options.js';
import type { CacheOutbox } from '../../stores/cache/outbox.js';
import type { Epoch } from '../../stores/cache/epoch.js';
import { type CacheParts, openParts } from './parts.js';
import {
  type CacheKey,
  isSession,
  nameOf,
  takeCacheKey,
} from '../../stores/cache/records/cache_key.js';
import { isOutage } from '../../stores/cache/records/failures.js';
import type { CacheStatus } from '../../stores/cache/records/status.js';
import { forEachOf } from '../../stores/cache/copies/grouped_queue.js';
import { putProvisional } from '../../stores/cache/data/provisional_session.js';

/** The most users and apps that `sync` fetches at once. */
const MOST_AT_ONCE = 8;

/** The request to read a session through a cache. */
export interface CachedGetSessionRequest extends GetSessionRequest {
  /** Which events to return, and where this read looks first. */
  config?: CachedGetSessionConfig | undefined;
}

/** What a read through a cache returns, and from where. */
export interface CachedGetSessionConfig extends GetSessionConfig {
  /** Where this read looks first. Default: the service's option `reads`. */
  reads?: ReadPolicy | undefined;
}

/**
 * A session service that keeps copies of a remote's sessions in a local storage. Reads return the copy at once, writes
 * resolve when they are stored locally, and both work offline. In the background it sends what was written,
 * in order and once, and fetches what others have written.
 *
 * It begins to send what an earlier visit left as soon as it is constructed. Tabs with the same owner share the copies,
 * and one of them sends. `close` settles what is under way, and closes the local database if the cache has opened it;
 * what waits stays stored. `ping` checks the local storage, without asking the remote.
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
 *   console.log(service.status.isOnline);
 * }
 * ```
 */
export class CachedSessionService<S extends object = StateShape> extends StoredSessionService<S> {
  /** What is unsent, and what the remote refused. */
  readonly outbox: CacheOutbox;
  readonly #parts: CacheParts;

  /** @throws SessionError `invalid_argument` if an option is invalid */
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
  watchStatus(listener: (status: CacheStatus) => void): () => void {
    const { core, board } = this.#parts;
    core.calls.requireOpen();
    requireFunction('listener', listener);
    return board.listen(listener);
  }

  /** Removes `status.lost` in all tabs. Call it when the user knows of the loss. */
  acknowledgeLoss(): Promise<void> {
    return this.#parts.acknowledgeLoss();
  }

  /**
   * Reads a session; see `SessionService`. Without a copy it comes from the remote.
   *
   * @throws SessionError `connection_lost` or `remote` if there is no copy and the remote does not answer
   */
  override async getSession(request: CachedGetSessionRequest): Promise<Session<S> | undefined> {
    const { config } = Object(request) as CachedGetSessionRequest;
    if (!Object.hasOwn(Object(config) as object, 'reads')) return super.getSession(request);
    const { reads, ...others } = config!;
    const own = { reads: takePolicy('config.reads', reads) };
    return super.getSession({ ...takeRequest(request), config: others, ...own });
  }

  /**
   * Returns a session, or creates it. If there is no copy, and the remote does not answer within `readTimeoutMs`, it is
   * created locally. If the remote has it after all, its state and title stay, and it gets the events.
   */
  override async getOrCreateSession(request: CreateSessionRequest<S>): Promise<Session<S>> {
    const { readTimeoutMs, presentEpoch } = this.#parts;
    const { data, clock, remote } = presentEpoch();
    const asked = super.getOrCreateSession(request);
    try {
      if (await endsWithin(readTimeoutMs, asked)) return await asked;
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
    const { appName, userId, sessionId } = request;
    // A session whose copy was evicted is known to the remote, so it is not created.
    if (isId(sessionId)) {
      const key = { appName, userId, sessionId };
      await data.write(async (transaction) => {
        if (await transaction.copies.evicted(key)) await putProvisional(transaction, key, clock());
      });
    }
    const { ended } = remote;
    ended.throwIfAborted();
    try {
      return await super.createSession(request);
    } catch (refusal) {
      ended.throwIfAborted();
      if (!isSessionError(refusal, 'already_exists')) throw refusal;
      return super.getOrCreateSession(request);
    }
  }

  /**
   * Sends unsent changes and fetches what has changed: of one session or state, or of everything that is stored
   * locally. Resolves when nothing is left that can be sent.
   *
   * @throws SessionError the reason why the remote cannot be reached; `invalid_argument`; `closed`
   */
  sync(key?: CacheKey): Promise<void> {
    return this.#parts.call((epoch) =>
      key === undefined ? this.#syncAll(epoch) : this.#syncOne(epoch, takeCacheKey(key)),
    );
  }

  async #syncAll({ sender, pending, lists, states, fetch, data, remote }: Epoch): Promise<void> {
    const { ended } = remote;
    await pending.scan();
    const waiting = pending.names();
    const sending = sender.waitFor(waiting);
    // It is awaited below, but may reject before.
    sending.catch(() => undefined);
    const owners = await data.read((transaction) => transaction.owners());
    const fetchOf = async (owner: StateOwner): Promise<void> => {
      ended.throwIfAborted();
      // Unsent keys stay over a fetched state, so the state need not be fetched after they were sent.
      await states.fetchShown(owner);
      await sending;
      ended.throwIfAborted();
      const { appName, userId } = owner;
      if (userId === undefined) return;
      if (await lists.hasList(owner)) await lists.fetch(owner, true);
      const copies = await data.read((transaction) =>
        transaction.copies.copied({ appName, userId }),
      );
      // A session that was sent got the remote's new events with the answers, unless mutations wait for the copy.
      const sent = new Set(waiting.filter((name) => pending.mutations(name).length === 0));
      const others = copies.filter(([key]) => !sent.has(nameOf(key)));
      await fetch.refreshAll(others.map(([key]) => key));
      ended.throwIfAborted();
    };
    const works = owners.map((owner) => () => fetchOf(owner));
    await forEachOf([() => sending, ...works], MOST_AT_ONCE, (work) => work());
  }

  async #syncOne({ sender, pending, fetch, states }: Epoch, key: CacheKey): Promise<void> {
    await pending.refresh(key);
    await sender.waitFor([nameOf(key)]);
    if (isSession(key)) await fetch.refresh(key);
    else await states.fetch(key);
  }

  /**
   * Deletes everything of this owner in the local storage, also unsent changes, for example at a logout. Nothing on the
   * remote changes. Other tabs with this owner forget it too.
   */
  forget(): Promise<void> {
    return this.#parts.call(() => this.#parts.forget());
  }

  /**
   * Cancels the run of a session, as `RemoteSessionService.cancelRun` does. A message that waits in the outbox is
   * removed from it.
   *
   * @returns whether anything was cancelled
   * @throws SessionError (as a rejection) `unsupported` if the remote has no agent; any error of a call
   *
   * @example
   * ```ts
   * import type { CachedSessionService } from 'adk-session-wasm/cache';
   *
   * const stop = (service: CachedSessionService, messageId: string) =>
   *   service.cancelRun({ appName: 'shop', userId: 'ada', sessionId: 's1', messageId });
   * ```
   */
  async cancelRun(request: CancelRunRequest): Promise<boolean> {
    const { core } = this.#parts;
    const { appName, userId, sessionId, messageId, signal } = core.calls.begin(request);
    const key = { appName, userId, sessionId };
    requireKey(key);
    if (core.serverAgent !== undefined) {
      return core.serverAgent.cancel({ ...key, messageId, signal });
    }
    const text = 'Only a RemoteSessionService has runs to cancel, and the remote is none.';
    throw new SessionError('unsupported', text, { storage: 'cache' });
  }

  /**
   * Runs an agent of `adk api_server`; see `RemoteSessionService.run`. What the server has stored is in the copy when
   * the iteration ends. A handle gets it when it is read again. The unsent changes of the session are sent first.
   *
   * @throws SessionError (at a step) `unsupported` if the remote runs no agents, why the session's unsent changes
   *   cannot be sent, and those of `run` there
   */
  async *run(request: RunRequest<S>): AsyncGenerator<Event, void, undefined> {
    const { core, remoteService, call } = this.#parts;
    core.calls.requireOpen();
    const { session, ...options } = takeRequest(request);
    const { appName, userId, sessionId } =
      session === undefined
        ? (options as CompositeSessionKey)
        : { appName: session.appName, userId: session.userId, sessionId: session.id };
    const key = { appName, userId, sessionId };
    if (!('run' in remoteService)) {
      throw new SessionError('unsupported', 'The remote runs no agents.', { storage: 'cache' });
    }
    const runner = remoteService as unknown as {
      run(request: object): AsyncGenerator<Event, void, undefined>;
    };
    // The server needs a session that was created here.
    const { fetch, remote, report } = await call(async (epoch) => {
      const { pending, sender } = epoch;
      await pending.refresh(key);
      const numbers = pending.mutations(nameOf(key)).map(({ number }) => number);
      await sender.confirm(key, numbers, options.signal);
      return epoch;
    });
    try {
      yield* runner.run({ ...options, ...key });
    } catch (error) {
      remote.noteRunFailure(error);
      throw error;
    } finally {
      await fetch.refresh(key).catch(report);
    }
  }
}
