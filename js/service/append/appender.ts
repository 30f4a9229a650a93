import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { SessionError } from '../../values/errors/errors.js';
import {
  optionalBoolean,
  optionalCount,
  requireObject,
} from '../../values/errors/option_values.js';
import { type AskedRun, takeRunMessage } from '../../values/model/asked_run.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { firstTitleOf } from '../../values/model/event/auto_title.js';
import { withIdempotencyKey } from '../../values/model/event/metadata.js';
import type {
  AppendEventRequest,
  CompositeSessionKey,
  ExpectedEvents,
} from '../../values/model/session.js';
import { ABORTED } from '../../values/model/event/waiting.js';
import type { RunRevisions } from '../../core/watch/feed.js';
import { type StateSchema, validateDelta } from '../../values/state/state_schema.js';
import {
  type AppendRules,
  appendRulesOf,
  refuseFrameworkEvents,
  type EventToStore,
  withoutKeys,
} from './state_writer.js';
import { Computation } from './computation.js';
import { AppendGroups, type PreparedAppend } from './append_groups.js';
import { applyWritten } from './handle_update.js';
import { requireMessageFits, type ServerAgent } from '../../core/core_of.js';
import type { ServiceFeed } from '../../core/watch/service_feed.js';
import { afterCommit, type Call } from '../../core/call/call.js';
import type { Calls } from '../../core/call/calls.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import { snapshotHandle } from '../../core/handle/handle.js';
import { requireKey } from '../../values/model/values/ids.js';
import { type EventSnapshot, snapshotEvent } from '../../values/model/event/snapshot.js';
import { isStored } from '../../values/model/event/stored.js';
import type { ReaderParts } from '../read/reader_parts.js';
import type { SessionReader } from '../read/session_reader.js';
import type { Appended, Store, StoreTraits } from '../../core/storage/store.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { AppendWrite, Computed, ReadyAppend } from '../../core/write.js';
import type { ObservingHandle, QueuedAppend, StoredAppend } from './waiting_appends.js';
import { parseTexts } from '../../core/storage/stored_events.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import type { MaybePromise } from '../../core/storage/wasm/maybe_promise.js';
import { isPromise } from '../../values/members.js';
import type { StalePolicy } from '../../core/wasm/protocol.js';

/** The members of a request to append, besides its events. */
type HandleRequest = Pick<
  AppendEventRequest,
  'session' | 'expectedRevision' | 'expectedEvents' | 'run'
> &
  Pick<HiddenMembers, 'idempotencyKey' | 'firstTitle' | 'endEvents'>;

/** The parts that an {@link Appender} works with. */
interface AppenderParts extends Pick<ReaderParts, 'callStore' | 'handles'> {
  readonly calls: Calls;
  /** The rules of handles that have none of their own. */
  readonly rules: AppendRules;
  readonly schema: StateSchema | undefined;
  /** Whether a user's message gives a title to a session that has none. */
  readonly autoTitle: boolean;
  readonly clock: () => number;
  readonly newId: () => string;
  /** Called when the wasm is loaded. */
  readonly store: () => Store;
  /** See `GroupParts`. */
  readonly load: (atOnce: boolean) => Promise<void> | undefined;
  readonly feed: ServiceFeed;
  readonly reader: SessionReader;
  readonly traits: StoreTraits;
  /** Present if the sessions are on a server, which may have an agent. */
  readonly serverAgent: ServerAgent | undefined;
}

/**
 * Appends events through handles. Appends through one handle are stored one after the other.
 *
 * Over memory an append is done when the call returns, if the wasm is loaded. Otherwise, and over other storages, it
 * waits until the earlier appends through the same handle have settled; waiting appends are stored together.
 */
export class Appender {
  readonly #parts: AppenderParts;
  readonly #groups: AppendGroups;

  constructor(parts: AppenderParts) {
    this.#parts = parts;
    const { store, load, traits } = parts;
    const isSynchronous = traits.isSynchronous === true;
    const prepare = (append: QueuedAppend) => this.#prepare(append);
    this.#groups = new AppendGroups({ store, load, isSynchronous, prepare });
  }

