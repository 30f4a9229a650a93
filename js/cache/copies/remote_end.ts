import type { MaybePromise } from '../../call/call.js';
import { raceSignal } from '../../call/time_limit.js';
import { isSessionError } from '../../errors/errors.js';
import { isPlainObject } from '../../json/rules.js';
import type { Event } from '../../model/event/event.js';
import type { HostAbortSignal } from '../../model/host.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { readChanges } from '../../read/changes_since.js';
import type { ServiceCore } from '../../service/service_core.js';
import type { StateShape } from '../../state/state_shape.js';
import type { StateOwner } from '../../storage/scopes.js';
import type { ListedSession, SessionStore } from '../../storage/session_store.js';
import { closedError, erasedError, isOutage, isRefusal } from '../records/failures.js';
import { prefixOf } from '../records/records.js';
import type { Base, Cleared } from '../records/session_record.js';
import type { StatusBoard } from '../records/status.js';
import type { Unsent } from './unsent.js';

/** A session of the remote, or what has changed in it. */
export interface RemoteSession {
  /** `null` if the remote has no revisions. */
  readonly created: number | null;
  readonly revision: number;
  readonly lastUpdateTime: number;
  readonly title: string;
  /** JSON text. */
  readonly labels: string;
  readonly events: Event[];
  /** Absent if nothing has changed. */
  readonly state: StateShape | undefined;
  /** Whether the events replace all of the copy. */
  readonly isWhole: boolean;
  /** The number of events, if older ones may be missing. */
  readonly windowSize?: number | undefined;
}

/** A list of the remote's sessions. */
export interface RemoteList {
  readonly sessions: readonly ListedSession[];
  /** Whether these are all sessions. */
  readonly isWhole: boolean;
  /** The state of the app, if the list tells it. Its keys have no prefix. */
  readonly appState: StateShape | undefined;
  /** The same of the user. */
  readonly userState: StateShape | undefined;
}

/** A request to the remote, with what ends it when the cache is closed. */
export type RemoteCall<T> = (
  store: SessionStore,
  call: { readonly signal: HostAbortSignal },
) => MaybePromise<T>;

export interface RemoteEndParts {
  readonly core: ServiceCore;
  readonly board: StatusBoard;
  readonly unsent: Unsent;
  /** Fires when the cache is closed. */
  readonly closing: HostAbortSignal;
  /** Called when the remote orders to erase the local data. */
  readonly onForget: () => void;
}

/** The remote, and whether it can be reached. */
export class RemoteEnd {
  readonly core: ServiceCore;
  readonly #parts: RemoteEndParts;
  /** Whether this tab's last request failed, and was not refused. */
  #hasFailed = false;

  constructor(parts: RemoteEndParts) {
    this.core = parts.core;
    this.#parts = parts;
  }

  /** Asks the remote. Rejects when the cache is closed or erased, also if the remote never answers. */
  async ask<T>(run: RemoteCall<T>): Promise<T> {
    const { core, board, unsent, closing, onForget } = this.#parts;
    const { erasure } = unsent.pins;
    let result: T;
    try {
      if (closing.aborted) throw closedError();
      const asked = (async () =>
        core.callStore(closing, (store) => run(store, { signal: closing })))();
      result = await raceSignal(erasure, raceSignal(closing, asked));
    } catch (error) {
      if (closing.aborted) throw closedError();
      if (erasure.aborted) throw erasedError();
      if (isForgetOrder(error)) onForget();
      if (isRefusal(error)) {
        this.#showOnline();
      } else {
        this.#hasFailed = true;
        if (isOutage(error)) board.set({ online: false });
      }
      throw error;
    }
    if (erasure.aborted) throw erasedError();
    this.#showOnline();
    return result;
  }

