import type { TurnBranches } from '../../core/history/index.js';
import type { ShownTurn } from '../../core/history_types.js';
import type { OutboxEntry } from '../../service/cache/index.js';
import type { RunAgent, SentEvent } from '../../service/runs/agent/run_context.js';
import type { SessionRun } from '../../service/runs/agent/run_status.js';
import type { Answers, Question } from '../../service/runs/user_answers.js';
import type { AttachedFile } from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import type {
  CompositeSessionKey,
  CreateSessionRequest,
  Session,
} from '../../values/model/session.js';
import type { SessionsRequest } from '../../values/model/session_list.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { HistoryView } from '../../values/model/values/read_options.js';
import type { ComputeDelta, StateDelta, StateShape } from '../../values/state/state_shape.js';
import type { RefusedChange } from './snapshot/refused_changes.js';
import type { ScopedState } from './snapshot/scoped_state.js';
import type { UnsentEvent } from './snapshot/unsent_events.js';

/** The members of every live store. They fulfil the store contracts of React's `useSyncExternalStore` and of Svelte. */
export interface LiveStore<Snapshot> {
  /**
   * Calls `listener` with the snapshot: at once, and after changes, at most once a frame. The first subscriber
   * starts reading and watching. After the last one has left, the store has no watch and no timer.
   *
   * @returns a function that ends the subscription
   */
  readonly subscribe: (listener: (snapshot: Snapshot) => void) => () => void;
  /** Returns the snapshot as it is now: the same object until something changes. It is never changed. */
  readonly getSnapshot: () => Snapshot;
  /** Reads once, without a subscription, if nothing has been read yet. Never rejects: see the snapshot's `error`. */
  readonly load: () => Promise<void>;
  /**
   * Reads everything again. Never rejects: see the snapshot's `error`. After an error a store with subscribers reads
   * again by itself, but not after `invalid_argument`, `unsupported`, `not_found` and `closed`.
   */
  readonly reload: () => Promise<void>;
}

/** The options of {@link liveSession}. */
export interface LiveSessionOptions<S extends object = StateShape> {
  /** The number of events that are read at first, and by each `loadOlder`; 1 to 1,000, default 50. */
  window?: number | undefined;
  /** The state of the session, if the store creates it: by its first message, for example. Default: none. */
  initialState?: Partial<S> | undefined;
  /**
   * Which events count after rewinds and compactions. Default `'transcript'`: undone turns are not shown, and those
   * that a compaction sums up are named in `summarised`.
   */
  view?: HistoryView | undefined;
  /**
   * Whether snapshots have `turns`: the versions of edited turns. They are read after the events, with about as many
   * events again as are shown. Default `false`.
   */
  turns?: boolean | undefined;
  /**
   * The agent that answers `ask`, `answer`, `edit` and `regenerate` in this page: a function, or `runWith(runner)` of
   * `adk-session-wasm/adk`. Default: none.
   */
  run?: RunAgent | undefined;
}

/**
 * A session as it is now. Snapshots are never changed. What has not changed from one to the next is the same object:
 * an event, a page, a scope of the state, a value in it.
 */