  /**
   * Appends events. Takes and checks everything at the call. If that throws, nothing is stored, but
   * events before the invalid one may have got an id and a timestamp.
   *
   * @param call its facts get the number of events and the size of their group
   * @returns the stored events, in order, without partial events. A partial event is a part of a
   *   streamed answer, which is not stored.
   */
  append(
    request: HandleRequest,
    newEvents: readonly NewEvent[],
    call: Call,
  ): MaybePromise<readonly EventToStore[]> {
    const { expectedRevision, expectedEvents, idempotencyKey, endEvents, run } = request;
    const session = snapshotHandle(request.session);
    const expected = optionalCount('expectedRevision', expectedRevision);
    // The snapshots set the missing members.
    const events = (endEvents ? [...endEvents, ...newEvents] : newEvents) as readonly Event[];
    const { handles, autoTitle } = this.#parts;
    const facts = handles.factsOf(session);
    const mayTitle = autoTitle && !facts.isTitled && !session.hasTitle;
    const givenRules = appendRulesOf(newEvents);
    if (givenRules === undefined) refuseFrameworkEvents(events);
    const { writer, stale } = givenRules ?? this.#parts.rules;
    const taken: EventToStore[] = [];
    for (const event of events)
      if (isStored(event)) {
        const plain = this.take(event);
        const snapshot =
          idempotencyKey === undefined ? plain : withIdempotencyKey(plain, idempotencyKey);
        taken.push({ event, snapshot, order: writer.recordOrder(event) });
      }
    const snapshots = taken.map(({ snapshot }) => snapshot);
    const { appName, userId, id: sessionId } = session;
    if (run !== undefined) this.#requireRun(run, snapshots, expectedEvents);
    const write = {
      kind: 'append',
      run: run && { streaming: run.streaming },
      key: { appName, userId, sessionId },
      events: snapshots,
      stale,
      expectedRevision: expected,
      expectedEvents: takeExpectedEvents(
        idempotencyKey === undefined ? expectedEvents : noneOf(snapshots),
        snapshots,
      ),
      firstTitle: (mayTitle ? firstTitleOf(snapshots) : undefined) ?? request.firstTitle,
    } satisfies AppendWrite & Record<Exclude<keyof AppendWrite, 'compute' | 'mutation'>, unknown>;
    const handle = {
      session,
      facts,
      writer,
      events: taken,
      snapshots,
      beginsRun: idempotencyKey !== undefined,
    };
    const append = { write, call, handle };
    const stored =
      taken.length === 0 ? undefined : (this.#groups.addNow(append) ?? this.#groups.add(append));
    const isRenewed = (): boolean =>
      facts.view === 'model' || (stale === 'merge' && facts.isViewStale);
    if (!isPromise(stored) && !isRenewed()) {
      noteFacts(call, taken.length, stored?.groupSize);
      return taken;
    }
    return this.#renewAfter(stored, handle, events, stale, call);
  }

  /** Brings the view of a handle up to date after an append. */
  async #renewAfter(
    storing: MaybePromise<StoredAppend | undefined>,
    { session, facts, events: taken }: ObservingHandle,
    events: readonly Event[],
    stale: StalePolicy,
    call: Call,
  ): Promise<readonly EventToStore[]> {
    const stored = isPromise(storing) ? await storing : storing;
    noteFacts(call, taken.length, stored?.groupSize);
    const { reader } = this.#parts;
    const readCall = afterCommit(call);
    if (facts.view === 'model') await reader.addMissingCalls(session, facts, events, readCall);
    if (stale === 'merge' && facts.isViewStale) await reader.renewView(session, facts, readCall);
    return taken;
  }