  #showOnline(): void {
    const isRecovered = this.#hasFailed || !this.#parts.board.status.online;
    this.#hasFailed = false;
    const answered = { online: true, lastSuccess: Date.now() };
    this.#parts.board.set(isRecovered ? { ...answered, lastError: undefined } : answered);
  }

  /**
   * Reads the state of a user or an app. Its keys have no prefix.
   *
   * @param clears the unsent deletions, also those that come during the request: the answer must not bring deleted data back
   */
  async sharedState(owner: StateOwner, clears: ReadonlySet<Cleared>): Promise<StateShape> {
    const text = await this.ask((store, call) => store.sharedState(owner, call));
    return isCleared(prefixOf(owner), clears) ? {} : (JSON.parse(text) as StateShape);
  }

  /** Lists the newest sessions of a user, or of all users of an app. */
  async list({ appName, userId }: StateOwner, limit: number): Promise<RemoteList> {
    const page = {
      limit,
      page: undefined,
      withTotal: true,
      orderBy: 'lastUpdateTime',
    } as const;
    const read = await this.ask((store, call) => store.list(appName, userId, true, page, call));
    const [sessions, total, [app, , user]] = read;
    // Without a session the list does not tell the states, and older servers never do.
    const stateOf = (text = '{}'): StateShape | undefined =>
      text === '{}' ? undefined : (JSON.parse(text) as StateShape);
    const isWhole = total <= sessions.length;
    return { sessions, isWhole, appState: stateOf(app), userState: stateOf(user) };
  }

  /**
   * Reads what has changed since a base, or a whole session if the remote cannot tell.
   *
   * @param clears as for {@link sharedState}
   */
  async changes(
    key: CompositeSessionKey,
    base: Base,
    clears: ReadonlySet<Cleared>,
  ): Promise<RemoteSession | undefined> {
    const { created, revision: since, windowSize } = base;
    const request = { ...key, since, created: created ?? undefined };
    const changes = await this.ask((store, call) => readChanges(store, { ...request, ...call }));
    if (changes === undefined || clears.has('user')) return undefined;
    const { events, state, title = '', labels } = changes;
    if (events === undefined || changes.created !== created) {
      const last = windowSize === undefined ? undefined : Math.max(windowSize, 1);
      return this.session(key, last, clears);
    }
    return {
      created,
      revision: changes.revision,
      lastUpdateTime: changes.lastUpdateTime,
      title,
      labels: labels === undefined ? '' : JSON.stringify(labels),
      events: events.map(({ event }) => event),
      state: state && withoutCleared(state, clears),
      isWhole: false,
      windowSize,
    };
  }

  /**
   * Reads a session with its newest events; `last` absent: with all.
   *
   * @param clears as for {@link sharedState}
   */
  async session(
    key: CompositeSessionKey,
    last: number | undefined,
    clears: ReadonlySet<Cleared>,
  ): Promise<RemoteSession | undefined> {
    const read = await this.ask((store, call) => store.get(key, last, undefined, call));
    if (read === undefined || clears.has('user')) return undefined;
    const [created, revision, lastUpdateTime, state, fragments, title = '', labels = ''] = read;
    const events = this.core.pages.parse(fragments, key.sessionId, false);
    return {
      ...remoteRevision(created, revision, lastUpdateTime),
      lastUpdateTime,
      title,
      labels,
      events,
      state: withoutCleared(JSON.parse(state) as StateShape, clears),
      isWhole: true,
      windowSize: last !== undefined && events.length >= last ? events.length : undefined,
    };
  }
}

/** Whether keys with this beginning are to be deleted. */
export function isCleared(key: string, clears: ReadonlySet<Cleared>): boolean {
  if (key.startsWith('app:')) return clears.has('appState');
  return key.startsWith('user:') && (clears.has('userState') || clears.has('user'));
}

function withoutCleared(state: StateShape, clears: ReadonlySet<Cleared>): StateShape {
  if (clears.size === 0) return state;
  return Object.fromEntries(Object.entries(state).filter(([key]) => !isCleared(key, clears)));
}

/** Returns the revisions of the remote's session. Without revisions, its time of the last update stands for them. */
export function remoteRevision(
  created: number,
  revision: number,
  lastUpdateTime: number,
): Pick<RemoteSession, 'created' | 'revision'> {
  return created > 0 ? { created, revision } : { created: null, revision: lastUpdateTime };
}

/** Status 410 with the code `forget` in its JSON. */
function isForgetOrder(error: unknown): boolean {
  if (!isSessionError(error, 'remote') || error.status !== 410) return false;
  try {
    const body: unknown = JSON.parse(error.body ?? '');
    return isPlainObject(body) && body.code === 'forget';
  } catch {
    return false;
  }
}
