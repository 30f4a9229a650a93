import { raceSignal } from '../../call/time_limit.js';
import type { MaybePromise } from '../../call/call.js';
import { isSessionError, type SessionError } from '../../errors/errors.js';
import { isPlainObject } from '../../json/rules.js';
import type { Event } from '../../model/event/event.js';
import type { HostAbortSignal } from '../../model/host.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { EventCount } from '../../model/values/event_count.js';
import type { ServiceCore } from '../../service/service_core.js';
import type { Backend, ReadSession } from '../../storage/backend.js';
import { isOutage, isRefusal, isSignedOut } from '../records/failures.js';
import type { Copy } from '../records/records.js';
import type { StatusBoard } from '../records/status.js';
import type { JsonState } from '../view/json_state.js';
import type { RemoteEvent } from './copied_events.js';

/** A session as the remote has it. */
export interface RemoteSession {
  /** `null`: the remote has no revisions. */
  readonly created: number | null;
  /** Without revisions, the time of the last update. */
  readonly revision: number;
  readonly lastUpdateTime: number;
  readonly createTime?: number | undefined;
  readonly title: string;
  /** JSON text. */
  readonly labels: string;
  /** JSON text. Absent if the session has no parent, and in changes. */
  readonly parent?: string | undefined;
  /** With the keys of all scopes. Absent if nothing has changed. */
  readonly state: JsonState | undefined;
  readonly events: readonly RemoteEvent[];
  /** Whether there are older events, or may be. */
  readonly hasOlder: boolean;
  /** The revision after which the events have changed. Absent: these are the newest of all. */
  readonly since: number | undefined;
}

/** A request to the remote, with what ends it when the cache is closed. */
export type RemoteCall<T> = (
  backend: Backend,
  call: { readonly signal: HostAbortSignal },
) => MaybePromise<T>;

export interface RemoteEndParts {
  readonly core: ServiceCore;
  readonly board: StatusBoard;
  /** Called when the remote orders to erase the local data. */
  readonly onForget: () => void;
}

/** The remote, and whether it can be reached. */
export class RemoteEnd {
  readonly core: ServiceCore;
  readonly #parts: RemoteEndParts;
  readonly #erasure = new AbortController();
  #isClosed = false;
  /** Whether this tab's last request failed, and was not refused. */
  #hasFailed = false;

  constructor(parts: RemoteEndParts) {
    this.core = parts.core;
    this.#parts = parts;
  }

  /** Fires when the local data is erased or the cache is closed, with the reason as an error. */
  get erasure(): HostAbortSignal {
    return this.#erasure.signal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends all requests, also those to come, because the local data is erased or the cache is closed. */
  close(reason: SessionError): void {
    this.#isClosed = true;
    this.#erasure.abort(reason);
  }

  /** Asks the remote. Rejects when the local data is erased or the cache is closed, also if the remote never answers. */
  async ask<T>(run: RemoteCall<T>): Promise<T> {
    const { core, board, onForget } = this.#parts;
    const { signal } = this.#erasure;
    let result: T;
    try {
      // A request that has not left yet never does.
      const asked = (async () => core.callBackend(signal, (backend) => run(backend, { signal })))();
      result = await raceSignal(signal, asked);
    } catch (error) {
      signal.throwIfAborted();
      if (isForgetOrder(error)) onForget();
      if (isRefusal(error)) {
        this.#showAnswer();
      } else if (isSignedOut(error)) {
        this.#hasFailed = true;
        board.set({ isOnline: true, isSignedOut: true });
      } else {
        this.#hasFailed = true;
        if (isOutage(error)) board.set({ isOnline: false });
      }
      throw error;
    }
    signal.throwIfAborted();
    this.#showAnswer();
    return result;
  }

  #showAnswer(): void {
    const { board } = this.#parts;
    const { isOnline, isSignedOut } = board.status;
    const isRecovered = this.#hasFailed || !isOnline || isSignedOut;
    this.#hasFailed = false;
    const answered = { isOnline: true, isSignedOut: false, lastSuccess: Date.now() };
    board.set(isRecovered ? { ...answered, lastError: undefined } : answered);
  }

  /** Reads what has changed since the copy, or a whole session if the remote cannot tell. */
  async changes(key: CompositeSessionKey, copy: Copy): Promise<RemoteSession | undefined> {
    const { created, revision: since } = copy;
    const request = { key, since, created: created ?? undefined };
    const changes = await this.ask((backend, call) => backend.changes({ ...request, ...call }));
    if (changes === undefined) return undefined;
    const { events, state, title = '', labels } = changes;
    if (events === undefined || changes.created !== created) {
      const size = copy.next - copy.first;
      return this.session(key, copy.hasOlder ? Math.max(size, 1) : 'all');
    }
    return {
      ...{ created, revision: changes.revision, lastUpdateTime: changes.lastUpdateTime },
      ...{ title, labels: labels === undefined ? '' : JSON.stringify(labels), state },
      events: events.map(({ seq, revision, event }) => ({ ...remoteEvent(event), seq, revision })),
      ...{ hasOlder: copy.hasOlder, since },
    };
  }

  /** Reads a session with its newest events. */
  async session(key: CompositeSessionKey, last: EventCount): Promise<RemoteSession | undefined> {
    const read = await this.ask((backend, call) => backend.get({ key, last, ...call }));
    return read && sessionOf(read, last);
  }

  /** Reads the events before one; `undefined` if the remote has no pages, or not that event. */
  async older(
    key: CompositeSessionKey,
    eventId: string,
    limit: number,
  ): Promise<Pick<RemoteSession, 'created' | 'events' | 'hasOlder'> | undefined> {
    const page = { key, direction: 'before', eventId, limit, withCount: false } as const;
    const read = await this.ask(async (backend, call) => {
      try {
        return await backend.page({ ...page, ...call });
      } catch (error) {
        if (isSessionError(error, 'unsupported')) return undefined;
        throw error;
      }
    });
    if (read?.events === undefined) return undefined;
    const { created, hasOlder = false } = read;
    return {
      created: created > 0 ? created : null,
      events: read.events.map(remoteEvent),
      hasOlder,
    };
  }
}

function sessionOf(read: ReadSession, last: EventCount): RemoteSession {
  const { created, revision, lastUpdateTime, state, events, parent } = read;
  const { title = '', labels = '' } = read;
  return {
    ...remoteRevision(created, revision, lastUpdateTime),
    ...{ lastUpdateTime, title, labels, parent, state: JSON.parse(state) as JsonState },
    events: events.map(remoteEvent),
    hasOlder: last !== 'all' && events.length >= last,
    since: undefined,
  };
}

export function remoteEvent(event: Event): RemoteEvent {
  return { id: event.id, timestamp: event.timestamp, text: JSON.stringify(event) };
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
