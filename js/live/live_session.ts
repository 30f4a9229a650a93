import type { TurnBranches } from '../history/index.js';
import type { Content } from '../model/event/content.js';
import type { Event } from '../model/event/event.js';
import type { HostAbortSignal } from '../model/host.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { HistoryView } from '../model/values/history_view.js';
import type { SentEvent } from '../runs/run_agent.js';
import type { ComputeDelta, StateDelta, StateShape } from '../state/state_shape.js';
import type { LiveStore } from './live_store.js';
import type { ScopedState } from './snapshot/scoped_state.js';
import type { UnsentEvent } from './snapshot/unsent_events.js';

/**
 * The options of {@link liveSession}.
 *
 * @example
 * ```ts
 * import type { LiveSessionOptions } from 'adk-session-wasm/live';
 *
 * const options: LiveSessionOptions = { window: 20 };
 * ```
 */
export interface LiveSessionOptions<S extends object = StateShape> {
  /** The number of events that are read at first, and by each `loadOlder`; 1 to 1,000, default 50. */
  window?: number | undefined;
  /** The state of the session, if the store creates it: by its first message, for example. Default: none. */
  initialState?: Partial<S> | undefined;
  /**
   * Which events count after rewinds and compactions. Default `'transcript'`: undone turns are not shown, and those that
   * a compaction sums up are named in `summarised`.
   */
  view?: HistoryView | undefined;
}

/**
 * A session as it is now. Snapshots are never changed. What has not changed from one to the next is the same object:
 * an event, a page, a scope of the state, a value in it.
 *
 * @example
 * ```ts
 * import type { LiveSessionSnapshot } from 'adk-session-wasm/live';
 *
 * const lines = ({ events, drafts }: LiveSessionSnapshot): string[] =>
 *   [...events, ...drafts].map(({ content }) => content?.parts?.[0]?.text ?? '');
 * ```
 */
export interface LiveSessionSnapshot<S extends object = StateShape> {
  /**
   * `loading`: nothing has been read yet. `ready`. `missing`: there is no such session yet. `deleted`: it was deleted
   * since. `failed`: the first read failed, see `error`. `forgotten`: a cache has erased its local data; nothing is shown,
   * and `send` rejects, until `reload` reads again.
   */
  readonly status: 'loading' | 'ready' | 'missing' | 'deleted' | 'failed' | 'forgotten';
  /** Why the last read failed; `undefined` if it succeeded. What was read before stays. */
  readonly error: unknown;
  /** The last events in append order, then those that are not stored yet. */
  readonly events: readonly Event[];
  /**
   * The same events in pages of at most 256, for a list that shows a part of a long session. The array `events` of
   * 100,000 events takes milliseconds to make, so it is made only when it is read.
   */
  readonly pages: readonly (readonly Event[])[];
  /** The ids of those events that agents read as a summary. Empty with another view than `'transcript'`. */
  readonly summarised: ReadonlySet<string>;
  /** Whether there are events before the first one. */
  readonly hasOlder: boolean;
  /** Whether `loadOlder` is reading. */
  readonly isLoadingOlder: boolean;
  /** The streamed answers so far, mostly none or one. Show them after the events. */
  readonly drafts: readonly Event[];
  /**
   * The events that are not stored, by id: those under way and those that failed. With a `CachedSessionService`, also
   * those that wait for its remote, and those that the remote refused. Inherits nothing: any id may be looked up.
   */
  readonly unsent: Readonly<Record<string, UnsentEvent>>;
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

/**
 * The options of `edit` and `regenerate`.
 *
 * @example
 * ```ts
 * import type { TurnOptions } from 'adk-session-wasm/live';
 *
 * const options: TurnOptions = { storedBy: 'agent' };
 * ```
 */
export interface TurnOptions {
  /**
   * `'chat'`: the call stores the user's message, with the marker in one step. `'agent'`: the run stores it, as a
   * `Runner` does. Default `'chat'`.
   */
  readonly storedBy?: 'chat' | 'agent' | undefined;
}

/**
 * A session as a store.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { type LiveSession, liveSession } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const chat: LiveSession = liveSession(service, { appName: 'shop', userId: 'ada', sessionId: 's1' });
 * await chat.send({ author: 'user', content: { role: 'user', parts: [{ text: 'Which tea?' }] } });
 * await chat.load();
 * console.log(chat.getSnapshot().events.length); // 1
 * ```
 */
export interface LiveSession<S extends object = StateShape> extends LiveStore<
  LiveSessionSnapshot<S>
> {
  /** The session that the store shows. */
  readonly key: CompositeSessionKey;
  /**
   * Stores a copy of the event, and returns the copy. It is in `events` at once. It stays there with its error if it
   * cannot be stored. A session that does not exist yet is created.
   *
   * A partial event is not stored: it grows the draft of its invocation, author and branch. The whole event that
   * follows ends the draft. So all events of a run may be sent; those that the run has stored itself change nothing.
   *
   * The given event may be frozen, a proxy or of a snapshot. The store fills in id and timestamp, not the service.
   *
   * @throws SessionError as `appendEvent`; `not_found` if the session was deleted; `stale_session` if a rewind has undone
   *   the event's invocation since the store shows it
   */
  send(event: SentEvent): Promise<Event>;
  /** Sends an event again that has failed. Resolves to `undefined` if there is no such event. */
  retry(eventId: string): Promise<Event | undefined>;
  /** Removes an event that has failed: at once, or, if a remote refused it, as `drop` of the cache's outbox. */
  discard(eventId: string): Promise<void>;
  /** Drops the drafts, for an answer that ends without a whole event. */
  discardDrafts(): void;
  /**
   * Runs an agent. `edit`, `regenerate` and `switchBranch` of this store abort the run: they fire its signal, and wait
   * until it has ended, at most a second. `send` refuses its later events with `stale_session`.
   *
   * @param answer runs the agent; what it returns or throws is the result of the call
   */
  run<Result>(answer: (signal: HostAbortSignal) => Promise<Result>): Promise<Result>;
  /**
   * Edits a message of the user: undoes its turn and all later ones by a rewind, and stores the new message in an
   * invocation of its own. Nothing is deleted: the turns are another branch. A title that came from the message follows.
   * Run the agent afterwards.
   *
   * @param content the new message, as `{ role: 'user', parts: [{ text: 'Black tea?' }] }`
   * @returns the event of the message; with `storedBy: 'agent'` it is not stored
   * @throws SessionError `not_found` for an unknown event; `invalid_argument` if the event is not the message with which
   *   a user began a turn; `unsupported` over `adk api_server`; any error of `appendEvents`
   */
  edit(eventId: string, content: Content, options?: TurnOptions): Promise<Event>;
  /**
   * Undoes a turn and all later ones by a rewind, to have another answer. Stores the user's message again, in an
   * invocation of its own; if the answer has one without the message, the message stays. Run the agent afterwards.
   *
   * @param eventId any event of the turn
   * @returns the event of the message; with `storedBy: 'agent'` it is not stored
   * @throws SessionError `not_found` for an unknown event; `invalid_argument` if no message of a user comes before;
   *   `unsupported` over `adk api_server`; any error of `appendEvents`
   */
  regenerate(eventId: string, options?: TurnOptions): Promise<Event>;
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
