import { afterCommit, type Call, requireNotAborted } from '../../call/call.js';
import { untilAborted } from '../../call/time_limit.js';
import { kindOf } from '../../../values/errors/describe.js';
import { SessionError } from '../../../values/errors/errors.js';
import type { StoredEvents } from '../../../values/model/event_page.js';
import {
  type CreateWrite,
  type DeleteWrite,
  type DescribeWrite,
  NO_CONDITIONS,
  type ReadyAppend,
  type UpdateWrite,
} from '../../write.js';
import { VIEW_PLANS } from '../../history/views/read_view.js';
import {
  runRead,
  type ChangedSession,
  type SinceRequest,
  type IdsRequest,
  type MarkersRequest,
  type PageRequest,
  type ReadMarkers,
  type ReadPage,
  type WindowRequest,
  type ReadSession,
  type ReadVerbs,
} from '../../read.js';
import {
  type Appended,
  type CreatedSession,
  type Deletion,
  type FindChangedRequest,
  type ListRequest,
  type ReadList,
  runWrite,
  type SharedRevisions,
  type StateRequest,
  type Store,
  type StoreTraits,
  type WriteVerbs,
  type OwnStorage,
  type ReportFailure,
} from '../store.js';
import type { ChangedRows } from '../storage.js';
import type { WordRows } from '../../word_rows.js';
import { changedSession, type RowsSince } from '../changes.js';
import { contractViolation, requireCounter } from '../checked_rows.js';
import {
  appendOnce,
  createOnce,
  deleteOnce,
  describeOnce,
  updateOnce,
  deleteCreated,
} from '../mutations.js';
import type { StorageDeleteRequest, StorageDeleteUnchangedRequest } from '../requests.js';
import { storageKey } from '../scopes.js';
import {
  writeAllThrough,
  type PreparedWrite,
  prepareAppend,
  prepareCreate,
  prepareUpdate,
} from './ruled_writes.js';
import {
  canReadParts,
  listRequestOf,
  listThrough,
  eventsThrough,
  markersThrough,
  pageThrough,
  readThrough,
  rowsSinceThrough,
  sessionThrough,
  stateThrough,
} from './reads.js';
import { requestOf, runVerb } from './storage_calls.js';

/**
 * Runs the rules over a {@link Storage}. The storage reads and writes rows; the core decides what to write.
 *
 * It trusts the rows: those of a user's storage are checked by `checkedStorage`. Errors that the storage throws become
 * a `SessionError`.
 */
export class RowStore implements Store, ReadVerbs, WriteVerbs {
  readonly traits: StoreTraits;
  readonly #load: () => Promise<OwnStorage>;
  readonly #report: ReportFailure | undefined;
  #loading: Promise<OwnStorage> | undefined;
  #storage: OwnStorage | undefined;

  /**
   * @param storage or a function that loads it at the first call. So a service can be made at once, and the code of its
   *   storage is loaded only when it is used
   * @param traits of the storage. Whether it reads parts is told only of one that is loaded later
   */
  constructor(
    storage: OwnStorage | (() => Promise<OwnStorage>),
    traits: StoreTraits = {},
    report?: ReportFailure,
  ) {
    const isLate = typeof storage === 'function';
    const readsParts = isLate ? traits.readsParts : canReadParts(storage);
    this.traits = { ...traits, readsParts, views: VIEW_PLANS };
    this.#report = report;
    this.#load = isLate ? storage : () => Promise.resolve(storage);
    if (!isLate) this.#take(storage);
  }

