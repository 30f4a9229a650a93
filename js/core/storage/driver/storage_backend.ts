import {
  after,
  afterCommit,
  type Call,
  type MaybePromise,
  requireNotAborted,
} from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import { kindOf } from '../../../values/errors/describe.js';
import { SessionError } from '../../../values/errors/errors.js';
import { withoutClaimMark } from '../../../values/model/event/claim_mark.js';
import type { ChangesSince } from '../../../values/model/changes_since.js';
import type { StoredEvents } from '../../../values/model/event_page.js';
import {
  type Compute,
  type CreateWrite,
  type DeleteWrite,
  type DescribeWrite,
  NO_CONDITIONS,
  type Placed,
  type PlacedAppend,
  type UpdateWrite,
} from '../../write.js';
import { CoreWrite, callCore, mergeStates, requireRoom } from '../../wasm/core.js';
import { MOST_CHANGED } from '../../wasm/protocol.js';
import {
  runWrite,
  type Appended,
  type Backend,
  type ChangedSession,
  type ChangesRequest,
  type CreatedSession,
  type Deletion,
  type EventsRequest,
  type FindChangedRequest,
  type ListRequest,
  type MarkersRequest,
  type PageRequest,
  type ReadList,
  type ReadMarkers,
  type ReadPage,
  type ReadRequest,
  type ReadSession,
  type Results,
  type SharedRevisions,
  type StateRequest,
  type StoredKind,
  type WriteVerbs,
} from '../backend.js';
import type { ChangedRows } from '../changed_rows.js';
import { changesOf } from '../changes.js';
import { contractViolation, requireCounter } from '../checked_rows.js';
import {
  packAppends,
  packComputed,
  packCreation,
  type PackedAppended,
  type PackedCreated,
  unpackAppend,
  unpackCreated,
} from '../wasm/packed.js';
import {
  appendOnce,
  createOnce,
  deleteOnce,
  describeOnce,
  updateOnce,
} from '../operations/applied_operations.js';
import { deleteCreated } from '../operations/delete_created.js';
import type {
  DeleteTarget,
  StorageDeleteUnchangedRequest,
  StorageListRequest,
} from '../requests.js';
import { storageKey } from '../scopes.js';
import type { OwnStorage } from '../own_storage.js';
import { parseRows } from '../stored_events.js';
import { appendManyThrough } from './append_many.js';
import { listThrough } from './list_through.js';
import { prepareWrite, type PreparedWrite } from './prepared_write.js';
import {
  eventsThrough,
  markersThrough,
  pageThrough,
  readParsedThrough,
  readThrough,
  type StateRows,
} from './read_through.js';
import { requestOf, settled } from './storage_calls.js';

/**
 * Runs the rules over a {@link Storage}. The storage reads and writes rows; the core decides what to write.
 *
 * It checks each result of the storage, so that an error names the storage's fault and not a later consequence.
 * Errors that the storage throws become a `SessionError`. If the storage returns no promise, neither does an append.
 */
export class StorageBackend implements Backend, WriteVerbs {
  readonly #load: () => Promise<OwnStorage>;
  readonly #onConnectionLost: ((error: unknown) => void) | undefined;
  #loading: Promise<OwnStorage> | undefined;
  #storage: OwnStorage | undefined;

  /**
   * @param storage or a function that loads it at the first call. So a service can be made at once, and the code of its
   *   storage is loaded only when it is used
   */
  constructor(
    storage: OwnStorage | (() => Promise<OwnStorage>),
    onConnectionLost?: (error: unknown) => void,
  ) {
    this.#onConnectionLost = onConnectionLost;
    const isLate = typeof storage === 'function';
    this.#load = isLate ? storage : () => Promise.resolve(storage);
    if (!isLate) this.#take(storage);
  }

