import { KeyedQueue } from '../../core/call/keyed_queue.js';
import { takeOptions, takeRequest } from '../../core/call/call.js';
import type { GivenService } from '../../core/call/given_service.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireObject, requireOneOf, requireWhole } from '../../values/errors/option_values.js';
import type { TurnBranches } from '../../core/history/index.js';
import type { Content } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import { createEventActions } from '../../values/model/event/create_event.js';
import { requireKey } from '../../values/model/values/ids.js';
import type { CompositeSessionKey, Session } from '../../values/model/session.js';
import { HISTORY_VIEWS, type HistoryView } from '../../values/model/values/history_view.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { ComputeDelta, StateDelta } from '../../values/state/state_shape.js';
import type { ListenOptions, Notice } from '../../values/model/notice.js';
import { AppendHandle } from './append_handle.js';
import { copyEvent, copyState } from '../../service/runs/agent/copies.js';
import { ShownHistory } from './history/shown_history.js';
import { branchChange, type TurnChange, turnChange } from './history/turn_changes.js';
import type {
  AskOptions,
  LiveSession,
  LiveSessionOptions,
  LiveSessionSnapshot,
} from './types/live_session.js';
import { forgottenError } from './snapshot/forgotten.js';
import { ReadingStore } from './reading_store.js';
import type { Answers } from '../../service/runs/state/answers.js';
import type { RunAgent, SentEvent } from '../../service/runs/agent/run_context.js';
import { NO_RUNS, StoreRuns } from './store_runs.js';
import { ShownHead } from './session_head.js';
import { ShownEvents } from './snapshot/shown_events.js';
import { cachingOf, type Send, UnsentEvents } from './snapshot/unsent_events.js';

/** The most events that one call of `loadOlder` of a service reads. */
const LARGEST_WINDOW = 1000;

/** A part that the next read reads again, beside the changes of the session. `outbox`: what a cache has not sent. */
type Stale = 'window' | 'state' | 'outbox';