export interface LiveSessionSnapshot<S extends object = StateShape> {
  /**
   * `loading`: nothing has been read yet. `ready`. `missing`: there is no such session yet. `deleted`: it was deleted
   * since. `failed`: the first read failed, see `error`. `forgotten`: a cache has forgotten its local data; nothing is
   * shown, and `send` rejects, until `reload` reads again.
   */
  readonly status: 'loading' | 'ready' | 'missing' | 'deleted' | 'failed' | 'forgotten';
  /** Why the last read failed, until one succeeds. What was read before stays. */
  readonly error: unknown;
  /**
   * The last events in append order, then those that are not stored yet. A change of them makes another array, which
   * takes about half a millisecond for 100,000 events.
   */
  readonly events: readonly Event[];
  /**
   * The same events in pages of at most 256, for a list that shows a part of a long session. A page without changes is
   * the same array in the next snapshot.
   */
  readonly pages: readonly (readonly Event[])[];
  /** The ids of those events that agents read as a summary. Empty with another view than `'transcript'`. */
  readonly summarised: ReadonlySet<string>;
  /** Whether there are events before the first one. */
  readonly hasOlder: boolean;
  /** Whether `loadOlder` is reading. */
  readonly isLoadingOlder: boolean;
  /** The run of the session, in this tab or another one, or what became of the newest message. Only with an agent. */
  readonly run: SessionRun | undefined;
  /**
   * The answers that are being streamed, in any tab; mostly none or one. Show each behind the events of its
   * `invocationId`: newer messages may wait below them. Only with an agent.
   */
  readonly drafts: readonly Event[];
  /** The calls that wait for the user; see `answer`. Only with an agent, and only those of the shown events. */
  readonly questions: readonly Question[];
  /**
   * The events that are not stored, by id: those under way and those that failed. With a `CachedSessionService`, also
   * those that wait for its remote, and those that the remote refused. Inherits nothing: any id may be looked up.
   */
  readonly unsent: Readonly<Record<string, UnsentEvent>>;
  /**
   * What the remote of a cache has refused of the session, besides events: its creation, title, labels or deletion. The
   * session is shown without it. The outbox of the cache sends it again, or gives it up.
   */
  readonly refused: readonly RefusedChange[];
  /**
   * The shown turns that were edited or regenerated, by `invocationId`: which version is shown, and the branches of the
   * ones beside it. Empty without the option `turns`. Inherits nothing.
   */
  readonly turns: ShownTurns;
  /** App, user and session state merged, with prefixes. */
  readonly state: Readonly<Partial<S>>;
  /** The state by scope. The keys have their prefixes. */
  readonly scopes: ScopedState<S>;
  /** Milliseconds since 1970; 0 without a session. */
  readonly lastUpdateTime: number;
  /** Absent without a title. */
  readonly title?: string;
  /** Absent without labels. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The options of `edit` and `send`. */
export interface AttachOptions {
  /**
   * Files to attach, at most 100. They are put before the message is stored; a text stands for each behind its content, and `filesOf`
   * tells them. A name that no file can have, or that a file of an agent has, gets another form.
   */
  readonly files?: readonly AttachedFile[] | undefined;
}

/** The options of `ask`. */
export interface AskOptions<S extends object = StateShape> extends AttachOptions {
  /** Whether the agent should stream its answer, so that drafts are shown. Default `true`. */
  readonly streaming?: boolean | undefined;
  /** Changes of the state that are stored with the message. */
  readonly stateDelta?: StateDelta<S> | undefined;
  /** @internal Called once the message is shown: from then on the store has it, also if it cannot be stored. */
  readonly onShown?: (() => void) | undefined;
}

/**
 * The content of a message that a page sends: a `Content`, without roles of other APIs, such as `'assistant'`, and
 * without a part `{}`, as far as the compiler knows them.
 */
export interface SentContent<R extends string = string, P extends Part = Part> {
  /** `'user'` or `'model'`. */
  role?: R & (string extends R ? unknown : 'user' | 'model');
  /** The parts of the message, in order. */
  parts?: (P & (keyof P extends never ? never : unknown))[];
}

/** A session as a store. */
export interface LiveSession<S extends object = StateShape> extends LiveStore<
  LiveSessionSnapshot<S>
> {
  /** The session that the store shows. Its names are empty while a component does not know them all. */
  readonly key: CompositeSessionKey;
  /**
   * Asks the agent: shows a message of the user at once, stores it, and lets the agent of the option `run`, or of the
   * server, answer. During another run of the session, in any tab, the message waits. A session that does not exist yet
   * is created.
   *
   * With `files` it is shown once they are put. If that fails, nothing of the message is stored or shown: the caller
   * still has it, with its files.
   *
   * @param content the message: a text, or `{ role: 'user', parts: [{ text: 'Which tea?' }] }`
   * @returns the message, once it is stored. The snapshot's `run` then tells about its run
   * @throws SessionError `invalid_argument` if the content has no part; `unsupported` without an agent; for files
   *   `artifact_service_missing`, `connection_lost` if they cannot be put now, and any error of a put; `remote` with
   *   status 413 if the message is larger than the server takes; `aborted` if it was cancelled before it was stored;
   *   what the agent threw before; any error of `appendEvent`
   */
  ask<R extends string, P extends Part>(
    content: SentContent<R, P> | string,
    options?: AskOptions<S>,
  ): Promise<Event>;
  /**
   * Answers calls that wait for the user, and lets the agent continue: see `questions` of the snapshot.
   *
   * @param answers the responses by the ids of the calls, as `{ [callId]: { confirmed: true } }`
   * @returns the event with the answers, once it is stored
   * @throws SessionError `invalid_argument` for a call that does not wait, or was answered; the errors of `ask`
   */
  answer(answers: Answers): Promise<Event>;
  /**
   * Cancels a run: fires the signal of its agent, waits at most a second for its end, and stores events that mark the
   * run as cancelled. Streamed texts are stored as interrupted answers. A message that waits in the queue is removed
   * and not stored. A stored message that nobody answers is marked as cancelled. Otherwise nothing happens.
   *
   * @param messageId the message. Default: the one that runs, or else waits, or else has no answer
   */
  cancel(messageId?: string): Promise<void>;
  /**
   * Stores a copy of an event that no agent answers, and returns the copy. It is in `events` at once. It stays there
   * with its error if it cannot be stored. A session that does not exist yet is created.
   *
   * The given event may be frozen, a proxy or of a snapshot. The store fills in id and timestamp, not the service.
   *
   * @throws SessionError as `appendEvent`; `invalid_argument` for a partial event; `not_found` if the session was
   *   deleted; `stale_session` if a rewind has undone the event's invocation since the store shows it
   */
  send<R extends string, P extends Part>(
    event: Omit<SentEvent, 'content'> & {
      readonly content?: SentContent<R, P> | string | undefined;
    },
    options?: AttachOptions,
  ): Promise<Event>;
  /**
   * Sends a failed event again, or asks a failed message again. Resumes the queue for a message that waits. Resolves to
   * `undefined` if there is no such event.
   */
  retry(eventId: string): Promise<Event | undefined>;
  /**
   * Removes an event that has failed, that the remote of a cache has refused, or a message that waits for its run. It
   * is gone at once, offline too. A first message takes its session with it, unless somebody has changed that.
   */
  discard(eventId: string): Promise<void>;
  /**
   * Edits a message of the user: undoes its turn and all later ones by a rewind, and stores the new message with it, in
   * an invocation of its own. Nothing is deleted: the turns are another branch. The title stays; see `rename`.
   * A run under way ends with it. Then the agent answers, as for `ask`. The new message has the given files, and those
   * files of the old one whose text is in its content.
   *
   * @param content the new message: a text, or `{ role: 'user', parts: [{ text: 'Black tea?' }] }`
   * @returns the event of the message, once it is stored
   * @throws SessionError `not_found` for an unknown event; `invalid_argument` if the event is not the message with
   *   which a user began a turn; `unsupported` over `adk api_server`; any error of `appendEvents`
   */
  edit<R extends string, P extends Part>(
    eventId: string,
    content: SentContent<R, P> | string,
    options?: AttachOptions,
  ): Promise<Event>;
  /**
   * Gets another answer: undoes a turn and all later ones by a rewind, and stores the user's message again with it, in
   * an invocation of its own. A run under way ends with it. Then the agent answers, as for `ask`.
   *
   * @param eventId any event of the turn
   * @returns the event of the message, once it is stored
   * @throws SessionError `not_found` for an unknown event; `invalid_argument` if no message of a user comes before;
   *   `unsupported` over `adk api_server`; any error of `appendEvents`
   */
  regenerate(eventId: string): Promise<Event>;
  /**
   * Lists where the transcript has other branches, as `branches` of `adk-session-wasm/history`. It reads the whole
   * session when the branches may have changed; otherwise it resolves to the same array.
   *
   * @throws SessionError `not_found`, and any error of `getSession`
   */
  branches(): Promise<readonly TurnBranches[]>;
  /**
   * Shows another branch of {@link LiveSession.branches}.
   *
   * @throws SessionError `not_found` for an unknown branch; `unsupported` over `adk api_server`; any error of
   *   `appendEvents`
   */
  switchBranch(branch: string): Promise<void>;
  /**
   * Puts older events before the first.
   *
   * @param limit the most events, 1 to 1,000; default: the window
   * @returns whether there are still older events
   * @throws SessionError as `loadOlder` of the service
   */
  loadOlder(limit?: number): Promise<boolean>;
  /**
   * Changes the state, as `updateState` of the service. A session that does not exist yet is created.
   *
   * @throws SessionError as `updateState` of the service
   */
  updateState(delta: StateDelta<S> | ComputeDelta<S>): Promise<void>;
  /**
   * Changes the title; `null` removes it. A session that does not exist yet is created.
   *
   * @throws SessionError as `updateSession` of the service
   */
  rename(title: string | null): Promise<void>;
  /** Deletes the session. The store then has the status `deleted`. */
  remove(): Promise<void>;
}

/** Which sessions a store lists, and in which order. */
export interface LiveSessionsRequest<K extends string = string> extends Omit<
  SessionsRequest<K>,
  'signal'
> {
  /** Default `'desc'`: the newest first. */
  order?: 'asc' | 'desc' | undefined;
  /** The number of sessions that are read at first, and that each `loadMore` adds; at least 1, default 50. */
  limit?: number | undefined;
}

/** A session of a list, without its events. */
export type ListedSession<S extends object = StateShape> = Readonly<Session<S>> & {
  /** What the remote of a cache has refused of it; see `LiveSessionSnapshot`. Absent without such a change. */
  readonly refused?: readonly RefusedChange[];
};

/** A list of sessions as it is now. Snapshots are never changed. A session that has not changed is the same object. */
export interface LiveSessionsSnapshot<S extends object = StateShape> {
  /**
   * `loading`: nothing has been read yet. `ready`. `failed`: the first read failed, see `error`. `forgotten`: a cache
   * has forgotten its local data; `reload` reads again.
   */
  readonly status: 'loading' | 'ready' | 'failed' | 'forgotten';
  /** Why the last read failed, until one succeeds. What was read before stays. */
  readonly error: unknown;
  /** The sessions without their events. */
  readonly sessions: readonly ListedSession<S>[];
  /** Whether there are more sessions. */
  readonly hasMore: boolean;
}

/** A list of sessions as a store. */
export interface LiveSessions<S extends object = StateShape> extends LiveStore<
  LiveSessionsSnapshot<S>
> {
  /** Adds the next sessions to the list. */
  loadMore(): Promise<void>;
  /**
   * Creates a session of the list's user.
   *
   * @throws SessionError as `createSession` of the service
   */
  create(
    request?: Omit<CreateSessionRequest<S>, 'appName' | 'userId' | 'signal'>,
  ): Promise<Session<S>>;
  /**
   * Changes the title of a session, mostly an element of a snapshot; `null` removes it.
   *
   * @throws SessionError as `updateSession` of the service
   */
  rename(session: Pick<Session, 'id' | 'userId'>, title: string | null): Promise<void>;
  /** Deletes a session. */
  remove(session: Pick<Session, 'id' | 'userId'>): Promise<void>;
}

/**
 * The defaults for the components of a page: a service, and whose sessions it shows.
 *
 * Before a login, a name may be `undefined`. Then a session is `missing`, a list and a search are `ready` and empty, the
 * service is not asked, and each change rejects with `invalid_argument`.
 */
export interface ProvidedSessions<S extends object = StateShape> {
  /** The service, or the promise of `openSessionService`. It must be the same object in each render. */
  readonly service: SessionService<S> | Promise<SessionService<S>>;
  /** The app; `undefined` while it is not known. */
  readonly appName: string | undefined;
  /** The user; `undefined` while nobody is known, as before a login. */
  readonly userId: string | undefined;
  /** The session of components without a `sessionId` of their own; `undefined` while it is not known. */
  readonly sessionId?: string | undefined;
  /** See `LiveSessionOptions`. */
  readonly window?: number | undefined;
  /** See `LiveSessionOptions`. */
  readonly view?: HistoryView | undefined;
  /** See `LiveSessionOptions`. */
  readonly turns?: boolean | undefined;
  /** The agent that answers in all sessions; see `LiveSessionOptions`. */
  readonly run?: RunAgent | undefined;
  /** The state of a session that its first message creates, unless a component has an `initialState` of its own. */
  readonly initialState?: Partial<S> | undefined;
}

/** Some members of a type. One that is `undefined` counts as absent. */
export type AnyMembers<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

export type { ShownTurn };

/** Turns with several versions, by `invocationId`. */
export type ShownTurns = Readonly<Record<string, ShownTurn>>;

/**
 * Unsent changes of one session or shared state of a `CachedSessionService`: events, a creation, a title, a state or a
 * deletion. An entry has either one change that the remote refused, with the changes that wait for that change, or all
 * changes that wait only for the remote. `key` and `id` together name the entry.
 */
export interface UnsentEntry extends OutboxEntry {
  /** Sends again what was refused. Resolves once it is queued, as `retry` of the outbox. */
  readonly retry: () => Promise<void>;
  /**
   * Gives up the refused event or deletion, and sends what has waited for it. If something else was refused, or nothing,
   * it gives up everything of the entry. See `drop` of the outbox.
   */
  readonly discard: () => Promise<void>;
}
