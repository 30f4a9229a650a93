/**
 * The interface between the services and what stores sessions. A store runs the rules over memory, IndexedDB, a
 * `Storage`, a server or a cache. It takes a write or a request, and the call that it belongs to.
 */
import type { FindRequest, FindResult } from '../../values/model/search.js';
import type { StorageCall, StorageDiagnostic } from '../../values/model/diagnostic.js';
import type { Event } from '../../values/model/event/event.js';
import type { ListFilter } from '../../values/model/session_list.js';
import type { SharedScope } from '../../values/state/scope.js';
import type { Call } from '../call/call.js';
import type { Rewound, RunUnderWay } from '../history_types.js';
import type {
  ReadKind,
  ReadResults,
  ReadSession,
  SessionHead,
  SessionRead,
  ViewPlans,
} from '../read.js';
import type {
  CreateWrite,
  DeleteWrite,
  ReadyWrite,
  ReadyAppend,
  WriteKind,
  DescribeWrite,
} from '../write.js';
import type { ListTime, TimedPlace } from './list_place.js';
import type { StorageReadRequest } from './requests.js';
import type { Rows } from './rows.js';
import type { StateOwner } from './scopes.js';
import type { ChangedRequest, ChangedRows, Storage } from './storage.js';
import type { WordRows } from '../word_rows.js';

/** The new revisions of the shared states that a write changed; 0 for a state that did not change. */
export type SharedRevisions = Readonly<Record<SharedScope, number>>;

export const NO_REVISIONS: SharedRevisions = { user: 0, app: 0 };

/** The result of a creation. */
export interface CreatedSession extends SessionHead {
  /** The JSON object of the state, with the keys of all scopes. */
  readonly state: string;
  readonly shared: SharedRevisions;
}

/** The part of a list of sessions to read. */
export interface ListRequest extends StateOwner {
  readonly order: 'asc' | 'desc';
  readonly orderBy: ListTime;
  /** A multiple of `limit`; 0 without `limit`. */
  readonly offset: number;
  readonly limit: number | undefined;
  readonly withTotal: boolean;
  /** Only the sessions that the list has after this place. `limit` is then given. */
  readonly after?: TimedPlace | undefined;
  /** The filters, as texts. Only a server filters by them itself. */
  readonly filters?: Readonly<Record<ListFilter, string | undefined>> | undefined;
}

/** A session in a list. If it is damaged, any number may be `NaN`, and the state may be empty. */
export interface ListedSession extends SessionHead {
  readonly sessionId: string;
  readonly userId: string;
  readonly createTime?: number | undefined;
  /** The JSON object of the session's own state. */
  readonly state: string;
  readonly title?: string | undefined;
  /** JSON text. */
  readonly labels?: string | undefined;
  /** JSON text. */
  readonly parent?: string | undefined;
  /** Whether the session cannot be read. A damaged state is found when it is parsed. */
  readonly isDamaged: boolean;
}

/** The states of an app and of users, as JSON objects. Their keys have no prefix. */
export interface SharedStates {
  readonly app: string | undefined;
  /** By the id of the user. */
  readonly users: ReadonlyMap<string, string>;
}

/** A page of a list of sessions. It may have more than `limit` if it begins after a place. */
export interface ReadList {
  readonly sessions: readonly ListedSession[];
  /** The number of sessions on all pages; any number if it was not requested. */
  readonly total: number;
  readonly shared: SharedStates;
}

/** An event of an append that was stored before with the same content. */
export interface UnchangedEvent {
  /** Its index among the events of the append. */
  readonly position: number;
  readonly revision: number;
}

/** An event that was written after the revision that the caller knows. */
export interface MissedEvent {
  readonly seq: number;
  readonly revision: number;
  /** JSON text. */
  readonly text: string;
}

/** The revisions of an event: `seq` of its first append, `revision` of its last write. */
export type EventRevisions = Omit<MissedEvent, 'text'>;

