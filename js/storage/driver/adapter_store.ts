import { kindOf } from '../../errors/describe.js';
import {
  AdapterWrite,
  callCore,
  checkWindow,
  mergeStates,
  pageNumbers,
  requireRoom,
} from '../../wasm/core.js';
import { SessionError } from '../../errors/errors.js';
import type { MaybePromise } from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import type { StorageCall } from '../../model/diagnostic.js';
import { packAppends, packCreation } from '../../wasm/appends.js';
import {
  type Appended,
  type AppendedByCore,
  type Compute,
  type SharedRevisions,
  withPlaces,
} from '../../wasm/protocol.js';
import type {
  StorageAdapter,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
} from '../adapter.js';
import { appendOnce, createOnce, describeOnce, writeOnce } from '../applied_operations.js';
import { deleteCreated } from '../delete_created.js';
import type { StorageKey } from '../rows.js';
import { contractViolation, requireCounter } from '../checked_rows.js';
import { requestOf, settled } from './adapter_calls.js';
import { appendManyThrough } from './append_many.js';
import type { BuiltInAdapter, BuiltInListRequest } from '../built_in_adapter.js';
import { listThrough } from './list_through.js';
import { prepareWrite, type PreparedWrite } from './prepared_write.js';
import { pageThrough, readThrough } from './read_through.js';
import { scopeOf, type StateOwner, storageKey } from '../scopes.js';
import {
  type AppendRequest,
  type CreatedSession,
  type CreateRequest,
  type DeleteRequest,
  type DescribeRequest,
  type EventPageRequest,
  type Floor,
  type ListPageRequest,
  NOT_DELETED,
  type ReadEvents,
  type ReadList,
  type ReadSession,
  type SessionStore,
} from '../session_store.js';

/**
 * A store over a storage adapter. The adapter reads and writes rows; the core decides what to
 * write.
 *
 * The store checks each result of the adapter, so that an error names the adapter's fault and not a
 * later consequence. Errors that the adapter throws become a `SessionError`. If the adapter returns
 * no promise, neither does an append.
 */
export class AdapterStore implements SessionStore {
  readonly #adapter: StorageAdapter;
  readonly #builtIn: BuiltInAdapter | undefined;

  /** @param builtIn the adapter, if it is one of this package */
  constructor(adapter: StorageAdapter, builtIn?: BuiltInAdapter) {
    this.#adapter = adapter;
    this.#builtIn = builtIn;
  }