  /** Calls the storage. Its first call waits until it is loaded. */
  async #with<T>({ signal }: Call, work: (storage: OwnStorage) => Promise<T>): Promise<T> {
    if (this.#storage !== undefined) return work(this.#storage);
    // A failure is not kept: it may be a network error while a page loads the code.
    this.#loading ??= this.#load()
      .then((storage) => this.#take(storage))
      .finally(() => (this.#loading = undefined));
    return work(await untilAborted(signal, this.#loading));
  }

  #take(storage: OwnStorage): OwnStorage {
    if (this.#report !== undefined) storage.onFailure?.(this.#report);
    return (this.#storage = storage);
  }

  /** Called when the service begins to close. A storage that is being loaded gets it too, after the calls that wait. */
  closing(timeoutMs: number | undefined): void {
    const tell = (storage: OwnStorage | undefined): void => storage?.closing?.(timeoutMs);
    if (this.#loading === undefined) tell(this.#storage);
    else void this.#loading.then(tell).catch(() => undefined);
  }

  /** Called once the service's calls have settled. */
  async closeStorage(): Promise<void> {
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
      return runVerb('open', call, () => untilAborted(call.signal, storage.open!(request)));
    });
  }

  readonly write: Store['write'] = (write, call) => runWrite(this, write, call);

  create(write: CreateWrite, call: Call): Promise<CreatedSession | undefined> {
    return createOnce(
      () => this.#with(call, (storage) => this.#create(storage, write, call)),
      () => this.window({ key: write.key, last: 0 }, afterCommit(call)),
    );
  }

  async #create(
    storage: OwnStorage,
    creation: CreateWrite,
    call: Call,
  ): Promise<CreatedSession | undefined> {
    const { description } = creation;
    if (description.title || description.labels) requireDescribe(storage);
    return prepareCreate(storage.describing?.(creation) ?? storage, creation, call).execute();
  }

  append(write: ReadyAppend, call: Call): Promise<Appended> {
    const storage = this.#storage;
    if (storage !== undefined && write.mutation === undefined) {
      return appendTo(storage, write, call).execute();
    }
    return appendOnce(
      (write) => this.#with(call, (storage) => appendTo(storage, write, call).execute()),
      (changes) => this.#rowsSince(changes, call),
      write,
    );
  }

  /** Absent until the storage is loaded. */
  get writeAll(): Store['writeAll'] {
    const storage = this.#storage;
    if (storage?.appendMany === undefined) return undefined;
    return (writes) => {
      const prepared = writes.map(([write, call]) => appendTo(storage, write, call));
      return writeAllThrough(storage, prepared);
    };
  }

  async update(write: UpdateWrite, call: Call): Promise<SharedRevisions> {
    return updateOnce(async () =>
      this.#with(call, (storage) => prepareUpdate(storage, write, call).execute()),
    );
  }

  describe(write: DescribeWrite, call: Call): Promise<boolean> {
    const { key, title, labels, mutation } = write;
    const given = { key: storageKey(key) as DescribeWrite['key'], title, labels };
    const describe = async (storage: OwnStorage): Promise<boolean> => {
      const verbs = storage.describing?.(write) ?? storage;
      const verb = requireDescribe(verbs);
      const isThere: unknown = await verb.call(verbs, requestOf(given, call, mutation));
      if (typeof isThere === 'boolean') return isThere;
      const violation = `gave ${kindOf(isThere)}, not whether the session exists`;
      throw contractViolation('describe', violation);
    };
    return describeOnce(
      () => this.#with(call, (storage) => runVerb('describe', call, () => describe(storage))),
      () => this.window({ key, last: 0 }, afterCommit(call)),
    );
  }

  readonly read: Store['read'] = (request, call) => runRead(this, request, call);

  async window(request: WindowRequest, call: Call): Promise<ReadSession | undefined> {
    return this.#with(call, (storage) => sessionThrough(storage, request, call));
  }

  async page(request: PageRequest, call: Call): Promise<ReadPage | undefined> {
    return this.#with(call, (storage) => pageThrough(storage, request, call));
  }

  async markers(request: MarkersRequest, call: Call): Promise<ReadMarkers | undefined> {
    return this.#with(call, (storage) => markersThrough(storage, request, call));
  }

  async ids(request: IdsRequest, call: Call): Promise<StoredEvents | undefined> {
    return this.#with(call, (storage) => eventsThrough(storage, request, call));
  }

  async since(request: SinceRequest, call: Call): Promise<ChangedSession | undefined> {
    const session = await this.#rowsSince(request, call);
    return session && changedSession(session, request);
  }

  async #rowsSince(request: SinceRequest, call: Call): Promise<RowsSince | undefined> {
    return this.#with(call, (storage) => rowsSinceThrough(storage, request, call));
  }

  async state(request: StateRequest, call: Call): Promise<string> {
    return this.#with(call, (storage) => stateThrough(storage, request, call));
  }

  async list(request: ListRequest, call: Call): Promise<ReadList> {
    return this.#with(call, (storage) => listThrough(storage, listRequestOf(request), call));
  }

  async changes(request: FindChangedRequest, call: Call): Promise<ChangedRows | undefined> {
    return this.#with<ChangedRows | undefined>(call, async (storage) => {
      if (storage.changedSince === undefined) return undefined;
      return runVerb('changedSince', call, async () =>
        storage.changedSince!(requestOf(request, call)),
      );
    });
  }

  words(call: Call): Promise<WordRows | undefined> {
    return this.#with(call, async (storage) => storage.words?.(call));
  }

  async delete(write: DeleteWrite, call: Call): Promise<Deletion> {
    const { what, key, mutation } = write;
    const { created, unchanged } = what === 'session' ? write : NO_CONDITIONS;
    return this.#with(call, (storage) => {
      if (what === 'session' && unchanged !== undefined) {
        return deleteUnchanged(storage, { key, ...unchanged }, call);
      }
      if (what === 'session' && created !== undefined && this.traits.keepsMutations !== true) {
        return deleteCreated(this, key, created, call);
      }
      const given = {
        what,
        key,
        ...(created !== undefined && { created }),
      } as StorageDeleteRequest;
      const remove = async (): Promise<Deletion> => {
        // A storage may return whatever its database returned.
        const deleted: unknown = await storage.delete(requestOf(given, call, mutation));
        if (created !== undefined && deleted === false) return { isDeleted: false };
        return { isDeleted: true, floor: floorOf('delete', deleted) };
      };
      return deleteOnce(() => runVerb('delete', call, remove));
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
  return runVerb('deleteUnchanged', call, async () => {
    const deleted: unknown = await verb.call(storage, requestOf(given, call));
    if (typeof deleted === 'boolean') return { isDeleted: deleted };
    const floor = floorOf('deleteUnchanged', deleted);
    if (floor !== undefined) return { isDeleted: true, floor };
    const violation = `gave ${kindOf(deleted)}, not whether it deleted the session`;
    throw contractViolation('deleteUnchanged', violation);
  });
}

function appendTo(storage: OwnStorage, write: ReadyAppend, call: Call): PreparedWrite<Appended> {
  requireNotAborted(call.signal);
  if (write.firstTitle !== undefined) requireDescribe(storage);
  return prepareAppend(storage, write, call);
}

function requireDescribe({ describe }: Pick<OwnStorage, 'describe'>) {
  if (describe !== undefined) return describe;
  const message = 'The storage keeps no titles and no labels: it has no verb describe.';
  throw new SessionError('unsupported', message);
}

/** Returns the floor that a deletion gave, if it gave one. */
function floorOf(verb: string, deleted: unknown): number | undefined {
  if (typeof deleted !== 'object' || deleted === null) return undefined;
  const floor = (deleted as { readonly floor?: unknown }).floor;
  return floor === undefined ? undefined : requireCounter(verb, '', 'floor', floor);
}

/** The app whose state is read to learn whether a storage answers. */
const PROBE = 'adk-session-wasm';
