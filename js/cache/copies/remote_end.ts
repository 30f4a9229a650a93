import { onAbort } from '../../call/on_abort.js';
import { isSessionError, SessionError, sessionErrorOf } from '../../errors/errors.js';
import { messageOf } from '../../errors/describe.js';
import { codeOf } from '../../call/diagnostics.js';
import { isPlainObject } from '../../json/rules.js';
import type { Event } from '../../model/event/event.js';
import type { HostAbortSignal } from '../../model/host.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { readChanges } from '../../read/changes_since.js';
import type { ServiceCore } from '../../service/service_core.js';
import type { StateShape } from '../../state/state_shape.js';
import type { SessionStore } from '../../storage/session_store.js';
import type { MaybePromise } from '../../call/call.js';
import type { Base } from '../records/session_record.js';
import type { CacheFailure, StatusBoard } from '../records/status.js';

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
  readonly held?: number | undefined;
}

/** A request to the remote, with what ends it when the cache is closed. */
export type RemoteCall<T> = (
  store: SessionStore,
  call: { readonly signal: HostAbortSignal },
) => MaybePromise<T>;

/** The remote, and whether it can be reached. */
export class RemoteEnd {
  readonly #core: ServiceCore;
  readonly #board: StatusBoard;
  readonly #signal: HostAbortSignal;
  readonly #onForget: () => void;
  #erasure = new AbortController();

  /** @param onForget called when the remote orders to erase the local data */
  constructor(
    core: ServiceCore,
    board: StatusBoard,
    signal: HostAbortSignal,
    onForget: () => void,
  ) {
    this.#core = core;
    this.#board = board;
    this.#signal = signal;
    this.#onForget = onForget;
  }

  readonly parse: ServiceCore['pages']['parse'] = (...values) => this.#core.pages.parse(...values);

  /** Ends the requests that are under way: their answers would be stored after the local data was erased. */
  noteErasure(): void {
    this.#erasure.abort();
    this.#erasure = new AbortController();
  }

  /** Fires when the local data is erased. */
  get erasure(): HostAbortSignal {
    return this.#erasure.signal;
  }

  /** Asks the remote. Rejects when the cache is closed or erased, also if the remote never answers. */
  async ask<T>(run: RemoteCall<T>): Promise<T> {
    const { erasure } = this;
    let result: T;
    try {
      result = await this.#untilEnded(erasure, run);
    } catch (error) {
      if (this.#signal.aborted) throw closedError();
      if (erasure.aborted) throw erasedError();
      if (isForgetOrder(error)) this.#onForget();
      if (isRefusal(error)) this.#noteAnswer();
      else this.#board.set({ online: false });
      throw error;
    }
    if (erasure.aborted) throw erasedError();
    this.#noteAnswer();
    return result;
  }

  #untilEnded<T>(erasure: HostAbortSignal, run: RemoteCall<T>): Promise<T> {
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw closedError();
      const stops = [signal, erasure].map((end) => onAbort(end, () => reject(closedError())));
      const asked = (async () => this.#core.callStore(signal, (store) => run(store, { signal })))();
      void asked.then(resolve, reject).then(() => stops.forEach((stop) => stop()));
    });
  }

  #noteAnswer(): void {
    const wasOnline = this.#board.status.online;
    const answered = { online: true, lastSuccess: Date.now() };
    this.#board.set(wasOnline ? answered : { ...answered, lastError: undefined });
  }

  /** Reads what has changed since a base, or a whole session if the remote cannot tell. */
  async changes(key: CompositeSessionKey, base: Base): Promise<RemoteSession | undefined> {
    const { created, revision: since, held } = base;
    const request = { ...key, since, created: created ?? undefined };
    const changes = await this.ask((store, call) => readChanges(store, { ...request, ...call }));
    if (changes === undefined) return undefined;
    const { events, state, title = '', labels } = changes;
    if (events === undefined || changes.created !== created) {
      return this.session(key, held === undefined ? undefined : Math.max(held, 1));
    }
    return {
      created,
      revision: changes.revision,
      lastUpdateTime: changes.lastUpdateTime,
      title,
      labels: labels === undefined ? '' : JSON.stringify(labels),
      events: events.map(({ event }) => event),
      state,
      isWhole: false,
      held,
    };
  }

  /** Reads a session with its newest events; `last` absent: with all. */
  async session(
    key: CompositeSessionKey,
    last: number | undefined,
  ): Promise<RemoteSession | undefined> {
    const read = await this.ask((store, call) => store.get(key, last, undefined, call));
    if (read === undefined) return undefined;
    const [created, revision, lastUpdateTime, state, fragments, title = '', labels = ''] = read;
    const events = this.parse(fragments, key.sessionId, false);
    return {
      ...remoteRevision(created, revision, lastUpdateTime),
      lastUpdateTime,
      title,
      labels,
      events,
      state: JSON.parse(state) as StateShape,
      isWhole: true,
      held: last !== undefined && events.length >= last ? events.length : undefined,
    };
  }
}

/** Returns the revisions of the remote's session. Without revisions, its time of the last update stands for them. */
export function remoteRevision(
  created: number,
  revision: number,
  lastUpdateTime: number,
): Pick<RemoteSession, 'created' | 'revision'> {
  return created > 0 ? { created, revision } : { created: null, revision: lastUpdateTime };
}

export function closedError(): SessionError {
  return new SessionError('closed', 'The cache was closed; what waits is sent later.');
}

export function erasedError(): SessionError {
  return new SessionError('aborted', 'The local data was erased meanwhile.');
}

/** Codes of requests that the remote will never accept. */
const REFUSALS: readonly string[] = [
  'invalid_argument',
  'already_exists',
  'not_found',
  'stale_session',
  'unserializable',
  'schema_violation',
  'readonly',
  'ambiguous',
  'unsupported',
  'corrupt_record',
];

/** Whether the same request will fail again. */
export function isRefusal(error: unknown): boolean {
  if (!isSessionError(error)) return false;
  if (REFUSALS.includes(error.code)) return true;
  return error.code === 'remote' && [400, 413, 422].includes(error.status ?? 0);
}

export function failureOf(error: unknown): CacheFailure {
  const { key, path } = isSessionError(error) ? error : {};
  return {
    code: codeOf(error),
    message: messageOf(error),
    ...(key !== undefined && { key }),
    ...(path !== undefined && { path }),
  };
}

/** Returns an error that says the same as one that {@link failureOf} has converted. */
export function errorOf({ code, message, key, path }: CacheFailure): SessionError {
  return sessionErrorOf(code, message, { key, path });
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
