import { messageOf } from '../values/errors/describe.js';
import { invalid, sessionNotFound } from '../values/errors/invalid.js';
import { holdProgramUntil } from '../core/call/lifetime.js';
import { loadWasm } from '../core/wasm/loading.js';
import { isSessionError, SessionError } from '../values/errors/errors.js';
import { createEvent, newEventId } from '../values/model/event/create_event.js';
import { takeAutoTitle } from '../values/model/event/auto_title.js';
import { type Expiry, takeDescription, takeExpiry } from '../values/model/description.js';
import {
  isSessionId,
  requireId,
  requireKey,
  requireOwner,
  requireUser,
} from '../values/model/values/ids.js';
import type {
  Abortable,
  CompositeSessionKey,
  DeleteSessionRequest,
  GetSessionRequest,
  ImportedSessionRequest,
  Session,
  SessionChanges,
  UpdateStateRequest,
  UserRequest,
} from '../values/model/session.js';
import type { HiddenMembers, WriteIdentity } from '../values/model/diagnostic.js';
import type { ComputedHistories, HistoriesLoader } from '../core/history/histories.js';
import type { ServiceHistory } from '../core/history_types.js';
import type { FindRequest, FindResult } from '../values/model/search.js';
import type { StorageInfo } from '../values/model/storage_info.js';
import { isRevision } from '../core/storage/checked_rows.js';
import type {
  ReadList,
  ReportFailure,
  Results,
  MemoryStore,
  Store,
  StoreTraits,
} from '../core/storage/store.js';
import type { WordRows } from '../core/word_rows.js';
import type { StateShape } from '../values/state/state_shape.js';
import { type DeltaSnapshot, snapshotDelta } from '../values/state/delta.js';
import {
  optionalStateSchema,
  type StateSchema,
  validateDelta,
} from '../values/state/state_schema.js';
import { requireStalePolicy, orderedWriter } from './append/state_writer.js';
import { Appender } from './append/appender.js';
import { Computation } from './append/computation.js';
import { Calls } from '../core/call/calls.js';
import { type Call, requireNotAborted, takeOptions } from '../core/call/call.js';
import { Diagnostics } from '../core/call/diagnostics.js';
import { runAfter, TimeLimit } from '../core/call/time_limit.js';
import { Handles } from '../core/handle/handle.js';
import type { Core, Epochs, ServerAgent } from '../core/core_of.js';
import type { ServiceParts, SessionServiceOptions } from './service_options.js';
import { EventPages } from './read/event_pages.js';
import type { ReaderParts } from './read/reader_parts.js';
import { SessionLists } from './read/session_lists.js';
import { SessionReader } from './read/session_reader.js';
import { takeNewSession } from './new_session.js';
import type {
  Computed,
  CreateWrite,
  DeleteWrite,
  ReadyWrite,
  WriteKind,
  Writes,
} from '../core/write.js';
import type { DeletableSessions } from './delete_sessions.js';
import { checkedClock, checkedIds } from './sources.js';
import { serviceHistory, withHistories } from './service_history.js';
import { ServiceFeed } from '../core/watch/service_feed.js';
import { ServiceArtifacts } from './artifacts/service_artifacts.js';

/** The most rounds in which `getOrCreateSession` finds the key taken but reads no session. */
const MAX_ROUNDS = 100;

/** The milliseconds of a close without `timeoutMs`, over a storage that does not end its calls by itself. */
const CLOSE_TIMEOUT_MS = 30_000;

/**
 * The work of a session service, for the classes of this package. It is a part of a service and not
 * its base class, so that a user's subclass may have methods of any name.
 */