  /** Calls the storage. Its first call waits until it is loaded. */
  #with<T>({ signal }: Call, work: (storage: OwnStorage) => MaybePromise<T>): MaybePromise<T> {
    if (this.#storage !== undefined) return work(this.#storage);
    // A failure is not kept: it may be a network error while a page loads the code.
    this.#loading ??= this.#load()
      .then((storage) => this.#take(storage))
      .finally(() => (this.#loading = undefined));
    return untilAborted(signal, this.#loading).then(work);
  }

  #take(storage: OwnStorage): OwnStorage {
    const tell = this.#onConnectionLost;
    if (tell !== undefined) storage.onConnectionLost?.(tell);
    return (this.#storage = storage);
  }

  /** Called when the service begins to close. A storage that is being loaded gets it too, after the calls that wait. */
  closing(timeoutMs: number | undefined): void {
    const tell = (storage: OwnStorage | undefined): void => storage?.closing?.(timeoutMs);
    if (this.#loading === undefined) tell(this.#storage);
    else void this.#loading.then(tell).catch(() => undefined);
  }

  async close(): Promise<void> {
    // A storage that could not be loaded needs no closing.
    await this.#loading?.catch(() => undefined);
    await this.#storage?.close?.();
  }

  async open(call: Call): Promise<void> {
    await this.#with<unknown>(call, (storage) => {
      if (storage.open === undefined) {
        return readThrough(storage, { key: { appName: PROBE }, window: { last: 0 } }, call);
      }
      const request = requestOf({}, call);
      return settled('open', call, () => untilAborted(call.signal, storage.open!(request)));
    });
  }

  keepsOperations(call: Call): MaybePromise<boolean> {
    return this.#with(call, ({ keepsOperations = false }) => keepsOperations);
  }

  write<Kind extends StoredKind>(write: Placed<Kind>, call: Call): MaybePromise<Results[Kind]> {
    return runWrite(this, write, call);
  }

  create(write: CreateWrite, call: Call): MaybePromise<CreatedSession | undefined> {
    return createOnce(
      async () => this.#with(call, (storage) => this.#create(storage, write, call)),
      () => this.get({ key: write.key, last: 0 }, afterCommit(call)),
    );
  }

  #create(
    storage: OwnStorage,
    creation: CreateWrite,
    call: Call,
  ): MaybePromise<CreatedSession | undefined> {
    const { key, events, description, operation } = creation;
    if (description.title || description.labels) requireDescribe(storage);
    const { packed, numbers, texts = [] } = packCreation(creation, false);
    const write = callCore(() => CoreWrite.create(packed, numbers, texts));
    const parts = { key, call, operation, ...NO_EVENTS, events, creation };
    const end = (): CreatedSession | undefined => {
      const created = write.finish() as PackedCreated | undefined;
      return created && unpackCreated(created, events.length);
    };
    const created = prepareWrite('create', storage, write, parts, end).run();
    if (storage.lacksTransactions !== true || events.length === 0) return created;
    return after(
      created,
      (created) => created && this.#readCreated(created, key, afterCommit(call)),
    );
  }

  /** Reads a new session again. It is stored, so a failed read must not fail the creation: its handle is then stale. */
  async #readCreated(
    created: CreatedSession,
    key: CreateWrite['key'],
    call: Call,
  ): Promise<CreatedSession> {
    const read = await this.get({ key, last: 0 }, call).catch(() => undefined);
    return { ...(read ?? created), shared: created.shared };
  }

  append(write: PlacedAppend, call: Call): MaybePromise<Appended> {
    const storage = this.#storage;
    if (storage !== undefined && write.operation === undefined) {
      return prepareAppend(storage, write, call).run();
    }
    const append = (write: PlacedAppend): MaybePromise<Appended> =>
      this.#with(call, (storage) => prepareAppend(storage, write, call).run());
    return appendOnce(append, (changes) => this.readChanged(changes, call), write);
  }

  /** Absent until the storage is loaded. */
  get writeAll(): Backend['writeAll'] {
    const storage = this.#storage;
    if (storage?.appendMany === undefined) return undefined;
    return (writes) => {
      const prepared = writes.map(([write, call]) => prepareAppend(storage, write, call));
      return appendManyThrough(storage, prepared);
    };
  }

  async update(
    { key: owner, delta, operation }: UpdateWrite,
    call: Call,
  ): Promise<SharedRevisions> {
    const { appName, userId } = owner;
    const [text, compute] = typeof delta === 'string' ? [delta] : ['{}', delta];
    const key = storageKey(owner);
    const parts = { key, call, operation, ...NO_EVENTS };
    return updateOnce(async () =>
      this.#with(call, (storage) => {
        requireTransactions(storage, compute);
        requireRoom(text.length);
        const write = callCore(() =>
          CoreWrite.update(appName, userId, text, packComputed(compute)),
        );
        const end = () => write.finish() as SharedRevisions;
        return prepareWrite('append', storage, write, parts, end).run();
      }),
    );
  }

  describe(
    { key, title, labels, expiry, operation }: DescribeWrite,
    call: Call,
  ): MaybePromise<boolean> {
    const given = {
      key: storageKey(key) as DescribeWrite['key'],
      title,
      labels,
      ...(expiry !== undefined && { expiry }),
    };
    const describe = async (storage: OwnStorage): Promise<boolean> => {
      const verb = requireDescribe(storage);
      const isThere: unknown = await verb.call(storage, requestOf(given, call, operation));
      if (typeof isThere === 'boolean') return isThere;
      const violation = `gave ${kindOf(isThere)}, not whether the session exists`;
      throw contractViolation('describe', violation);
    };
    return describeOnce(
      async () => this.#with(call, (storage) => settled('describe', call, () => describe(storage))),
      () => this.get({ key, last: 0 }, afterCommit(call)),
    );
  }

  async get(request: ReadRequest, call: Call): Promise<ReadSession | undefined> {
    const { key, last, after, skipCorrupt = false } = request;
    const window = {
      ...(typeof last === 'number' && { last }),
      ...(after !== undefined && { after }),
    };
    const read = { key, window };
    return this.#with(call, async (storage) => {
      const parsed = await readParsedThrough(storage, read, call);
      if (parsed !== undefined) {
        return sessionOf(key, parsed, parsed.events.map(withoutClaimMark));
      }
      const { events, ...rows } = await readThrough(storage, read, call);
      return rows.session && sessionOf(key, rows, parseRows(events, key.sessionId, skipCorrupt));
    });
  }

  async page(request: PageRequest, call: Call): Promise<ReadPage | undefined> {
    return this.#with(call, (storage) => pageThrough(storage, request, call));
  }

  async markers(request: MarkersRequest, call: Call): Promise<ReadMarkers | undefined> {
    return this.#with(call, (storage) => markersThrough(storage, request, call));
  }

  async getEvents(request: EventsRequest, call: Call): Promise<StoredEvents | undefined> {
    return this.#with(call, (storage) => eventsThrough(storage, request, call));
  }

  async changes(request: ChangesRequest, call: Call): Promise<ChangesSince | undefined> {
    const session = await this.readChanged(request, call);
    return session && changesOf(session, request);
  }

  async readChanged(request: ChangesRequest, call: Call): Promise<ChangedSession | undefined> {
    const { key, since } = request;
    const read = { key, window: { since, last: MOST_CHANGED } };
    return this.#with(call, async (storage) => {
      const rows = await readThrough(storage, read, call);
      return sessionOf(key, rows, rows.events);
    });
  }

  async sharedState(request: StateRequest, call: Call): Promise<string> {
    const { scope } = request;
    const read = { key: storageKey(request), window: { last: 0 } };
    return this.#with(call, async (storage) => {
      const rows = await readThrough(storage, read, call);
      return mergeStates(`${scope} state`, rows[scope]?.state ?? '{}');
    });
  }

  async list(request: ListRequest, call: Call): Promise<ReadList> {
    const { appName, userId, order, orderBy, offset, limit, withTotal, after } = request;
    const part: StorageListRequest = {
      appName,
      ...(userId !== undefined && { userId }),
      order,
      offset,
      ...(limit !== undefined && { limit }),
      ...(!withTotal && { withTotal }),
      ...(orderBy === 'createTime' && { orderBy }),
      ...(after !== undefined && { after }),
    };
    return this.#with(call, (storage) => listThrough(storage, part, call));
  }

  async changedSince(request: FindChangedRequest, call: Call): Promise<ChangedRows | undefined> {
    return this.#with(call, (storage) => {
      if (storage.changedSince === undefined) return undefined;
      return settled('changedSince', call, async () =>
        storage.changedSince!(requestOf(request, call)),
      );
    });
  }

  async delete(write: DeleteWrite, call: Call): Promise<Deletion> {
    const { what, key, operation } = write;
    const { created, unchanged } = what === 'session' ? write : NO_CONDITIONS;
    return this.#with(call, (storage) => {
      if (what === 'session' && unchanged !== undefined) {
        return deleteUnchanged(storage, { key, ...unchanged }, call);
      }
      if (what === 'session' && created !== undefined && storage.keepsOperations !== true) {
        return deleteCreated(this, key, created, call);
      }
      const given = { what, key, ...(created !== undefined && { created }) } as DeleteTarget;
      const remove = async (): Promise<Deletion> => {
        // A storage may return whatever its database returned.
        const deleted: unknown = await storage.delete(requestOf(given, call, operation));
        if (created !== undefined && deleted === false) return { isDeleted: false };
        return { isDeleted: true, floor: floorOf('delete', deleted) };
      };
      return deleteOnce(() => settled('delete', call, remove));
    });
  }
}

