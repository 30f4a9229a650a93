import { untilAborted } from '../../core/call/time_limit.js';
import type { Call } from '../../core/call/call.js';
import { KeyedQueue } from '../../core/call/scheduling.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { PlannedRewind } from '../../core/history/plan_rewind.js';
import type { HistoriesLoader } from '../../core/history/histories.js';
import type { SourceSession } from '../../core/history/states.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import { snapshotEvent } from '../../values/model/event/snapshot.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { ReadResults, ReadSession, SessionRead } from '../../core/read.js';
import type { Results, Store } from '../../core/storage/store.js';
import type {
  BranchesRead,
  ForkWrite,
  HistoryState,
  RewindWrite,
  SessionBranches,
  StateAtRead,
} from '../../core/history_types.js';
import { parseTexts } from '../../core/storage/stored_events.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { CacheContext } from './copies/context.js';
import type { CopyFetcher } from './copies/copy_fetcher.js';
import type { CopyLimits } from './copies/copy_limits.js';
import { carryOut } from './data/carry_out.js';
import type { CacheTransaction } from './data/cache_transaction.js';
import { isProvisional } from './data/provisional_session.js';
import { nameOf, pickSessionKey } from './records/cache_key.js';
import { isFinalRefusal } from './records/failures.js';
import { FRESH, isAskedFor, type Mutation, type OutboxEvent } from './outbox/mutation.js';
import type { Sender } from './sending/sender.js';
import { olderInvocations, OverlaidEvents } from './verbs/overlaid_events.js';
import type { OverlaidSession } from './overlay/session_overlay.js';
import { sharedWrites, parseDelta } from './overlay/shared_overlay.js';

export interface CacheHistoryParts extends CacheContext {
  readonly fetch: CopyFetcher;
  readonly limits: CopyLimits;
  readonly sender: Sender;
  readonly loadHistories: HistoriesLoader;
  /** The cache, which fetches what is missing here. */
  readonly store: Pick<Store, 'read'>;
}

/** A session as a reader sees it, as far as this device has it. */
interface LocalSession extends SourceSession {
  readonly events: readonly Event[];
  readonly localId: number;
  readonly revision: number;
  /** Whether the remote has older events, or may have. */
  readonly hasOlder: boolean;
  /** Whether the remote has no revisions. */
  readonly isPlain: boolean;
}

/**
 * The histories of a cache. A rewind is a mutation that has the request, not its result: the remote computes the
 * result, including what others have written meanwhile. Until then readers see a result that this device computes from
 * its copy.
 */
export class CacheHistory {
  readonly #parts: CacheHistoryParts;
  /** The forks that are under way, by name of the new session. */
  readonly #forks = new KeyedQueue();

  constructor(parts: CacheHistoryParts) {
    this.#parts = parts;
  }

  /** Waits for the fork that makes a session. */
  forked(key: CompositeSessionKey): Promise<void> {
    return this.#forks.settledOf(nameOf(key));
  }