/** A live session over the public interface of a service. */
export class WatchedSession<S extends object>
  extends ReadingStore<S, LiveSessionSnapshot<S>>
  implements LiveSession<S>
{
  readonly key: CompositeSessionKey;
  readonly #window: number;
  readonly #view: HistoryView;
  readonly #history: ShownHistory<S>;
  #loadingOlder: Promise<boolean> | undefined;
  readonly #unsent = new UnsentEvents();
  #shown = new ShownEvents();
  readonly #runs: StoreRuns;
  #wasRunning = false;
  readonly #head = new ShownHead<S>();
  #stale = new Set<Stale>(['outbox']);
  readonly #handle: AppendHandle<S>;
  /** The changes of the state and the title. Services may run calls at the same time in any order. */
  readonly #changes = new KeyedQueue<undefined>();

  /** Returns an event as it is being sent, or as it was read. */
  readonly #shownOf = (eventId: string): Event | undefined =>
    this.#unsent.sendOf(eventId)?.event ?? this.#history.list.get(eventId);

  constructor(
    service: GivenService<SessionService<S>>,
    key: CompositeSessionKey,
    options: LiveSessionOptions<S>,
  ) {
    super(service);
    const { window = 50, view = 'transcript', initialState, run } = takeOptions(options);
    requireWhole('window', window, 1, LARGEST_WINDOW);
    const { appName, userId, sessionId } = takeRequest(key);
    this.key = { appName, userId, sessionId };
    requireKey(this.key);
    this.#window = window;
    this.#view = requireOneOf('view', view, HISTORY_VIEWS);
    this.#history = new ShownHistory(this.#view, () => this.#wantTurns());
    this.#handle = new AppendHandle(this.key, (service) => this.use(service));
    this.#runs = new StoreRuns(this.key, () => this.#runsChanged());
    this.initialState = initialState;
    this.agent = run;
  }

  /** The state of a session that the store creates. */
  set initialState(state: Partial<S> | undefined) {
    this.#handle.initialState = state;
  }

  /** The agent that answers. */
  set agent(agent: RunAgent | undefined) {
    this.#runs.agent = agent;
  }

  async ask(content: Content, options: AskOptions<S> = {}): Promise<Event> {
    const { streaming = true, stateDelta } = takeOptions(options);
    requireObject('content', content);
    const actions = stateDelta && { actions: createEventActions({ stateDelta }) };
    return this.#ask(copyEvent({ author: 'user', content, ...actions }), streaming);
  }

  async answer(answers: Answers): Promise<Event> {
    const message = await this.#runs.answer(this.use(await this.service()), answers);
    await this.refresh();
    return message;
  }

  async cancel(messageId?: string): Promise<void> {
    const { pages } = this.#history.list;
    await this.#runs.cancel(this.use(await this.service()), pages, messageId);
    await this.refresh();
  }

  async send(given: SentEvent): Promise<Event> {
    if (this.isForgotten) throw forgottenError();
    const event = copyEvent(given);
    if (event.partial === true) {
      throw invalid(
        'event.partial',
        'must not be true: an agent yields pieces; see the option run',
      );
    }
    if (this.#history.undone.has(event.invocationId)) {
      const message = 'A rewind has undone the invocation of the event.';
      throw new SessionError('stale_session', message, { staleReason: 'undone' });
    }
    return this.#send(event);
  }

  async edit(eventId: string, content: Content): Promise<Event> {
    requireObject('content', content);
    return this.#changeTurn(eventId, copyEvent({ author: 'user', content }).content);
  }

  regenerate(eventId: string): Promise<Event> {
    return this.#changeTurn(eventId);
  }

  async branches(): Promise<readonly TurnBranches[]> {
    const { branches } = this.#history;
    if (!this.isActive) branches.forget();
    return branches.read(this.use(await this.service()), this.key);
  }

  async switchBranch(branch: string): Promise<void> {
    const change = (): Promise<unknown> => this.#changeHistory(branchChange(this.key, branch));
    await this.#runs.change(this.use(await this.service()), change);
  }

  async retry(eventId: string): Promise<Event | undefined> {
    const sent = this.#unsent.sendOf(eventId);
    if (this.#runs.loaded?.runs.retry(eventId) === true) return sent?.event;
    if (this.#unsent.states[eventId]?.error === undefined) return undefined;
    if (sent?.streaming !== undefined) return this.#ask(sent.event, sent.streaming);
    if (sent !== undefined) return this.#send(sent.event);
    await cachingOf(this.use(await this.service()))?.outbox.retry(this.key);
    return this.#history.list.get(eventId);
  }

  async discard(eventId: string): Promise<void> {
    const isQueued = this.#runs.loaded?.runs.isQueued(eventId) === true;
    if (this.#isWaiting(eventId)) return this.cancel(eventId);
    if (!isQueued && this.#unsent.states[eventId]?.error === undefined) return;
    if (this.#unsent.sendOf(eventId) !== undefined) {
      this.#unsent.setSend(eventId, undefined);
      this.#runs.loaded?.runs.discard(eventId);
      return this.changed();
    }
    await this.change(async (service) => cachingOf(service)?.outbox.drop(this.key, eventId));
  }

  loadOlder(limit = this.#window): Promise<boolean> {
    return (this.#loadingOlder ??= this.#readOlder(limit).finally(() => {
      this.#loadingOlder = undefined;
      this.changed();
    }));
  }

  async updateState(given: StateDelta<S> | ComputeDelta<S>): Promise<void> {
    const stateDelta = copyState(given);
    await this.#change((service) => service.updateState({ ...this.key, stateDelta }));
  }

  rename(title: string | null): Promise<void> {
    return this.#change((service) => service.updateSession(this.key, { title }));
  }

  remove(): Promise<void> {
    return this.change(async (service) => {
      await service.deleteSession(this.key);
      this.#setGone('deleted');
    });
  }

  protected note(notice: Notice): boolean {
    if (notice.type === 'resync' || notice.type === 'lost') this.noteAll();
    if (notice.type === 'stateChanged') this.#stale.add('state');
    if (notice.type !== 'created' && notice.type !== 'appended') return true;
    return this.#head.revision === undefined || notice.revision > this.#head.revision;
  }

  protected override noteAll(): void {
    this.#stale.add('window');
  }

  protected override noteMissed(): void {
    this.#stale.add('state').add('outbox');
  }

  protected watch(service: SessionService<S>, options: ListenOptions): void {
    service.watch(this.key, options);
    void this.#runs.follow(service, options.signal);
    let known: unknown;
    const stop = cachingOf(service)?.watchStatus(({ pending }) => {
      if (pending === known) return;
      known = pending;
      this.#stale.add('outbox');
      void this.refresh();
    });
    if (stop !== undefined) options.signal?.addEventListener('abort', stop);
  }

  protected get isHolding(): boolean {
    return this.#unsent.events.length > 0 || this.#runs.loaded?.runs.isRunning === true;
  }

  #runsChanged(): void {
    const { runs, view } = this.#runs.loaded ?? {};
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
    const view = this.#runs.loaded?.view;
    const ending = view?.ending;
    try {
      await this.#readSession(service, stale, signal);
      stale.delete('window');
      stale.delete('state');
      if (stale.has('outbox')) await this.#readOutbox(service, signal);
      stale.delete('outbox');
      if (ending !== undefined) view?.end(ending);
      await this.#readTurns(service, signal);
    } finally {
      for (const part of stale) this.#stale.add(part);
    }
  }

  async #readSession(
    service: SessionService<S>,
    stale: ReadonlySet<Stale>,
    signal: HostAbortSignal | undefined,
  ): Promise<void> {
    try {
      if (stale.has('window') || this.#head.revision === undefined) {
        await this.#readWindow(service, signal);
      } else await this.#readChanges(service, stale.has('state'), signal);
    } catch (error) {
      if (!isSessionError(error, 'not_found')) throw error;
      this.#setGone();
    }
  }

  async #readWindow(
    service: SessionService<S>,
    signal: AbortSignal | undefined,
    areUndone = true,
  ): Promise<void> {
    const limit = Math.max(this.#window, this.#history.list.length);
    // One more shows whether there are older ones.
    const session = await this.#getSession(service, limit + 1, signal);
    if (session === undefined) return this.#setGone();
    // `loadOlder` has put events before the first one meanwhile. They stay, so more events are read.
    if (this.#history.list.length > limit) return this.#readWindow(service, signal, areUndone);
    for (const event of session.events) this.#noteRead(event);
    this.#history.setWindow(session, limit, areUndone);
    this.#handle.noteUndone(this.#history.undone);
    this.#handle.replace({ ...session, events: [] });
    // Appends change the state of the handle.
    this.#head.set(service.revisionOf(session), session, { ...session.state });
    this.changed();
  }

  async #readChanges(
    service: SessionService<S>,
    isStateStale: boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // First the state: `listChanges` has it only if the session has changed, and then a newer one.
    const session = isStateStale ? await this.#getSession(service, 0, signal) : undefined;
    const since = this.#head.revision ?? 0;
    const listing = this.use(service).listChanges({ ...this.key, since, signal });
    const changes = await listing.catch(noneIfUnsupported);
    const isComplete = changes?.events?.every(({ seq, event }) => {
      this.#noteRead(event);
      return this.#history.put(event, seq > since);
    });
    if (changes === undefined || isComplete !== true) return this.#readWindow(service, signal);
    const state = changes.state ?? session?.state ?? this.#head.members.state;
    this.#head.set(changes.revision, changes, state);
    this.changed();
  }

  #noteRead(event: Event): void {
    if (this.#shownOf(event.id) !== undefined) return;
    this.#runs.loaded?.view.noteRead(event);
    this.#handle.noteRead(event);
  }

  /** Reads which events a cache has not sent. */
  async #readOutbox(service: SessionService<S>, signal: AbortSignal | undefined): Promise<void> {
    const caching = cachingOf(this.use(service));
    if (caching === undefined) return;
    const [entry] = await caching.outbox.list(this.key);
    const gone = this.#unsent.setOutbox(entry);
    this.changed();
    if (gone === undefined) return;
    // It was sent, or given up: `listChanges` does not report a removed event.
    const shown = this.#history.list.from(gone);
    const session = await this.#getSession(service, shown.length, signal);
    const isSame = session?.events.every(({ id }, position) => id === shown[position]?.id);
    if (isSame !== true) await this.#readWindow(service, signal, false);
  }

  /** Reads which shown turns have other versions, if a page asks for them. */
  async #readTurns(service: SessionService<S>, signal: AbortSignal | undefined): Promise<void> {
    const { turns, list } = this.#history;
    if (!turns.isStale) return;
    await turns.read(this.use(service), { ...this.key, signal }, list.first?.id);
  }

  #wantTurns(): void {
    if (this.isRead) void this.refresh();
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

  #setGone(status: 'deleted' | 'missing' = this.#head.wasThere ? 'deleted' : 'missing'): void {
    this.#head.setGone(status);
    this.#history.clear();
    // A session that is only missing may be under creation by a message: its runs and its handle stay.
    if (status === 'deleted') {
      this.#runs.loaded?.runs.abandon();
      this.#handle.drop();
    }
    this.changed();
  }

  async #readOlder(limit: number): Promise<boolean> {
    this.changed();
    await this.load();
    // Without any read, nobody knows whether there are older events.
    if (this.#head.status === 'loading') throw this.error;
    const hasOlder = await this.#history.loadOlder(this.use(await this.service()), limit);
    if (this.#history.turns.isStale) await this.refresh();
    return hasOlder;
  }

  /** Shows a message at once, and asks it: it is stored when its run begins. */
  #ask(shown: Event, streaming: boolean): Promise<Event> {
    return this.#store({ event: shown, state: {}, streaming }, (service) =>
      this.#runs.ask(service, {
        ...{ id: shown.id, callIds: [], streaming },
        admit: async () => {
          await this.#handle.require(service, this.#head.wasThere);
          return { message: copyEvent(shown), isStored: false };
        },
      }),
    );
  }

  #send(shown: Event): Promise<Event> {
    return this.#store({ event: shown, state: {} }, async (service) => {
      // The append changes its event, and nothing may change one of a snapshot.
      const event = copyEvent(shown);
      const session = await this.#handle.append(service, event, this.#head);
      this.#handle.noteAppended(event);
      await this.#reach(service.revisionOf(session));
      return event;
    });
  }

  /** Shows an event until `write` has stored it, and then as it is stored. */
  async #store(sent: Send, write: (service: SessionService<S>) => Promise<Event>): Promise<Event> {
    if (this.isForgotten) throw forgottenError();
    const { event: shown } = sent;
    this.#unsent.setSend(shown.id, sent);
    this.changed();
    try {
      const event = await write(this.use(await this.service()));
      if (sent.streaming !== undefined && this.isActive) await this.refresh();
      // Without subscribers, or after an error, the event was not read. The next read puts it in its place.
      const wasRead = this.isActive && this.error === undefined;
      if (!wasRead && this.#head.status !== 'deleted' && !this.#history.list.get(shown.id)) {
        if (this.#history.changesOthers(shown)) this.noteAll();
        else this.#history.list.append(shown);
      }
      this.#unsent.endSend(sent);
      return event;
    } catch (error) {
      if (!this.isForgotten) this.#unsent.endSend(sent, { ...sent, state: { error } });
      throw error;
    } finally {
      this.changed();
    }
  }

  async #changeTurn(eventId: string, content?: Content): Promise<Event> {
    const service = this.use(await this.service());
    const isOfServer = (await this.#runs.findServerAgent(service)) !== undefined;
    const run = isOfServer ? { streaming: true } : undefined;
    const change = turnChange({ ...this.key, eventId, content, run });
    if (this.#runs.agent === undefined && !isOfServer) {
      const message = await this.#changeHistory(change);
      this.#handle.noteAppended(message);
      return message;
    }
    return this.#runs.askAfter(service, () => this.#changeHistory(change));
  }

  /** Rewinds the session, and reads it again, also without subscribers: `send` refuses what was undone. */
  async #changeHistory<Result>(change: TurnChange<Result>): Promise<Result> {
    const service = this.use(await this.service());
    return this.#changes.run(undefined, async () => {
      const result = await change(this.use(service));
      await this.reread();
      return result;
    });
  }

  async #change(write: (service: SessionService<S>) => Promise<unknown>): Promise<void> {
    await this.change((service) =>
      this.#changes.run(undefined, async () => {
        const kept = this.use(service);
        if (this.#head.status !== 'ready') await this.#handle.require(kept, this.#head.wasThere);
        await write(this.use(service));
      }),
    );
  }

  /** Waits until a change of this store is in its snapshot. */
  async #reach(revision = 0): Promise<void> {
    for (let tries = 2; tries > 0 && (this.isActive || this.reading !== undefined); tries -= 1) {
      if (this.#head.revision !== undefined && this.#head.revision >= revision) return;
      await (this.reading ?? this.refresh());
    }
  }

  protected forget(): void {
    this.#runs.loaded?.runs.abandon();
    this.#head.setGone('loading');
    this.#history.clear();
    this.#unsent.clear();
    this.#handle.drop();
    this.#stale = new Set<Stale>(['window', 'outbox']);
  }

  /** Whether a message waits in a cache for the agent of the server. */
  #isWaiting(eventId: string): boolean {
    if (this.#runs.agent !== undefined || this.#runs.loaded === undefined) return false;
    const state = this.#unsent.sendOf(eventId) ? undefined : this.#unsent.states[eventId];
    return state !== undefined && state.error === undefined;
  }

  get #shownRuns(): typeof NO_RUNS {
    const { list, undone } = this.#history;
    const isStored = (id: string): boolean => list.get(id) !== undefined;
    const isWaiting = (id: string): boolean => this.#isWaiting(id);
    return this.#runs.loaded?.view.show(list.pages, isStored, undone, isWaiting) ?? NO_RUNS;
  }

  protected makeSnapshot(): LiveSessionSnapshot<S> {
    this.#unsent.forgetStored(this.#history.list);
    const unsent = this.#unsent.events.filter(({ id }) => !this.#history.list.get(id));
    const shown = (this.#shown = this.#shown.with(this.#history.list.pages, unsent));
    const { status, members } = this.#head;
    const snapshot = shown.addTo({
      status: this.isForgotten
        ? 'forgotten'
        : status === 'loading' && this.error !== undefined
          ? 'failed'
          : status,
      error: this.error,
      pages: shown.pages,
      summarised: this.#history.list.summarised,
      hasOlder: this.#history.hasOlder,
      isLoadingOlder: this.#loadingOlder !== undefined,
      ...(this.isForgotten ? NO_RUNS : this.#shownRuns),
      unsent: this.#unsent.states,
      ...members,
    });
    return this.#history.turns.addTo(snapshot);
  }
}

/** `adk api_server` has no revisions. */
function noneIfUnsupported(error: unknown): undefined {
  if (!isSessionError(error, 'unsupported')) throw error;
}