function deleteUnchanged(
  storage: OwnStorage,
  given: StorageDeleteUnchangedRequest,
  call: Call,
): Promise<Deletion> {
  const verb = storage.deleteUnchanged;
  if (verb === undefined) {
    const message =
      'The storage cannot delete a session only if it is unchanged: it has no verb deleteUnchanged.';
    throw new SessionError('unsupported', message);
  }
  return settled('deleteUnchanged', call, async () => {
    const deleted: unknown = await verb.call(storage, requestOf(given, call));
    if (typeof deleted === 'boolean') return { isDeleted: deleted };
    const floor = floorOf('deleteUnchanged', deleted);
    if (floor !== undefined) return { isDeleted: true, floor };
    const violation = `gave ${kindOf(deleted)}, not whether it deleted the session`;
    throw contractViolation('deleteUnchanged', violation);
  });
}

function prepareAppend(
  storage: OwnStorage,
  append: PlacedAppend,
  call: Call,
): PreparedWrite<Appended> {
  const { key, position, events, titleChange, compute, operation } = append;
  requireNotAborted(call.signal);
  requireTransactions(storage, compute);
  if (titleChange !== undefined) requireDescribe(storage);
  const { packed, numbers, texts = [] } = packAppends([append], false, false);
  const write = callCore(() => CoreWrite.append(packed, numbers, texts, packComputed(compute)));
  const lastEventId = Number.isNaN(position.created) ? position.lastEventId : undefined;
  // Without a spread of two parts: that took 3 of the 70 µs of an append to SQLite.
  const parts = {
    key,
    events,
    creation: undefined,
    titleChange,
    lastEventId,
    call,
    operation,
  };
  const end = () => unpackAppend(write.finish() as PackedAppended, append);
  return prepareWrite('append', storage, write, parts, end);
}