/** The result of an append. */
export interface Appended extends SessionHead {
  /** The revision of the handle before the append. Absent without a handle. */
  readonly since?: number | undefined;
  readonly shared: SharedRevisions;
  readonly unchanged: readonly UnchangedEvent[];
  readonly missed: readonly MissedEvent[];
  /**
   * The JSON object of the stored state before the append, with the keys of all scopes. Present if the handle missed a
   * replacement or a rewind, or if the append was applied before.
   */
  readonly state?: string | undefined;
  /** For each event of the append, its revisions. Empty if the storage does not know them. */
  readonly eventRevisions: readonly EventRevisions[];
  /** The JSON texts of the events that are not stored as they were sent, with their indexes. Absent: none. */
  readonly texts?: readonly { readonly position: number; readonly text: string }[] | undefined;
}

/** A shared state to read. The request has a `userId` only if the state belongs to a user. */
export interface StateRequest extends StateOwner {
  readonly scope: SharedScope;
}

/** Which changes of other programs to find. */
export type FindChangedRequest = Omit<ChangedRequest, keyof StorageCall>;

/** The result of a deletion. */
export interface Deletion {
  /**
   * `false` if the session has changed or was created again since it was listed, or if the mutation was applied before.
   */
  readonly isDeleted: boolean;
  /** Later revisions are higher. Absent if the storage does not know it. */
  readonly floor?: number | undefined;
}

/** The result of a rewind. */
export interface StoredRewind extends Rewound {
  /** Absent: the store does not tell which shared states have changed. */
  readonly shared?: SharedRevisions | undefined;
  /** The run that it has ended, and that is to be stopped. */
  readonly run?: RunUnderWay | undefined;
}

/** The results of writes, by their kinds. */
export interface Results {
  /** `undefined` with `ifAbsent` if the key is taken; otherwise the write fails with `already_exists`. */
  create: CreatedSession | undefined;
  append: Appended;
  /** Whether the session exists. */
  describe: boolean;
  update: SharedRevisions;
  delete: Deletion;
  rewind: StoredRewind;
  fork: ReadSession;
}

/**
 * The kinds that every store has a verb for. Over others `withHistories` makes a rewind an append, and a fork a
 * creation.
 */
export type StoredKind = Exclude<WriteKind, 'rewind' | 'fork'>;

type WriteVerb<Kind extends WriteKind> = (
  write: ReadyWrite<Kind>,
  call: Call,
) => Promise<Results[Kind]>;

/** A function for each kind of writes. */
export type WriteVerbs = { readonly [Kind in StoredKind]: WriteVerb<Kind> } & {
  readonly [Kind in Exclude<WriteKind, StoredKind>]?: WriteVerb<Kind>;
};

/** Runs the function of a write's kind. Only a store that computes histories is given a rewind or a fork. */
export function runWrite<Kind extends WriteKind>(
  verbs: WriteVerbs,
  write: ReadyWrite<Kind>,
  call: Call,
): Promise<Results[Kind]> {
  const { [write.kind]: verb } = verbs as { readonly [Key in WriteKind]?: WriteVerb<Key> };
  return verb!.call(verbs, write, call);
}

/** What differs between stores, besides where they store. One that does not hold is absent. */
export interface StoreTraits {
  /** Whether a call is done when it returns, once the wasm is loaded: only over memory. */
  readonly isSynchronous?: boolean | undefined;
  /**
   * Whether each write applies its `mutation` once. A storage then fails with `refuseApplied` if it was applied before.
   * Otherwise the store knows a write that is sent twice by the ids of its events.
   */
  readonly keepsMutations?: boolean | undefined;
  /**
   * Whether rewinds, forks and branches are computed by the store: a server, or a cache of one. This process does not
   * have the whole sessions, or is not alone in writing them. To other stores `withHistories` gives these verbs.
   */
  readonly computesHistories?: boolean | undefined;
  /**
   * How the service reads views. Absent: the store computes them itself, as a server does.
   *
   * @internal
   */
  readonly views?: ViewPlans | undefined;
  /** Whether it reads pages, events by their ids, and markers each without reading the whole session. */
  readonly readsParts?: boolean | undefined;
  /** Whether it has no pages of events, so that a whole session is read at once. */
  readonly lacksPages?: boolean | undefined;
}