export class ServiceCore implements Core {
  readonly storage: StorageInfo;
  readonly calls: Calls;
  readonly handles = new Handles();
  readonly publisher: ServiceFeed;
  /** What live sessions are storing. */
  readonly storing = new Set<Promise<unknown>>();
  readonly appender: Appender;
  readonly reader: SessionReader;
  readonly lists: SessionLists;
  readonly pages: EventPages;
  /** Present with the option `artifacts`, and over a server. */
  readonly artifacts: ServiceArtifacts | undefined;
  readonly #parts: ServiceParts;
  readonly #traits: StoreTraits;
  readonly #schema: StateSchema | undefined;
  readonly #autoTitle: boolean;
  readonly clock: () => number;
  readonly newId: () => string;
  readonly #report: ReportFailure | undefined;
  #store: Store | undefined;
  #closing: Promise<void> | undefined;
  #loadHistories: HistoriesLoader | undefined;
  /** Whether no call may reach the storage any more. */
  #isEnded = false;

  /** Present for a cache. */
  get epochs(): Epochs | undefined {
    return this.#parts.epochs;
  }

  /** Present if the sessions are on a server, which may have an agent. */
  get serverAgent(): ServerAgent | undefined {
    return this.#parts.serverAgent;
  }

  get sharedStorage(): object {
    return this.#parts.sharedStorage ?? this.publisher.feed;
  }

  get hasOtherProcesses(): boolean {
    return this.#parts.hasOtherProcesses === true;
  }

  get unsentSessions(): Core['unsentSessions'] {
    return this.#parts.unsentSessions;
  }

  get refusedOfSessions(): Core['refusedOfSessions'] {
    return this.#parts.refusedOfSessions;
  }

  get untilSent(): Core['untilSent'] {
    return this.#parts.untilSent;
  }

  get wordsName(): string | undefined {
    return this.#parts.words?.name;
  }

  get handleOfNew(): Core['handleOfNew'] {
    if (this.epochs === undefined) return undefined;
    return (request, known) => {
      const { appName, userId, sessionId: id, state } = request;
      const creation = this.takeNew(request, true);
      const made = { id, appName, userId, state: { ...state }, events: [], lastUpdateTime: 0 };
      const handle = known ?? made;
      this.handles.factsOf(handle).noteCreation(creation);
      return handle;
    };
  }