function requireDescribe({ describe }: OwnStorage): NonNullable<OwnStorage['describe']> {
  if (describe !== undefined) return describe;
  const message = 'The storage keeps no titles and no labels: it has no verb describe.';
  throw new SessionError('unsupported', message);
}

/** Another program may write between the read and the write of a storage without transactions. */
function requireTransactions(storage: OwnStorage, compute: Compute | undefined): void {
  if (compute === undefined || storage.lacksTransactions !== true) return;
  const message = 'The storage has no transactions, so stateDelta must not be a function here.';
  throw new SessionError('unsupported', message, { key: 'stateDelta' });
}

function sessionOf<Events>(
  key: ReadRequest['key'],
  rows: StateRows,
  events: Events,
): ReadSession<Events> | undefined {
  const { session } = rows;
  if (session === undefined) return undefined;
  const { created, revision, lastUpdateTime, title, labels, parent } = session;
  const state = mergedState(key, session, rows);
  return { created, revision, lastUpdateTime, state, events, title, labels, parent };
}

/** Merges the state of a session with those of its user and its app. */
function mergedState(
  { sessionId }: ReadRequest['key'],
  { state }: { readonly state: string },
  { user, app }: StateRows,
): string {
  const shared = { user: user?.state, app: app?.state };
  return mergeStates(`state of session "${sessionId}"`, state, shared);
}

/** Returns the floor that a deletion gave, if it gave one. */
function floorOf(verb: string, deleted: unknown): number | undefined {
  if (typeof deleted !== 'object' || deleted === null) return undefined;
  const floor = (deleted as { readonly floor?: unknown }).floor;
  return floor === undefined ? undefined : requireCounter(verb, '', 'floor', floor);
}

/** The parts of a write that appends nothing. */
const NO_EVENTS = {
  events: [],
  creation: undefined,
  titleChange: undefined,
  lastEventId: undefined,
} as const;

/** The app whose state is read to learn whether a storage answers. */
const PROBE = 'adk-session-wasm';