  /**
   * Appends events at a place that is known: a client in another process holds the handle, and observes the result.
   *
   * @param ready the append without its events. Its title is that of the client, which another may precede
   * @param newEvents those that are stored, at least one
   * @param call see {@link Appender.append}
   */
  async appendReady(
    ready: Omit<ReadyAppend, 'events'>,
    newEvents: readonly NewEvent[],
    call: Call,
  ): Promise<Appended> {
    requireKey(ready.key);
    const events = newEvents.map((event) => this.take(event));
    const title = this.#parts.autoTitle ? firstTitleOf(events) : undefined;
    const write: ReadyAppend = {
      ...ready,
      events,
      expectedEvents: takeExpectedEvents(ready.expectedEvents, events),
      firstTitle: title ?? ready.firstTitle,
    };
    const append = { write, call };
    const { appended, groupSize } = this.#groups.addNow(append) ?? (await this.#groups.add(append));
    noteFacts(call, events.length, groupSize);
    return appended;
  }

  /**
   * Appends an event to a session without a handle of it.
   *
   * @param stateDelta the delta of the event, or the caller's function that computes it
   */
  async appendUnread(
    { key, mutation }: Pick<AppendWrite, 'key' | 'mutation'>,
    event: Event,
    stateDelta: unknown,
    call: Call,
  ): Promise<void> {
    const { feed, callStore, calls } = this.#parts;
    const events: EventSnapshot[] = [];
    const take = (delta: unknown): Computed => {
      // Set as given: the snapshot refuses an invalid delta.
      event.actions.stateDelta = delta as StateShape;
      const snapshot = this.take(event);
      events[0] = snapshot;
      return { delta: snapshot.deltaText, event: snapshot.text };
    };
    const computation = Computation.of(stateDelta, take, calls);
    take(computation === undefined ? stateDelta : {});
    const write: ReadyAppend = {
      kind: 'append',
      key,
      events,
      stale: 'append',
      mutation,
      position: { kind: 'latest' },
      compute: computation?.run,
    };
    const appended = await callStore<Appended>(call, (store) => store.write(write, call));
    const publish = (): void => feed.publish(write, appended);
    return computation === undefined ? publish() : computation.finish(publish);
  }

  /** Starts all waiting appends, so that they come before the service's next call. */
  flush(): void {
    this.#groups.flush();
  }

  /** @throws SessionError `unsupported` without a server; `invalid_argument`; `remote` if the message is too large */
  #requireRun(
    run: AskedRun,
    snapshots: readonly EventSnapshot[],
    expectedEvents: ExpectedEvents | undefined,
  ): void {
    const { serverAgent } = this.#parts;
    if (serverAgent === undefined) {
      const message =
        'run asks the agent of a server, and this service has none; see the option run of liveSession.';
      throw new SessionError('unsupported', message, { key: 'run' });
    }
    requireObject('run', run);
    optionalBoolean('run.streaming', run.streaming);
    // The snapshot tells what is stored of an object with a toJSON.
    const texts = snapshots.map(({ text }) => text);
    takeRunMessage('event', parseTexts(texts), expectedEvents);
    for (const text of texts) requireMessageFits(serverAgent, text);
  }

  /** Takes an event of the caller. It gets an id and a timestamp if it has none. */
  take(event: NewEvent): EventSnapshot {
    const { clock, newId, schema } = this.#parts;
    const snapshot = snapshotEvent(event as Event, clock, newId);
    if (schema !== undefined) validateDelta(schema, snapshot.callerDelta ?? snapshot.delta);
    return snapshot;
  }

  /** Gives an append its place: that of its handle, without the keys that later writes have superseded. */
  #prepare({ write, handle }: QueuedAppend): PreparedAppend {
    const { feed } = this.#parts;
    if (handle === undefined) {
      return { ready: write, written: (appended) => feed.publish(write, appended) };
    }
    const events = withoutSuperseded(handle);
    const isWhole = events === handle.events;
    const snapshots = isWhole ? handle.snapshots : events.map(({ snapshot }) => snapshot);
    const { session, facts, beginsRun } = handle;
    const { runRevisions: runs } = feed.feed;
    // The message of a run begins it again.
    const runRevision = beginsRun ? undefined : runs.of(write.key, snapshots);
    const { kind, key, stale, expectedRevision, expectedEvents, firstTitle, mutation, run } = write;
    // One literal: a spread takes a fifth of the time of an append over memory.
    const ready = {
      kind,
      key,
      position: facts.positionBehind(session.lastEventId),
      runRevision,
      stale,
      expectedRevision,
      expectedEvents,
      events: snapshots,
      firstTitle,
      mutation,
      run,
      creation: facts.creation,
    } satisfies ReadyAppend & Record<Exclude<keyof ReadyAppend, 'compute' | 'files'>, unknown>;
    return {
      ready,
      written(appended) {
        facts.noteExists();
        applyWritten(isWhole ? handle : { ...handle, events }, ready, appended);
        if (beginsRun) beginRun(runs, key, snapshots, appended);
        else if (runRevision !== undefined) goOn(runs, key, snapshots, appended);
        feed.publish(ready, appended);
      },
    };
  }
}