  constructor(parts: ServiceParts, options: SessionServiceOptions<object> = {}) {
    this.storage = parts.storage;
    this.#parts = parts;
    this.#traits = parts.traits ?? {};
    const diagnostics = Diagnostics.of(options, parts.storage);
    this.#report = diagnostics && ((kind, error) => diagnostics.tell(kind, error));
    this.calls = new Calls(diagnostics, parts.beginCall);
    const { stale: policy = 'merge', clock = Date.now, newId = newEventId } = options;
    const stale = requireStalePolicy(policy);
    this.#schema = optionalStateSchema(options.stateSchema);
    this.#autoTitle = takeAutoTitle(options.autoTitle);
    this.clock = checkedClock(clock);
    this.newId = checkedIds(newId);
    // A server always has files, or says that it has none.
    const { artifacts = parts.loadArtifacts !== undefined } = options;
    if (artifacts !== false) this.artifacts = new ServiceArtifacts(artifacts, parts, this);
    const { handles } = this;
    const readerParts: ReaderParts = {
      callStore: (call, work) => this.callStore(call, work),
      handles,
    };
    this.reader = new SessionReader(readerParts);
    this.lists = new SessionLists(readerParts);
    this.pages = new EventPages(readerParts);
    // After the checks of all options: a service that does not exist never releases the feed.
    const { feed } = parts;
    this.publisher = new ServiceFeed(typeof feed === 'function' ? feed(this.#report) : feed);
    this.appender = new Appender({
      calls: this.calls,
      handles,
      callStore: readerParts.callStore,
      rules: { writer: orderedWriter, stale },
      schema: this.#schema,
      autoTitle: this.#autoTitle,
      clock: this.clock,
      newId: this.newId,
      load: (atOnce) => this.#load(atOnce),
      store: () => this.#openStore(),
      feed: this.publisher,
      reader: this.reader,
      traits: this.#traits,
      serverAgent: parts.serverAgent,
    });
  }

  noteStoring(work: Promise<unknown>): void {
    this.storing.add(work);
    const forget = (): void => void this.storing.delete(work);
    work.then(forget, forget);
  }

  search(request: FindRequest): Promise<FindResult | undefined> {
    return this.callStore(request, (store) => store.search?.(request, request));
  }

  words({ signal }: Abortable): Promise<WordRows | undefined> {
    return this.callStore({ signal }, (store) => store.words?.({ signal }));
  }

  /** Reads a session's own state at its creation; `undefined` if it is not known. */
  initialState(request: CompositeSessionKey & Abortable): Promise<StateShape | undefined> {
    return this.pages.initialState(request);
  }

  async create<S extends object>(
    request: ImportedSessionRequest<S> & Pick<GetSessionRequest, 'config'> & WriteIdentity,
    ifAbsent: boolean,
    call: Call,
  ): Promise<Session<S>> {
    const newSession = this.takeNew(request, ifAbsent);
    const { key } = newSession;
    const { config } = request;
    const readCall = ifAbsent && this.epochs ? { ...call, creation: newSession } : call;
    // Another call may create the session after the read. The next round reads it, unless it was
    // deleted again.
    for (let rounds = MAX_ROUNDS; rounds > 0; rounds -= 1) {
      const found = ifAbsent ? await this.reader.get<S>({ ...key, config }, readCall) : undefined;
      if (found !== undefined) return found;
      requireNotAborted(call.signal);
      const created = await this.write(newSession, call);
      if (created !== undefined) return this.reader.open<S>(newSession, created);
    }
    throw neverRead(key.sessionId);
  }

  /** Takes the request for a new session. */
  takeNew<S extends object>(
    request: ImportedSessionRequest<S> & WriteIdentity,
    ifAbsent: boolean,
  ): CreateWrite {
    return takeNewSession(request, {
      ifAbsent,
      schema: this.#schema,
      autoTitle: this.#autoTitle,
      expires: this.#parts.expires === true,
      clock: this.clock,
      newId: this.newId,
    });
  }

  async delete(
    request: DeleteSessionRequest & Pick<HiddenMembers, 'created' | 'mutation'>,
    call: Call,
  ): Promise<void> {
    const write = takeDeletion(request);
    if (write !== undefined) await this.remove(write, call);
  }

  /** Deletes a user, or its state alone. */
  async removeOf(
    what: 'user' | 'userState',
    request: UserRequest & WriteIdentity,
    call: Call,
  ): Promise<void> {
    const { appName, userId, mutation } = request;
    requireUser(request);
    return this.remove({ kind: 'delete', what, key: { appName, userId }, mutation }, call);
  }

  async remove(write: DeleteWrite, call: Call): Promise<void> {
    await this.write(write, call);
  }

  /** Stores a write, and tells what it has changed. */
  async write<Kind extends WriteKind>(write: ReadyWrite<Kind>, call: Call): Promise<Results[Kind]> {
    const store = () => this.callStore<Results[Kind]>(call, (store) => store.write(write, call));
    const isFiled =
      this.artifacts !== undefined && (write.kind === 'delete' || write.kind === 'fork');
    const written = await (isFiled ? this.artifacts.during(write, call, store) : store());
    this.publisher.publish(write, written);
    const meant: Writes[WriteKind] = write;
    if (meant.kind === 'delete' && (meant.what === 'session' || meant.what === 'user')) {
      const { appName, userId, sessionId }: Partial<CompositeSessionKey> = meant.key;
      const isDeleted = (written as Results['delete']).isDeleted;
      if (isDeleted) await this.#parts.words?.erase([appName, userId, sessionId]);
    }
    return written;
  }

  /** Whether the storage applies each `MutationId` once. */
  keepsMutations(): Promise<boolean> {
    return this.callStore({}, (store) => store.traits.keepsMutations === true);
  }

  /** The sessions of the storage, for `deleteSessions`. */
  readonly deletable: DeletableSessions = {
    list: async ({ appName, userId }, { limit, after: place }, call) => {
      const orderBy = 'lastUpdateTime' as const;
      const list = { appName, userId, order: 'asc', orderBy, after: place } as const;
      const numbers = { offset: 0, limit, withTotal: false };
      const { sessions } = await this.callStore<ReadList>(call, (store) =>
        store.list({ ...list, ...numbers }, call),
      );
      return sessions;
    },
    deleteUnchanged: async (appName, session, call) => {
      const { userId, sessionId, revision, labels } = session;
      // A damaged session is not deleted by its age.
      if (!isRevision(revision)) return false;
      const key = { appName, userId, sessionId };
      const unchanged = { revision, labels: labels === '' ? undefined : labels };
      const write = { kind: 'delete', what: 'session', key, unchanged } as const;
      return (await this.write(write, call)).isDeleted;
    },
  };

  /** Takes a delta of the caller. @throws SessionError `invalid_argument`, `unserializable`, `schema_violation` */
  takeDelta(given: unknown): DeltaSnapshot {
    const snapshot = snapshotDelta(given);
    if (this.#schema !== undefined) validateDelta(this.#schema, snapshot.delta);
    return snapshot;
  }

  async update(request: UpdateStateRequest & WriteIdentity, call: Call): Promise<void> {
    const { appName, userId, sessionId, stateDelta, mutation } = request;
    requireOwner(request);
    if (stateDelta === undefined) throw invalid('stateDelta', 'must be given');
    if (sessionId === undefined) {
      const take = (given: unknown): Computed => ({ delta: this.takeDelta(given).text });
      const computation = Computation.of(stateDelta, take, this.calls);
      const delta = computation?.run ?? take(stateDelta).delta;
      const write = { kind: 'update', key: { appName, userId }, delta, mutation } as const;
      // A function that has failed changes nothing, so nothing is published.
      await this.write(write, call);
      return computation?.finish(() => undefined);
    }
    requireId('sessionId', sessionId);
    if (userId === undefined) throw invalid('userId', 'must be given with a sessionId');
    const event = createEvent({
      id: this.newId(),
      invocationId: `p-${this.newId()}`,
      author: 'user',
      timestamp: Math.floor(this.clock()),
    });
    const write = { key: { appName, userId, sessionId }, mutation };
    return this.appender.appendUnread(write, event, stateDelta, call);
  }

  /** Changes the title, the labels and the expiry of a session. */
  async describe(
    key: CompositeSessionKey & WriteIdentity,
    changes: SessionChanges & Expiry,
    call: Call,
  ): Promise<void> {
    const { appName, userId, sessionId, mutation } = key;
    requireKey(key);
    const taken = takeOptions(changes);
    const expiry = takeExpiry(taken, this.#parts.expires === true);
    const change = { ...takeDescription(taken), expiry, mutation };
    const own = { appName, userId, sessionId };
    const isThere = await this.write({ kind: 'describe', key: own, ...change }, call);
    if (!isThere) throw sessionNotFound(sessionId);
  }

  history(computed: ComputedHistories): ServiceHistory {
    this.computeHistoriesBy(() => Promise.resolve(computed));
    return serviceHistory(this);
  }

  /** Takes what computes histories over the store. Whoever asks for one gives it, as does a cache over this service. */
  computeHistoriesBy(load: HistoriesLoader): void {
    this.#loadHistories = load;
  }

  async open(call: Call): Promise<void> {
    const run = (): Promise<void> => this.callStore(call, (store) => store.open(call));
    // Also over memory, whose other calls load it at once.
    const wait = loadWasm(false, this.#parts.rules);
    return wait === undefined ? run() : runAfter(call.signal, wait, run);
  }

  close(timeoutMs: number | undefined): Promise<void> {
    // Only the first call reports a failure. The service is closed in any case.
    if (this.#closing !== undefined) return this.#closing.catch(() => undefined);
    this.#closing = this.#close(timeoutMs);
    holdProgramUntil(this.#closing);
    return this.#closing;
  }

  async #close(timeoutMs: number | undefined): Promise<void> {
    const { closing, closeStorage } = this.#parts;
    const limit = new TimeLimit(
      timeoutMs ?? (closing === undefined ? CLOSE_TIMEOUT_MS : undefined),
    );
    const settled = this.calls.close();
    closing?.(timeoutMs);
    const isSettled = await limit.until(settled);
    // The storage has the name of the channel.
    await limit.until(this.publisher.feed.sent());
    const unsettled = isSettled ? ["the storage's close"] : this.calls.pending;
    this.#isEnded = true;
    try {
      const isClosed = await limit.until(this.#closeParts(closeStorage));
      if (timeoutMs === undefined && !(isSettled && isClosed)) throw closeTimeoutError(unsettled);
    } catch (cause) {
      if (isSessionError(cause)) throw cause;
      const reason = messageOf(cause);
      throw new SessionError('storage_failed', `The storage's close failed: ${reason}`, { cause });
    } finally {
      limit.end();
      this.calls.end();
      this.publisher.close();
      this.#store?.close?.();
      this.#store = undefined;
    }
  }

  async #closeParts(closeStorage: ServiceParts['closeStorage']): Promise<void> {
    await this.artifacts?.close();
    await closeStorage?.();
  }

  #openStore(): Store {
    // A call that outlives the close would open the storage again, and nobody would close it.
    if (this.#isEnded) this.calls.requireOpen();
    const context = { clock: this.clock, report: this.#report };
    return (this.#store ??= withHistories(this.#parts.openStore(context), {
      load: () => this.#loadHistories!(),
      autoTitle: this.#autoTitle,
      takeEvent: (event) => this.appender.take(event),
      takeNew: (request) => this.takeNew(request, false),
    }));
  }

  /** Begins to load the wasm and what the store needs. Returns `undefined` once both are loaded. */
  #load(atOnce: boolean): Promise<void> | undefined {
    const { load, rules } = this.#parts;
    const wait = loadWasm(atOnce, rules);
    if (load === undefined) return wait;
    return wait === undefined ? load() : wait.then(load);
  }

  /** Calls the store of memory: at once, unless the wasm cannot be loaded at once. */
  callMemory<T>({ signal }: Call, work: (store: MemoryStore) => T): T | Promise<T> {
    this.appender.flush();
    const wait = this.#load(true);
    if (wait === undefined) return work(this.#openStore() as MemoryStore);
    return runAfter(signal, wait, () => work(this.#openStore() as MemoryStore));
  }

  /** Calls the store once it can be opened. */
  callStore<T>({ signal }: Call, work: (store: Store) => T | Promise<T>): Promise<T> {
    // Before anything is awaited, so that appends called earlier are first in line.
    this.appender.flush();
    const wait = this.#load(this.#traits.isSynchronous === true);
    const run = async (): Promise<T> => await work(this.#openStore());
    return wait === undefined ? run() : runAfter(signal, wait, run);
  }
}

/** Takes the request to delete a session. Returns `undefined` if no session can have its id. */
export function takeDeletion(
  request: DeleteSessionRequest & Pick<HiddenMembers, 'created' | 'mutation'>,
): DeleteWrite | undefined {
  const { appName, userId, sessionId, created, mutation } = request;
  requireUser(request);
  if (!isSessionId(sessionId)) return undefined;
  const key = { appName, userId, sessionId };
  return { kind: 'delete', what: 'session', key, created, mutation };
}

/** @param unsettled what the storage has not settled */
function closeTimeoutError(unsettled: readonly string[]): SessionError {
  const names = [...new Set(unsettled)];
  const seconds = CLOSE_TIMEOUT_MS / 1000;
  const message =
    `The service is closed, but its storage did not settle within ${seconds} s: ${names.join(', ')}. ` +
    'Pending calls may still write. Give close a longer timeoutMs, or let the storage limit its waits.';
  return new SessionError('storage_failed', message);
}

/** For example, the storage reads from a replica that lags. */
function neverRead(sessionId: string): SessionError {
  const message = `The storage failed: session ${JSON.stringify(sessionId)} is there to create and not to read, ${MAX_ROUNDS} times in a row; reads must see what was written.`;
  return new SessionError('storage_failed', message);
}
