/**
 * `js/core` has what services and stores share: writes, calls, the interface of storages, the wasm, histories, handles
 * and the feed of changes. It imports only `js/values`. It imports nothing from `js/stores` or `js/service`.
 *
 * Queues hold a write, requests over HTTP are made from it, and stores apply it. It is JSON-safe, except for the
 * function of `updateState` and the options of a rewind.
 */
import type { AskedRun } from '../values/model/asked_run.js';
import type { CompositeSessionKey, ExpectedEvents } from '../values/model/session.js';
import type { Description } from '../values/model/description.js';
import type { WriteIdentity } from '../values/model/diagnostic.js';
import type { EventTexts } from '../values/model/event/snapshot.js';
import type { StalePolicy } from './wasm/protocol.js';
import type { ForkWrite, RewindOptions, RewindWrite } from './history_types.js';

/** The position of a handle when an append begins: what its caller knows of it, as in Rust. */
export type HandlePosition =
  | {
      readonly kind: 'revision';
      /** The revision that created the session. */
      readonly created: number;
      /** The revision of the last change that the handle has. */
      readonly revision: number;
    }
  /** The handle came from elsewhere: the id of its last event, if it has events. */
  | { readonly kind: 'lastEvent'; readonly lastEventId: string | undefined }
  /** There is no handle, so nothing can be stale. */
  | { readonly kind: 'latest' };

/** Events to append to one session, all or none. */
export interface AppendWrite extends WriteIdentity {
  readonly kind: 'append';
  readonly key: Readonly<CompositeSessionKey>;
  readonly events: readonly EventTexts[];
  readonly stale: StalePolicy;
  /** The revision that the session must have. */
  readonly expectedRevision?: number | undefined;
  readonly expectedEvents?: ExpectedEvents | undefined;
  /** The title that the session gets in the same step, if it has none. */
  readonly firstTitle?: string | undefined;
  /** Computes the delta of the only event from the stored state, and replaces the event in `events`. */
  readonly compute?: Compute | undefined;
  /**
   * Lets the server's agent answer the only event, a message. If its id is stored, nothing is written, and nothing
   * runs.
   */
  readonly run?: AskedRun | undefined;
}

/** A file of a message, as a request over HTTP names it. */
export interface NamedFile {
  /** The index of the message. Absent: 0. */
  readonly event?: number;
  readonly part: number;
  readonly name: string;
  readonly version: number;
}

/** An append whose turn has come. Its events lack the keys that a later write has superseded meanwhile. */
export interface ReadyAppend extends AppendWrite {
  readonly position: HandlePosition;
  /**
   * The revision up to which the run of the events was neither cancelled nor undone; see `RunRevisions`. The append is
   * refused if the run has ended since, also if the handle has a later revision.
   */
  readonly runRevision?: number | undefined;
  /** Over HTTP: the files of messages, which the events then lack. */
  readonly files?: readonly NamedFile[] | undefined;
  /** Creates the session in the same step, if a cache knows none. Other stores are never given it. */
  readonly creation?: CreateWrite | undefined;
}

/** A session to create. The deltas of its events change its state, in order. */
export interface NewSession {
  readonly key: Readonly<CompositeSessionKey>;
  /** A JSON object with the keys of all scopes. */
  readonly state: string;
  readonly events: readonly EventTexts[];
  /** A JSON object: changes that no event carries. They follow the events' deltas, and are stored in all scopes. */
  readonly delta: string;
  readonly description: Description;
  /** When a session from elsewhere was last updated, in milliseconds. A later event wins. Absent: `now`. */
  readonly lastUpdateTime: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether the `user:` and `app:` keys of the state and of the events are stored. */
  readonly sharesState: boolean;
}

export interface CreateWrite extends NewSession, WriteIdentity {
  readonly kind: 'create';
  /** Whether the result is `undefined` if a session with that key exists. Otherwise the write then fails. */
  readonly ifAbsent: boolean;
  /** The session whose files a fork gets, for a store that has them beside the sessions. */
  readonly filesOf?: string | undefined;
}

/**
 * A change of the title, the labels and the expiry of a session: a patch. An absent member stays as it is, and an empty
 * text removes the title or the labels.
 */
export interface DescribeWrite
  extends Pick<Description, 'title' | 'labels' | 'expiry'>, WriteIdentity {
  readonly kind: 'describe';
  readonly key: Readonly<CompositeSessionKey>;
}

/** A change of the states of a user and an app. */
export interface UpdateWrite extends WriteIdentity {
  readonly kind: 'update';
  /** The user, or without `userId` the app, that the changed state belongs to. */
  readonly key: Readonly<Pick<CompositeSessionKey, 'appName'>> & {
    readonly userId?: string | undefined;
  };
  /** A JSON object whose keys have their prefixes, or a function that computes it from the stored state. */
  readonly delta: string | Compute;
}

/** A deletion. Deleting something that is not stored is not an error. */
export type DeleteWrite = WriteIdentity & { readonly kind: 'delete' } & (
    | {
        /** A session with its events. */
        readonly what: 'session';
        readonly key: Readonly<CompositeSessionKey>;
        /** Deletes only the session that was created at this revision. */
        readonly created?: number | undefined;
        /** Deletes the session only if it has this revision, and these labels as `list` returned them. */
        readonly unchanged?: UnchangedSession | undefined;
      }
    | {
        /** The sessions of a user with its state, or its state alone. */
        readonly what: 'user' | 'userState';
        readonly key: Readonly<Pick<CompositeSessionKey, 'appName' | 'userId'>>;
      }
    | {
        /** The state of an app alone. */
        readonly what: 'appState';
        readonly key: Readonly<Pick<CompositeSessionKey, 'appName'>>;
      }
  );

/** The conditions of a deletion that has none. */
export const NO_CONDITIONS = { created: undefined, unchanged: undefined };

/** A session as it was listed. */
export interface UnchangedSession {
  readonly revision: number;
  /** JSON text. Absent: none. */
  readonly labels?: string | undefined;
}

/** A rewind with what only this process knows. It is neither stored nor sent. */
export interface ReadyRewind extends RewindWrite {
  readonly options?: RewindOptions | undefined;
}

/** The writes by their kinds, as a store takes them. */
export interface Writes {
  create: CreateWrite;
  append: ReadyAppend;
  describe: DescribeWrite;
  update: UpdateWrite;
  delete: DeleteWrite;
  rewind: ReadyRewind;
  fork: ForkWrite;
}

export type WriteKind = keyof Writes;

/** A write as the public method makes it. */
export type Write = AppendWrite | Writes[Exclude<WriteKind, 'append'>];

/** A write of some kinds, as a store gets it: its turn has come. */
export type ReadyWrite<Kind extends WriteKind = WriteKind> = Writes[Kind] & { readonly kind: Kind };

/** Computes a delta from the JSON text of a state. Never throws. */
export type Compute = (state: string) => Computed;

/** A delta that was computed, and the event that stores it, if one does. */
export interface Computed {
  /** JSON text. */
  readonly delta: string;
  /** JSON text. */
  readonly event?: string | undefined;
}