  async open(call: StorageCall): Promise<void> {
    const builtIn = this.#builtIn;
    if (builtIn === undefined) {
      // An adapter of a user has no verb for this.
      await readThrough(this.#adapter, builtIn, storageKey({ appName: PROBE }), { last: 0 }, call);
    } else {
      const { signal } = call;
      const request = requestOf({}, call);
      await settled('open', signal, () => untilAborted(signal, builtIn.open(request)));
    }
  }

  get keepsOperations(): boolean {
    return this.#builtIn?.keepsOperations === true;
  }

  async create(request: CreateRequest, ifAbsent: boolean): Promise<CreatedSession | undefined> {
    return createOnce(
      () => this.#create(request, ifAbsent),
      () => this.get(request.key, 0, undefined, request),
    );
  }

  async #create(request: CreateRequest, ifAbsent: boolean): Promise<CreatedSession | undefined> {
    const { key, state, events, delta, sharesState, description } = request;
    const { signal, onRetry, operation } = request;
    if (description.title || description.labels) this.#requireDescribe();
    requireRoom(state.length + delta.length);
    const { packed, numbers, texts = [] } = packCreation(request, false);
    const write = callCore(() =>
      AdapterWrite.create(packed, numbers, texts, state, delta, sharesState, ifAbsent),
    );
    if (this.#builtIn?.createInSteps !== undefined && events.length > 0) {
      write.free();
      return this.#builtIn.createInSteps(this, request, ifAbsent);
    }
    const call = { signal, onRetry, operation };
    const parts = { key, ...call, ...NO_EVENTS, events, creation: request };
    const end = () => write.finish() as CreatedSession | undefined;
    return prepareWrite('create', this.#adapter, write, parts, end).run();
  }

  async describe({ key, title, labels, expiry, ...call }: DescribeRequest): Promise<boolean> {
    const verb = this.#requireDescribe();
    const given: StorageDescribeRequest = {
      key: storageKey(key) as Required<StorageKey>,
      title,
      labels,
      ...(expiry !== undefined && { expiry }),
    };
    const request = requestOf(given, call);
    const describe = async (): Promise<boolean> => {
      const isThere: unknown = await verb.call(this.#adapter, request);
      if (typeof isThere === 'boolean') return isThere;
      throw contractViolation(
        'describe',
        `gave ${kindOf(isThere)}, not whether the session exists`,
      );
    };
    return describeOnce(
      () => settled('describe', call.signal, describe),
      () => this.get(key, 0, undefined, call),
    );
  }

  #requireDescribe(): NonNullable<StorageAdapter['describe']> {
    const verb = this.#adapter.describe;
    if (verb !== undefined) return verb;
    throw new SessionError(
      'unsupported',
      'The storage keeps no titles and no labels: its adapter has no verb describe.',
    );
  }

  get changedSince(): SessionStore['changedSince'] {
    const builtIn = this.#builtIn;
    if (builtIn?.changedSince === undefined) return undefined;
    return (request) =>
      settled('changedSince', request.signal, async () => builtIn.changedSince!(request));
  }

  get appendMany(): SessionStore['appendMany'] {
    if (this.#adapter.appendMany === undefined) return undefined;
    return (requests) => {
      const writes = requests.map((request) => this.#prepareAppend(request));
      return appendManyThrough(this.#adapter, writes);
    };
  }

  append(request: AppendRequest): MaybePromise<Appended> {
    return appendOnce((request) => this.#prepareAppend(request).run(), request);
  }

  #prepareAppend(request: AppendRequest): PreparedWrite<Appended> {
    const { key, position, events, firstTitle, compute, sharesState, signal, onRetry, operation } =
      request;
    this.#requireTransactions(compute);
    if (firstTitle !== undefined) this.#requireDescribe();
    const { packed, numbers, texts = [] } = packAppends([request], false);
    const write = callCore(() => AdapterWrite.append(packed, numbers, texts, compute));
    const lastEventId = Number.isNaN(position.created) ? position.lastEventId : undefined;
    const creation = undefined;
    // prettier-ignore
    const parts = {
      key, events, creation, firstTitle, lastEventId, sharesState, signal, onRetry, operation,
    };
    const end = () => withPlaces(write.finish() as AppendedByCore, events.length);
    return prepareWrite('append', this.#adapter, write, parts, end);
  }

  async update(
    appName: string,
    userId: string | undefined,
    delta: string | Compute,
    { signal, onRetry, operation }: StorageCall,
  ): Promise<SharedRevisions> {
    const [text, compute] = typeof delta === 'string' ? [delta] : ['{}', delta];
    this.#requireTransactions(compute);
    requireRoom(text.length);
    const write = callCore(() => AdapterWrite.update(appName, userId, text, compute));
    const key = storageKey({ appName, userId });
    const parts = { key, signal, onRetry, operation, ...NO_EVENTS };
    const end = () => write.finish() as SharedRevisions;
    return writeOnce(prepareWrite('append', this.#adapter, write, parts, end).run, [0, 0]);
  }

  /** Another program may write between the read and the write of a storage without transactions. */
  #requireTransactions(compute: Compute | undefined): void {
    if (compute === undefined || this.#builtIn?.createInSteps === undefined) return;
    const message = 'The storage has no transactions, so stateDelta must not be a function here.';
    throw new SessionError('unsupported', message, { key: 'stateDelta' });
  }

  async get(
    key: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    call: StorageCall,
  ): Promise<ReadSession | undefined> {
    checkWindow(last, after);
    const window = {
      ...(last !== undefined && { last }),
      ...(after !== undefined && { after }),
    };
    const read = await readThrough(this.#adapter, this.#builtIn, key, window, call);
    const { session, parsed, events } = read;
    if (session === undefined) return undefined;
    const { created, revision, lastUpdateTime, state, title, labels } = session;
    const shared = { user: read.user?.state, app: read.app?.state };
    const merged = mergeStates(`state of session "${key.sessionId}"`, state, shared);
    // Rows and not texts: the error about a damaged text then names the event's id.
    const fragments = parsed === undefined ? events : ([parsed] as const);
    return [created, revision, lastUpdateTime, merged, fragments, title, labels];
  }

  page(
    key: Required<StorageKey>,
    page: EventPageRequest,
    call: StorageCall,
  ): Promise<ReadEvents | undefined> {
    return pageThrough(this.#adapter, this.#builtIn, key, page, call);
  }

  async sharedState(owner: StateOwner, call: StorageCall): Promise<string> {
    const key = storageKey(owner);
    const read = await readThrough(this.#adapter, this.#builtIn, key, { last: 0 }, call);
    const scope = scopeOf(owner);
    return mergeStates(`${scope} state`, read[scope]?.state ?? '{}');
  }

  async list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    { limit, page, withTotal, orderBy, after }: ListPageRequest,
    call: StorageCall,
  ): Promise<ReadList> {
    const wanted = pageNumbers(limit, page);
    const isBuiltIn = this.#builtIn !== undefined;
    const request: BuiltInListRequest = {
      appName,
      ...(userId !== undefined && { userId }),
      order: descending ? 'desc' : 'asc',
      offset: wanted.offset,
      ...(wanted.limit !== undefined && { limit: wanted.limit }),
      ...(!withTotal && { withTotal }),
      ...(orderBy === 'createTime' && { orderBy }),
      ...(after !== undefined && { after }),
    };
    const { sessions, shared, total } = await listThrough(this.#adapter, request, isBuiltIn, call);
    return [sessions, total, shared];
  }

  async delete({ what, key, created }: DeleteRequest, call: StorageCall): Promise<Floor> {
    const isOfCreation = what === 'session' && created !== undefined;
    if (isOfCreation && !this.keepsOperations) return deleteCreated(this, key, created, call);
    const given = isOfCreation ? { what, key, created } : { what, key };
    const request = requestOf(given, call) as DeleteRequest;
    const remove = () =>
      settled('delete', call.signal, async () => {
        // An adapter may return whatever its database returned.
        const deleted = await this.#adapter.delete(request);
        if (isOfCreation && deleted?.floor === NOT_DELETED) return NOT_DELETED;
        return floorOf('delete', deleted);
      });
    return writeOnce<Floor>(remove, NOT_DELETED);
  }

  async deleteUnchanged({
    signal,
    onRetry,
    ...given
  }: StorageDeleteUnchangedRequest): Promise<{ readonly floor: Floor } | undefined> {
    const verb = this.#adapter.deleteUnchanged;
    if (verb === undefined) {
      throw new SessionError(
        'unsupported',
        'The storage cannot delete a session only if it is unchanged: its adapter has no verb deleteUnchanged.',
      );
    }
    return settled('deleteUnchanged', signal, async () => {
      const deleted: unknown = await verb.call(
        this.#adapter,
        requestOf(given, { signal, onRetry }),
      );
      if (deleted === false) return undefined;
      if (deleted === true) return { floor: undefined };
      const floor = floorOf('deleteUnchanged', deleted);
      if (floor !== undefined) return { floor };
      throw contractViolation(
        'deleteUnchanged',
        `gave ${kindOf(deleted)}, not whether it deleted the session`,
      );
    });
  }

  free(): void {
    // It holds nothing in the wasm. Each write is freed when it ends.
  }
}

/** Returns the floor that a deletion gave, if it gave one. */
function floorOf(verb: string, deleted: unknown): Floor {
  if (typeof deleted !== 'object' || deleted === null) return undefined;
  const floor = (deleted as { readonly floor?: unknown }).floor;
  return floor === undefined ? undefined : requireCounter(verb, '', 'floor', floor);
}

/** The parts of a write that appends nothing. */
const NO_EVENTS = {
  events: [],
  creation: undefined,
  firstTitle: undefined,
  lastEventId: undefined,
  sharesState: undefined,
} as const;

/** The app whose state is read to learn whether an adapter answers. */
const PROBE = 'adk-session-wasm';