/** Remembers the run of a message that was stored, the last of the events. */
function beginRun(
  runs: RunRevisions,
  key: CompositeSessionKey,
  snapshots: readonly EventSnapshot[],
  { revision, unchanged }: Appended,
): void {
  const { invocationId } = snapshots.at(-1)!;
  // Another attempt, whose answer was lost, may have stored it, and others have written since.
  if (invocationId !== '') runs.begin(key, invocationId, unchanged.at(-1)?.revision ?? revision);
}

/** Notes that events of runs were stored: the runs had not ended before, unless these events are their end. */
function goOn(
  runs: RunRevisions,
  key: CompositeSessionKey,
  snapshots: readonly EventSnapshot[],
  appended: Appended,
): void {
  // If nothing was written, nobody has checked that the runs go on.
  if (appended.unchanged.length === snapshots.length) return;
  // A wrong guess costs time alone: the next append is checked from an earlier revision.
  if (snapshots.some(({ mayBeMarker, text }) => mayBeMarker || text.includes(ABORTED))) return;
  runs.advance(key, snapshots, appended);
}

/** Expects that no event with one of the ids is stored. */
function noneOf(snapshots: readonly EventSnapshot[]): ExpectedEvents {
  return Object.fromEntries(snapshots.map(({ id }) => [id, null]));
}

function noteFacts({ facts }: Call, rows: number, groupSize?: number): void {
  if (facts === undefined) return;
  facts.rows = rows;
  if (groupSize !== undefined) facts.groupSize = groupSize;
}

const NONE_AHEAD: ReadonlyMap<string, EventToStore> = new Map();

/** Removes from each delta the keys that a later, already stored write has superseded. */
function withoutSuperseded({ session, events, writer }: ObservingHandle): readonly EventToStore[] {
  const [only, another] = events;
  if (only !== undefined && another === undefined) {
    const keys = writer.findSuperseded(session, only, NONE_AHEAD);
    return keys.length === 0 ? events : [withoutKeys(only, keys)];
  }
  const ahead = new Map<string, EventToStore>();
  return events.map((taken) => {
    const reduced = withoutKeys(taken, writer.findSuperseded(session, taken, ahead));
    for (const key of Object.keys(reduced.snapshot.delta)) ahead.set(key, reduced);
    return reduced;
  });
}

/**
 * Takes the option `expectedEvents` of an append.
 *
 * @throws SessionError `invalid_argument` for a value that is no revision, or an id that no event has
 */
function takeExpectedEvents(
  given: ExpectedEvents | null | undefined,
  events: readonly { readonly id: string }[],
): ExpectedEvents | undefined {
  if (given === undefined || given === null) return undefined;
  requireObject(NAME, given);
  // Without a prototype: the engine would make a shape of its own for each object whose names are new.
  const taken = Object.create(null) as Record<string, number | null>;
  for (const [id, revision] of Object.entries(given)) {
    if (!events.some((event) => event.id === id))
      throw invalid(NAME, `has the id ${JSON.stringify(id)}, which no event has`);
    if (revision !== null && !(isRevision(revision) && revision > 0))
      throw invalidValue(`${NAME}[${JSON.stringify(id)}]`, 'must be a revision or null', revision);
    taken[id] = revision;
  }
  return taken;
}

const NAME = 'expectedEvents';
