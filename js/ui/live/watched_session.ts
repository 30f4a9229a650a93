import { takeRequest } from '../../core/call/call.js';
import type { GivenService } from '../../core/call/given_service.js';
import { isSessionError } from '../../values/errors/errors.js';
import { requireOneOf, requireWhole } from '../../values/errors/option_values.js';
import { keepEqual } from '../../values/json/equal.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { ListenOptions, Notice } from '../../values/model/notice.js';
import type { CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { requireKey } from '../../values/model/values/ids.js';
import { HISTORY_VIEWS, type HistoryView } from '../../values/model/values/read_options.js';
import { AppendHandle } from './append_handle.js';
import { ReadingStore } from './reading_store.js';
import { ShownHistory } from './shown_history.js';
import { splitState } from './snapshot/scoped_state.js';
import { eventsIn, ShownEvents } from './snapshot/shown_events.js';
import { cachingOf, UnsentEvents } from './snapshot/unsent_events.js';
import { NO_RUNS, StoreRuns } from './store_runs.js';
import type { LiveSessionOptions, LiveSessionSnapshot } from './types.js';

/** The most events that one call of `loadOlder` of a service reads. */
const LARGEST_WINDOW = 1000;

/**
 * A part that the next read reads again, beside the changes of the session. `outbox`: what a cache has not sent.
 * `places`: the order of events that have left the outbox.
 */
type Stale = 'window' | 'state' | 'outbox' | 'places';

/** A session as it is stored now: its reads, and the snapshot of what they and the unsent events show. */
export class WatchedSession<S extends object> extends ReadingStore<S, LiveSessionSnapshot<S>> {
  readonly key: CompositeSessionKey;
  readonly #window: number;
  readonly #view: HistoryView;
  protected readonly history: ShownHistory<S>;
  #loadingOlder: Promise<boolean> | undefined;
  protected readonly unsent = new UnsentEvents();
  #shown = new ShownEvents();
  protected readonly runs: StoreRuns;
  #wasRunning = false;
  protected readonly head = new ShownHead<S>();
  #stale = new Set<Stale>(['outbox']);
  protected readonly handle: AppendHandle<S>;

  /** Returns an event as it is being sent, or as it was read. */
  readonly #shownOf = (eventId: string): Event | undefined =>
    this.unsent.sendOf(eventId)?.event ?? this.history.list.get(eventId);

  constructor(
    service: GivenService<SessionService<S>>,
    key: CompositeSessionKey,
    options: LiveSessionOptions<S>,
  ) {
    super(service);
    const { window = 50, view = 'transcript', turns = false } = options;
    requireWhole('window', window, 1, LARGEST_WINDOW);
    const { appName, userId, sessionId } = takeRequest(key);
    this.key = { appName, userId, sessionId };
    requireKey(this.key);
    this.#window = window;
    this.#view = requireOneOf('view', view, HISTORY_VIEWS);
    this.history = new ShownHistory(this.#view, turns);
    this.handle = new AppendHandle(this.key, (service) => this.use(service));
    this.runs = new StoreRuns(this.key, () => this.#runsChanged());
  }

  loadOlder(limit = this.#window): Promise<boolean> {
    return (this.#loadingOlder ??= this.#readOlder(limit).finally(() => {
      this.#loadingOlder = undefined;
      this.changed();
    }));
  }

  protected note(notice: Notice): boolean {
    if (notice.type === 'resync' || notice.type === 'lost') this.noteAll();
    if (notice.type === 'stateChanged') this.#stale.add('state');
    if (notice.type !== 'created' && notice.type !== 'appended') return true;
    return this.head.revision === undefined || notice.revision > this.head.revision;
  }

  protected override noteAll(): void {
    this.#stale.add('window');
  }

  protected override noteMissed(): void {
    this.#stale.add('state').add('outbox');
  }

  protected watch(service: SessionService<S>, options: ListenOptions): void {
    service.watch(this.key, options);
    void this.runs.follow(service, options.signal);
  }

  protected override notePending(): void {
    this.#stale.add('outbox');
    void this.refresh();
  }

  protected get isHolding(): boolean {
    return this.unsent.events.length > 0 || this.runs.loaded?.runs.isRunning === true;
  }

  #runsChanged(): void {
    const { runs, view } = this.runs.loaded ?? {};
    const isRunning = runs?.isRunning === true;
    // Reads the last events of the run, which another tab may have stored.
    if ((this.#wasRunning && !isRunning) || view?.ending !== undefined) void this.refresh();
    this.#wasRunning = isRunning;
    this.changed();
  }

  protected async read(
    service: SessionService<S>,
    signal: HostAbortSignal | undefined,
  ): Promise<void> {
    // Parts that this read does not reach stay stale, also if it fails.
    const stale = this.#stale;
    this.#stale = new Set();
    const view = this.runs.loaded?.view;
    const ending = view?.ending;
    try {
      await this.#readSession(service, stale, signal);
      stale.delete('window');
      stale.delete('state');
      // Shows the events before what takes longer. The end of the read shows the rest.
      if (stale.has('outbox') || this.history.turns.isStale) this.changed();
      if (stale.has('outbox')) await this.#readOutbox(service, stale, signal);
      stale.delete('outbox');
      if (ending !== undefined) view?.end(ending);
      await this.#readTurns(service, signal);
    } finally {
      for (const part of stale) this.#stale.add(part);
    }
  }

  async #readSession(
    service: SessionService<S>,
    stale: Set<Stale>,
    signal: HostAbortSignal | undefined,
  ): Promise<void> {
    try {
      const hasChanges = !stale.has('window') && this.head.revision !== undefined;
      if (hasChanges && (await this.#readChanges(service, stale.has('state'), signal))) return;
      // If this read fails, the next one must not trust the order of the changes that this one has put.
      stale.add('window');
      await this.#readWindow(service, signal);
    } catch (error) {
      if (!isSessionError(error, 'not_found')) throw error;
      this.setGone();
    }
  }

  async #readWindow(
    service: SessionService<S>,
    signal: AbortSignal | undefined,
    areUndone = true,
  ): Promise<void> {
    const limit = Math.max(this.#window, this.history.list.length);
    // One more shows whether there are older ones.
    const session = await this.#getSession(service, limit + 1, signal);
    if (session === undefined) return this.setGone();
    // `loadOlder` has put events before the first one meanwhile. They stay, so more events are read.
    if (this.history.list.length > limit) return this.#readWindow(service, signal, areUndone);
    for (const event of session.events) this.#noteRead(event);
    this.history.setWindow(session, limit, areUndone);
    this.handle.noteUndone(this.history.undone);
    this.handle.replace({ ...session, events: [] });
    // Appends change the state of the handle.
    this.head.set(service.revisionOf(session), session, { ...session.state });
  }

  /** Reads what has changed. Returns `false` if only the whole window tells. */
  async #readChanges(
    service: SessionService<S>,
    isStateStale: boolean,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    // First the state: `listChanges` has it only if the session has changed, and then a newer one.
    const session = isStateStale ? await this.#getSession(service, 0, signal) : undefined;
    const since = this.head.revision ?? 0;
    const listing = this.use(service).listChanges({ ...this.key, since, signal });
    const changes = await listing.catch(noneIfUnsupported);
    const { list } = this.history;
    const hasSetAside = this.unsent.setAside.some((id) => list.get(id) !== undefined);
    const isComplete = changes?.events?.every(({ seq, event }) => {
      this.#noteRead(event);
      const isBefore = hasSetAside && list.get(event.id) === undefined;
      return this.history.put(event, seq > since) && !isBefore;
    });
    if (changes === undefined || isComplete !== true) return false;
    const state = changes.state ?? session?.state ?? this.head.members.state;
    this.head.set(changes.revision, changes, state);
    return true;
  }

  #noteRead(event: Event): void {
    if (this.#shownOf(event.id) !== undefined) return;
    this.runs.loaded?.view.noteRead(event);
    this.handle.noteRead(event);
  }

  /** Notes that a service has stored an event. The next read tells whether a cache still has to send it. */
  protected noteKept(eventId: string, service: SessionService<S>): void {
    if (cachingOf(service) === undefined) return;
    this.unsent.noteKept(eventId);
    this.#stale.add('outbox');
  }

  /** Reads which events a cache has not sent. */
  async #readOutbox(
    service: SessionService<S>,
    stale: Set<Stale>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const caching = cachingOf(this.use(service));
    if (caching === undefined) return;
    const moved = this.unsent.setOutbox(await caching.outbox.list(this.key));
    this.changed();
    void this.runs.loaded?.runs.endUndone();
    const hasFailed = stale.has('places');
    if (moved.size === 0 && !hasFailed) return;
    // The next list does not tell this again, also if the rest of this read fails.
    stale.add('places');
    // `listChanges` reports neither a removed event nor a changed order. A marker is not shown.
    const shown = hasFailed ? [] : this.history.list.from(moved);
    const session = await this.#getSession(service, shown.length, signal);
    const isSame =
      shown.length > 0 &&
      session?.events.length === shown.length &&
      session.events.every(({ id }, position) => id === shown[position]?.id);
    if (!isSame) await this.#readWindow(service, signal, false);
    stale.delete('places');
  }

  /** Reads which shown turns have other versions, if the option `turns` wants them. */
  async #readTurns(service: SessionService<S>, signal: AbortSignal | undefined): Promise<void> {
    const { turns, list } = this.history;
    if (!turns.isStale) return;
    await turns.read(this.use(service), { ...this.key, signal }, list.first?.id);
  }

  #getSession(
    service: SessionService<S>,
    numRecentEvents: number,
    signal: AbortSignal | undefined,
  ): Promise<Session<S> | undefined> {
    return this.use(service).getSession({
      ...this.key,
      config: { numRecentEvents, view: this.#view },
      signal,
    });
  }

  /** Whether a cache has sent nothing of what is shown: if all of it is given up, the session was never there. */
  get #isUnsent(): boolean {
    const events = eventsIn(this.history.list.pages);
    const { states } = this.unsent;
    return events.length > 0 && events.every(({ id }) => Object.hasOwn(states, id));
  }

  protected setGone(
    status: 'deleted' | 'missing' = this.head.wasThere && !this.#isUnsent ? 'deleted' : 'missing',
  ): void {
    // A session that is only missing may be under creation by a message: its runs and its handle stay.
    if (status === 'deleted' || this.head.wasThere) this.handle.drop();
    if (status === 'deleted') this.runs.loaded?.runs.abandon();
    this.head.setGone(status);
    this.history.clear();
    this.changed();
  }

  async #readOlder(limit: number): Promise<boolean> {
    this.changed();
    await this.load();
    // Without any read, nobody knows whether there are older events.
    if (this.head.status === 'loading') throw this.error;
    const hasOlder = await this.history.loadOlder(this.use(await this.service()), limit);
    if (this.history.turns.isStale) await this.refresh();
    return hasOlder;
  }

  protected forget(): void {
    this.runs.loaded?.runs.abandon();
    this.head.setGone('loading');
    this.history.clear();
    this.unsent.clear();
    this.handle.drop();
    this.#stale = new Set<Stale>(['window', 'outbox']);
  }

  /** Whether a message waits in a cache for the agent of the server. */
  protected isWaiting(eventId: string): boolean {
    if (this.runs.agent !== undefined || this.runs.loaded === undefined) return false;
    const state = this.unsent.sendOf(eventId) ? undefined : this.unsent.states[eventId];
    return state !== undefined && state.error === undefined;
  }

  /** Whether an event was not stored, or the remote of a cache has refused it. */
  protected readonly isRefused = (eventId: string): boolean =>
    this.unsent.states[eventId]?.error !== undefined;

  get #shownRuns(): typeof NO_RUNS {
    const { list, undone } = this.history;
    const { view } = this.runs.loaded ?? {};
    return (
      view?.show(list.pages, {
        isStored: (id) => list.get(id) !== undefined,
        undone,
        isWaiting: (id) => this.isWaiting(id),
        isRefused: this.isRefused,
      }) ?? NO_RUNS
    );
  }

  protected makeSnapshot(): LiveSessionSnapshot<S> {
    this.unsent.forgetStored(this.history.list);
    const unsent = this.unsent.events.filter(({ id }) => !this.history.list.get(id));
    const shown = (this.#shown = this.#shown.with(this.history.list.pages, unsent));
    const { status, members } = this.head;
    return {
      status: this.isForgotten
        ? 'forgotten'
        : status === 'loading' && this.error !== undefined
          ? 'failed'
          : status,
      error: this.error,
      events: shown.events,
      pages: shown.pages,
      summarised: this.history.list.summarised,
      hasOlder: this.history.hasOlder,
      isLoadingOlder: this.#loadingOlder !== undefined,
      ...(this.isForgotten || status === 'deleted' ? NO_RUNS : this.#shownRuns),
      unsent: this.unsent.states,
      refused: this.unsent.refused,
      turns: this.history.turns.shown,
      ...members,
    };
  }
}

/** `adk api_server` has no revisions. */
function noneIfUnsupported(error: unknown): undefined {
  if (!isSessionError(error, 'unsupported')) throw error;
}

/** The members of a snapshot that come from the session, except its events. */
type HeadMembers<S extends object> = Pick<
  LiveSessionSnapshot<S>,
  'state' | 'scopes' | 'lastUpdateTime' | 'title' | 'labels'
>;

/** A session as it was last read, without its events. */
class ShownHead<S extends object> {
  #status: LiveSessionSnapshot['status'] = 'loading';
  #members = NO_MEMBERS as HeadMembers<S>;
  /** The revision that was read last. If it is absent, only a read of the whole window tells what has changed. */
  #revision: number | undefined;

  get status(): LiveSessionSnapshot['status'] {
    return this.#status;
  }

  get members(): HeadMembers<S> {
    return this.#members;
  }

  get revision(): number | undefined {
    return this.#revision;
  }

  /** Whether a read has found the session. If a later read does not find it, it was deleted. */
  get wasThere(): boolean {
    return this.#status === 'ready' || this.#status === 'deleted';
  }

  set(
    revision: number | undefined,
    { lastUpdateTime, title, labels }: Omit<HeadMembers<S>, 'state' | 'scopes'>,
    given: HeadMembers<S>['state'],
  ): void {
    this.#revision = revision;
    this.#status = 'ready';
    const state = keepEqual(this.#members.state, given);
    this.#members = keepEqual(this.#members, {
      state,
      scopes: splitState<S>(state),
      lastUpdateTime,
      ...(title !== undefined && { title }),
      ...(labels !== undefined && { labels }),
    });
  }

  /** Notes that there is no session. */
  setGone(status: 'deleted' | 'missing' | 'loading'): void {
    this.#status = status;
    this.#revision = undefined;
    this.#members = NO_MEMBERS as HeadMembers<S>;
  }
}

const NO_MEMBERS = { state: {}, scopes: splitState<object>({}), lastUpdateTime: 0 };