/** What memory does before a call returns. Its writes have no `mutation`. */
export interface SynchronousStore {
  create(write: CreateWrite, call: Call): CreatedSession | undefined;
  append(write: ReadyAppend, call: Call): Appended;
  delete(write: DeleteWrite, call: Call): Deletion;
  find<Kind extends ReadKind>(
    request: SessionRead<Kind>,
    call: Call,
  ): ReadResults[Kind] | undefined;
  sessions(request: ListRequest, call: Call): ReadList;
}

/**
 * Sessions, their states and events, in any storage. The service has checked all names in the requests.
 *
 * Each method fails with a `SessionError`. If the signal fires before the commit begins, a write fails with
 * `aborted`, unless a storage ignores the signal.
 */
export interface Store {
  readonly traits: StoreTraits;
  /** Present over memory. */
  readonly sync?: SynchronousStore | undefined;
  /** Opens the storage, or checks that it still responds. */
  open(call: Call): Promise<void>;
  write<Kind extends WriteKind>(write: ReadyWrite<Kind>, call: Call): Promise<Results[Kind]>;
  /**
   * Stores appends to different sessions in one transaction. A promise may reject although its append would succeed
   * alone; the caller then repeats that append alone. Absent if the storage has no such transaction.
   */
  readonly writeAll?:
    | ((writes: readonly (readonly [ReadyAppend, Call])[]) => readonly Promise<Appended>[])
    | undefined;
  /** Reads something of a session. Returns `undefined` if there is no session. */
  read<Kind extends ReadKind>(
    request: SessionRead<Kind>,
    call: Call,
  ): Promise<ReadResults[Kind] | undefined>;
  /** Lists sessions of a user; without `userId` of all users of the app. */
  list(request: ListRequest, call: Call): Promise<ReadList>;
  /** Returns a shared state as JSON. The keys have no prefix. */
  state(request: StateRequest, call: Call): Promise<string>;
  /** Finds what other programs have changed in an app. Returns `undefined` if the storage does not know that. */
  changes?(request: FindChangedRequest, call: Call): Promise<ChangedRows | undefined>;
  /** Finds what was said in the sessions of a user. Returns `undefined` if the caller has to read them. */
  search?(request: FindRequest, call: Call): Promise<FindResult | undefined>;
  /** Returns the rows of words beside the sessions. Resolves to `undefined` if the storage keeps none. */
  words?(call: Call): Promise<WordRows | undefined>;
  /**
   * Ends the store, and frees its memory in the wasm. Calls that have begun still finish. A storage is closed by its
   * service: others may use it too.
   */
  close?(): void;
}

/** The store over memory. */
export type MemoryStore = Store & { readonly sync: SynchronousStore };

// What only the storages of this package do: those of databases and of Vertex AI.

/** A storage of this package. Each {@link Storage} is one that does none of this. */
export interface OwnStorage extends Storage {
  readonly traits?: StoreTraits;
  /** Returns the verbs for one write that describes a session, if they take more of it than their requests have. */
  describing?(write: CreateWrite | DescribeWrite): Pick<Storage, 'create' | 'describe'>;
  /** Returns the rows of words beside the sessions, if it can write them. */
  words?(call: StorageCall): Promise<WordRows | undefined>;
  /** Called once, before the first verb: `report` takes what fails while no call gets the error. */
  onFailure?(report: ReportFailure): void;
  /** Like `read`, with parsed events. Returns `undefined` if one cannot be parsed; `read` follows and tells why. */
  readParsed?(
    request: StorageReadRequest,
  ): ParsedRows | undefined | Promise<ParsedRows | undefined>;
}

/** Reports to the diagnostics what no call rejects with. */
export type ReportFailure = (kind: StorageDiagnostic['kind'], error: unknown) => void;

/** The rows that a read returned, with parsed events. */
export interface ParsedRows extends Omit<Rows, 'events'> {
  /** They belong to the caller alone. */
  readonly events: Event[];
}

/** What a service tells of its storage before that is loaded. */
export type StorageFacts = Pick<OwnStorage, 'kind' | 'durable' | 'traits'>;