  async rewind(request: RewindWrite, call: Call): Promise<Results['rewind']> {
    const { key, marker, place, message, events, run } = request;
    const write: RewindWrite = { kind: 'rewind', key, marker, place, message, events, run };
    const { data, limits, sender, loadHistories } = this.#parts;
    const { fromEvents } = await loadHistories();
    for (;;) {
      const [session, planned] = await this.#compute(key, call, (session) => {
        if (session.isPlain) throw withoutRevisions();
        return fromEvents.rewind(session, write);
      });
      const add = async (transaction: CacheTransaction) => {
        const view = await requireView(transaction, key);
        // The session has changed since it was read. The next round undoes that change too.
        if (view.revision !== session.revision || view.localId !== session.localId)
          return undefined;
        const mutation = this.#mutationOf(transaction, write, planned, view);
        await carryOut(transaction, key, { type: 'added', mutations: [mutation] });
        const { revision } = await requireView(transaction, key);
        transaction.drawUpTo(revision);
        return { revision, mutation };
      };
      const added = await limits.write(key, () => data.write(add));
      if (added === undefined) continue;
      const { mutation, revision } = added;
      await sender.sendAdded(key, [mutation.number], call.signal);
      const texts = mutation.write.result.events.map(({ text }) => text);
      const [event, follows] = parseTexts(texts);
      const { unknownKeys } = planned;
      return { event: event!, message: message && follows, unknownKeys, revision, isNew: true };
    }
  }

  #mutationOf(
    transaction: CacheTransaction,
    meant: RewindWrite,
    { event, following, state }: PlannedRewind,
    { localId, overlay }: OverlaidSession,
  ): Mutation<'rewind'> {
    const { clock } = this.#parts;
    const take = (event: object): OutboxEvent => {
      const { id, text, timestamp } = snapshotEvent(event as Event, clock, newEventId);
      return { id, text, timestamp };
    };
    const marker = take(event);
    const others = following.map(take);
    const numbers = [marker, ...others].map(() => {
      const localVersion = transaction.nextNumber();
      return { seq: localVersion, localVersion };
    });
    const { timestamp: time } = others.at(-1) ?? marker;
    const result = {
      events: [marker, ...others],
      state: JSON.stringify(state),
    } as const;
    return {
      number: numbers[0]!.localVersion,
      write: { ...meant, key: pickSessionKey(meant.key), result },
      numbers,
      localId,
      time,
      needsSession: isProvisional(overlay.creation),
      phase: FRESH,
      replaces: 'nothing',
      shared: sharedWrites(others.map(({ text }) => parseDelta(text))),
    };
  }

  /** Computes from what this device has. If events are missing, fetches them all and computes again. */
  async #compute<T>(
    key: CompositeSessionKey,
    call: Call,
    work: (session: LocalSession) => T | Promise<T>,
  ): Promise<readonly [LocalSession, T]> {
    const session = await this.#find(key, call);
    try {
      return [session, await work(session)];
    } catch (error) {
      const isMissing =
        isSessionError(error, 'not_found') || isSessionError(error, 'invalid_argument');
      if (!isMissing || !session.hasOlder) throw error;
    }
    const whole = await this.#getWhole(key, call);
    if (whole === undefined) throw sessionNotFound(key.sessionId);
    const { events, title, created: localId, revision } = whole;
    const state = JSON.parse(whole.state) as StateShape;
    const known = { ...session, events, state, title, localId, revision };
    const fetched = { ...known, hasOlder: false, olderInvocations: undefined };
    return [fetched, await work(fetched)];
  }

  #getWhole(key: CompositeSessionKey, call: Call): Promise<ReadSession | undefined> {
    return this.#parts.store.read({ kind: 'window', key, last: 'all' }, call);
  }

  /** Reads what is here of a session. Fetches one that was never read. @throws SessionError `not_found` */
  async #find(key: CompositeSessionKey, call: Call): Promise<LocalSession> {
    await this.forked(key);
    const here = await this.#read(key);
    if (here !== undefined) return here;
    const fetching = this.#parts.fetch.require(key, 1);
    await untilAborted(call.signal, fetching).catch(onlyRefusals(call));
    const fetched = await this.#read(key);
    if (fetched === undefined) throw sessionNotFound(key.sessionId);
    return fetched;
  }

  #read(key: CompositeSessionKey): Promise<LocalSession | undefined> {
    return this.#parts.data.read(async (transaction) => {
      const view = await transaction.view(key);
      if (view === undefined) return undefined;
      const rows = await new OverlaidEvents(transaction, key, view).last({});
      const { localId, revision, state, initialState, copy } = view;
      const isUnfetched = isAskedFor(view.overlay.creation);
      const hasOlder = copy === undefined ? isUnfetched : copy.hasOlder || copy.isStale;
      const events = parseTexts(rows.map(({ text }) => text));
      return {
        events,
        olderInvocations: hasOlder ? olderInvocations(events, view) : undefined,
        state: JSON.parse(state) as StateShape,
        // Older events than those that are here may have changed it.
        earlierValues: (keys) =>
          Promise.resolve(
            hasOlder || initialState === undefined
              ? { values: {}, unknownKeys: keys }
              : { values: JSON.parse(initialState) as StateShape, unknownKeys: [] },
          ),
        localId,
        revision,
        hasOlder,
        isPlain: copy?.created === null,
      };
    });
  }

  fork(request: ForkWrite, call: Call): Promise<ReadSession> {
    const { key, newSessionId: sessionId, end, title } = request;
    const write: ForkWrite = { kind: 'fork', key, newSessionId: sessionId, end, title };
    const newKey = { ...key, sessionId };
    return this.#forks.run(nameOf(newKey), () => this.#fork(write, newKey, call));
  }

  /** Lets the remote make the fork, because a copy may lack events. */
  async #fork(write: ForkWrite, newKey: CompositeSessionKey, call: Call): Promise<ReadSession> {
    const { pending, sender, remote, fetch } = this.#parts;
    const make = async (): Promise<void> => {
      // Another tab may have stored changes of which this one has not heard.
      await pending.refresh(write.key);
      await sender.waitFor([nameOf(write.key)], call.signal);
      const made = await remote.request((store, call) => store.write(write, call), call);
      remote.core.publisher.publish(write, made);
      await fetch.refresh(newKey, 'all');
    };
    await untilAborted(call.signal, make()).catch(onlyRefusals(call));
    const forked = await this.#getWhole(newKey, call);
    if (forked === undefined) throw sessionNotFound(newKey.sessionId);
    return forked;
  }

  async branches({ key, fromEventId }: BranchesRead, call: Call): Promise<SessionBranches> {
    const { fromEvents } = await this.#parts.loadHistories();
    const local = ({ events, olderInvocations: older, hasOlder }: LocalSession) => {
      const isWhole = fromEventId === undefined || !hasOlder;
      return fromEvents.branches(events, { isWhole, older, fromEventId });
    };
    if (fromEventId !== undefined) {
      const session = await this.#find(key, call);
      const known = local(session);
      if (session.isPlain || known.isDecided) return known;
    }
    return this.#askOrCompute({ kind: 'branches', key, fromEventId }, call, local);
  }

  async stateAt({ key, eventId }: StateAtRead, call: Call): Promise<HistoryState> {
    const { fromEvents } = await this.#parts.loadHistories();
    const local = (session: LocalSession) => fromEvents.stateAt(session, eventId);
    return this.#askOrCompute({ kind: 'stateAt', key, eventId }, call, local);
  }

  /**
   * Asks the remote if the copy lacks events and there is no mutation. Otherwise, or without an answer, uses the copy.
   */
  async #askOrCompute<Kind extends 'branches' | 'stateAt'>(
    request: SessionRead<Kind>,
    call: Call,
    local: (session: LocalSession) => ReadResults[Kind] | Promise<ReadResults[Kind]>,
  ): Promise<ReadResults[Kind]> {
    const { pending, remote } = this.#parts;
    const { key } = request;
    const { hasOlder } = await this.#find(key, call);
    if (hasOlder && pending.mutations(nameOf(key)).length === 0) {
      try {
        const asked = remote.request((store, own) => store.read(request, own), call);
        const answer = await untilAborted(call.signal, asked);
        if (answer === undefined) throw sessionNotFound(key.sessionId);
        return answer;
      } catch (error) {
        if (isFinalRefusal(error) || call.signal?.aborted === true) throw error;
      }
    }
    return (await this.#compute(key, call, local))[1];
  }
}

/** Returns a function that throws a refusal as it is, and any other failure as `connection_lost` for missing events. */
function onlyRefusals({ signal }: Call): (error: unknown) => never {
  return (error) => {
    if (isFinalRefusal(error) || signal?.aborted === true) throw error;
    const message = 'The session has older events than are here, and the remote does not answer.';
    const fields = { missing: 'events', storage: 'cache', cause: error } as const;
    throw new SessionError('connection_lost', message, fields);
  };
}

function withoutRevisions(): SessionError {
  const message = 'The remote has no revisions, so its sessions cannot be rewound.';
  return new SessionError('unsupported', message, { storage: 'cache' });
}

/** @throws SessionError `not_found` */
async function requireView(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
): Promise<OverlaidSession> {
  const view = await transaction.view(key);
  if (view === undefined) throw sessionNotFound(key.sessionId);
  return view;
}
