import { KeyedQueue } from '../../core/call/scheduling.js';
import { takeRequest } from '../../core/call/call.js';
import { coreOf } from '../../core/core_of.js';
import type { GivenService } from '../../core/call/given_service.js';
import { requireWhole } from '../../values/errors/option_values.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import { requireId, requireOwner } from '../../values/model/values/ids.js';
import type {
  CompositeSessionKey,
  CreateSessionRequest,
  Session,
} from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { ListenOptions } from '../../values/model/notice.js';
import { copyState } from '../../service/runs/agent/copies.js';
import { onNextFrame, ReadingStore } from './reading_store.js';
import { keepElements } from './snapshot/keep_elements.js';
import { keepRefused, type RefusedChange } from './snapshot/refused_changes.js';
import type {
  ListedSession,
  LiveSessions,
  LiveSessionsRequest,
  LiveSessionsSnapshot,
} from './types.js';
import type { StateShape } from '../../values/state/state_shape.js';

const NO_SESSIONS: readonly never[] = [];

/** A live list over the public interface of a service. It is read again after each change, once a frame. */
export class LiveSessionsStore<S extends object>
  extends ReadingStore<S, LiveSessionsSnapshot<S>>
  implements LiveSessions<S>
{
  readonly #request: LiveSessionsRequest<keyof S & string>;
  readonly #limit: number;
  /** The number of sessions to show. */
  #count: number;
  /** Absent until the first read. */
  #sessions: readonly Session<S>[] | undefined;
  /** By session. */
  #refused: ReadonlyMap<string, readonly RefusedChange[]> = new Map();
  readonly #listedSessions = new WeakMap<Session<S>, ListedSession<S>>();
  #shown: readonly ListedSession<S>[] = NO_SESSIONS;
  #hasMore = false;
  #loadingMore: Promise<void> | undefined;
  /** Services may run calls at the same time in any order. */
  readonly #renames = new KeyedQueue();

  constructor(
    service: GivenService<SessionService<S>>,
    given: LiveSessionsRequest<keyof S & string>,
  ) {
    super(service);
    const { limit = 50, ...request } = takeRequest(given);
    requireOwner(request);
    requireWhole('limit', limit, 1, Infinity);
    this.#request = { order: 'desc', ...request };
    this.#limit = limit;
    this.#count = limit;
  }

  protected watch(service: SessionService<S>, options: ListenOptions): void {
    const { appName, userId } = this.#request;
    service.watch({ appName, userId }, options);
  }

  loadMore(): Promise<void> {
    return (this.#loadingMore ??= this.#readMore().finally(() => (this.#loadingMore = undefined)));
  }

  async create(
    request: Omit<CreateSessionRequest<S>, 'appName' | 'userId' | 'signal'> = {},
  ): Promise<Session<S>> {
    const { appName, userId } = this.#request;
    requireId('userId', userId);
    const { state, labels } = request;
    const taken = {
      ...request,
      appName,
      userId: userId!,
      state: copyState(state, 'state'),
      labels: labels && { ...labels },
    };
    return this.change((service) => service.createSession(taken));
  }

  async rename(session: Pick<Session, 'id' | 'userId'>, title: string | null): Promise<void> {
    const key = this.#keyOf(session);
    return this.change((service) =>
      this.#renames.run(session.id, () => this.use(service).updateSession(key, { title })),
    );
  }

  async remove(session: Pick<Session, 'id' | 'userId'>): Promise<void> {
    const key = this.#keyOf(session);
    return this.change((service) => service.deleteSession(key));
  }

  /** Everything in a list is read. */
  protected readonly isHolding = false;

  protected note(): boolean {
    return true;
  }

  protected async read(
    service: SessionService<S>,
    signal: HostAbortSignal | undefined,
  ): Promise<void> {
    // One read per frame, however many changes there are.
    if (this.#sessions !== undefined) await new Promise<void>(onNextFrame);
    // One more shows whether there are more.
    const request = { ...this.#request, limit: this.#count + 1, withTotal: false, signal };
    const { sessions } = await this.use(service).listSessions(request);
    this.#hasMore = sessions.length > this.#count;
    this.#sessions = keepElements(this.#sessions ?? [], sessions.slice(0, this.#count), nameOf);
    this.#takeRefused(this.use(service));
  }

  protected override notePending(service: SessionService<S>): void {
    this.#takeRefused(service);
    this.changed();
  }

  /** Takes what the remote of a cache has refused of the sessions. */
  #takeRefused(service: SessionService<S>): void {
    const { appName, userId } = this.#request;
    const found = coreOf(service)?.refusedOfSessions?.({ appName, userId }) ?? [];
    const refused = new Map<string, RefusedChange[]>();
    for (const { key, ...change } of found) {
      const name = nameOf({ userId: key.userId, id: key.sessionId });
      const changes = refused.get(name);
      if (changes === undefined) refused.set(name, [change]);
      else changes.push(change);
    }
    const before = this.#refused;
    this.#refused = new Map(
      [...refused].map(([name, changes]) => [
        name,
        keepRefused(before.get(name) ?? NO_SESSIONS, changes),
      ]),
    );
  }

  /** Returns a session with what was refused of it; the same object while both are the same. */
  #listed(session: Session<S>): ListedSession<S> {
    const refused = this.#refused.get(nameOf(session));
    if (refused === undefined || refused.length === 0) return session;
    const known = this.#listedSessions.get(session);
    if (known?.refused === refused) return known;
    const listed = { ...session, refused };
    this.#listedSessions.set(session, listed);
    return listed;
  }

  protected forget(): void {
    this.#sessions = undefined;
    this.#refused = new Map();
    this.#hasMore = false;
    this.#count = this.#limit;
  }

  protected makeSnapshot(): LiveSessionsSnapshot<S> {
    if (this.isForgotten) return FORGOTTEN;
    const isRead = this.#sessions !== undefined;
    const listed = (this.#sessions ?? []).map((session) => this.#listed(session));
    const { length } = this.#shown;
    const isSame = listed.length === length && listed.every((each, at) => each === this.#shown[at]);
    if (!isSame) this.#shown = listed;
    return {
      status: isRead ? 'ready' : this.error === undefined ? 'loading' : 'failed',
      error: this.error,
      sessions: this.#shown,
      hasMore: this.#hasMore,
    };
  }

  async #readMore(): Promise<void> {
    await this.load();
    if (!this.#hasMore) return;
    this.#count += this.#limit;
    await this.refresh();
  }

  #keyOf({ id, userId }: Pick<Session, 'id' | 'userId'>): CompositeSessionKey {
    return { appName: this.#request.appName, userId, sessionId: id };
  }
}

/**
 * Returns a store that lists sessions as they are now, whoever changes them. It reads and watches only while it has
 * subscribers.
 *
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSessions } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const list = liveSessions(service, { appName: 'shop', userId: 'ada', limit: 20 });
 * const stop = list.subscribe(({ sessions }) => console.log(sessions.map(({ title }) => title)));
 * stop();
 * ```
 */
export function liveSessions<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  request: LiveSessionsRequest<keyof S & string>,
): LiveSessions<S> {
  return new LiveSessionsStore(service, request);
}

const FORGOTTEN = {
  status: 'forgotten',
  error: undefined,
  sessions: NO_SESSIONS,
  hasMore: false,
} as const;

function nameOf({ userId, id }: Pick<Session, 'id' | 'userId'>): string {
  return JSON.stringify([userId, id]);
}
