import { untilAborted } from '../../core/call/time_limit.js';
import type { Call } from '../../core/call/call.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { sessionNotFound } from '../../values/errors/session_not_found.js';
import { branchesOf } from '../../core/history/branches.js';
import { planRewind, type PlannedRewind } from '../../core/history/append_rewind.js';
import { type SourceSession, stateAfter } from '../../core/history/state_at.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import { snapshotEvent } from '../../values/model/event/snapshot.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { ReadSession } from '../../core/read.js';
import { computesNoHistories, type Results } from '../../core/storage/store.js';
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
import type { RemoteCall } from './copies/remote_connection.js';
import type { CacheTransaction } from './data/cache_transaction.js';
import { nameOf } from './records/cache_key.js';
import { isRefusal } from './records/failures.js';
import { type Operation, type OutboxEvent, UNSENT } from './records/records.js';
import type { Sender } from './sending/sender.js';
import type { Written } from './verbs/local_writes.js';
import { olderInvocations } from './verbs/older_invocations.js';
import { lastEvents } from './verbs/shown_events.js';
import type { SessionView } from './overlay/session_overlay.js';
import { sharedWrites, deltaOf } from './overlay/shared_overlay.js';

export interface CacheHistoryParts extends CacheContext {
  readonly fetch: CopyFetcher;
  readonly sender: Sender;
  /**
   * Runs a local write, and waits for the remote if the option `write` is `'through'`.
   */
  readonly write: <T>(
    key: CompositeSessionKey,
    call: Call,
    write: (transaction: CacheTransaction) => Promise<Written<T>>,
  ) => Promise<T>;
  /** Reads a session with all its events. */
  readonly get: (key: CompositeSessionKey, call: Call) => Promise<ReadSession | undefined>;
}

/** A session as a reader sees it, as far as this device has it. */
interface LocalSession extends SourceSession {
  readonly events: readonly Event[];
  readonly birth: number;
  readonly revision: number;
  /** Whether the remote has older events, or may have. */
  readonly hasOlder: boolean;
  /** Whether the remote has no revisions. */
  readonly isPlain: boolean;
}

/**
 * The histories of a cache. A rewind is an operation that has the request, not its result: the remote computes the
 * result, including what others have written meanwhile. Until then readers see a result that this device computes from
 * its copy.
 */
export class CacheHistory {
  readonly #parts: CacheHistoryParts;
  /** The forks that are under way, by name of the new session. */
  readonly #forks = new Map<string, Promise<unknown>>();

  constructor(parts: CacheHistoryParts) {
    this.#parts = parts;
  }

  /** Waits for the fork that makes a session. */
  async forked(key: CompositeSessionKey): Promise<void> {
    await this.#forks.get(nameOf(key));
  }

  async rewind(request: RewindWrite, call: Call): Promise<Results['rewind']> {
    const { key, marker, place, message, events, run } = request;
    const write: RewindWrite = { kind: 'rewind', key, marker, place, message, events, run };
    await this.#require(key, call);
    for (;;) {
      const [session, planned] = await this.#compute(key, call, (session) => {
        if (session.isPlain) throw withoutRevisions();
        return planRewind(session, write);
      });
      const revision = await this.#parts.write(key, call, async (transaction) => {
        const view = await requireView(transaction, key);
        // The session has changed since it was read. The next round undoes that change too.
        if (view.revision !== session.revision || view.birth !== session.birth) return UNCHANGED;
        const operation = this.#operationOf(transaction, write, planned, view.birth);
        await transaction.outbox.change(key, { put: [operation] });
        const { revision } = await requireView(transaction, key);
        transaction.drawUpTo(revision);
        return { result: revision, numbers: [operation.number] };
      });
      if (revision === undefined) continue;
      const { event, message: repeated, unknownKeys } = planned;
      return { event, message: repeated, unknownKeys, revision };
    }
  }

  #operationOf(
    transaction: CacheTransaction,
    meant: RewindWrite,
    { event, following, titleChange, state }: PlannedRewind,
    birth: number,
  ): Operation<'rewind'> {
    const { clock } = this.#parts;
    const { appName, userId, sessionId } = meant.key;
    const take = (event: object): OutboxEvent => {
      const { id, text, timestamp } = snapshotEvent(event as Event, clock, newEventId);
      return { id, text, timestamp };
    };
    const marker = take(event);
    const others = following.map(take);
    const numbers = [marker, ...others].map(() => {
      const tick = transaction.nextNumber();
      return { seq: tick, tick };
    });
    const { timestamp: time } = others.at(-1) ?? marker;
    const result = {
      events: [marker, ...others],
      state: JSON.stringify(state),
      titleChange,
    } as const;
    return {
      number: numbers[0]!.tick,
      write: { ...meant, key: { appName, userId, sessionId } },
      numbers,
      basis: { birth, time, expected: null, result },
      sent: UNSENT,
      shared: sharedWrites(others.map(({ text }) => deltaOf(text))),
    };
  }

  /** Computes from what this device has. If events are missing, fetches them all and computes again. */
  async #compute<T>(
    key: CompositeSessionKey,
    call: Call,
    work: (session: LocalSession) => T | Promise<T>,
  ): Promise<readonly [LocalSession, T]> {
    const session = await this.#read(key);
    if (session === undefined) throw sessionNotFound(key.sessionId);
    try {
      return [session, await work(session)];
    } catch (error) {
      const isMissing =
        isSessionError(error, 'not_found') || isSessionError(error, 'invalid_argument');
      if (!isMissing || !session.hasOlder) throw error;
    }
    const whole = await this.#parts.get(key, call);
    if (whole === undefined) throw sessionNotFound(key.sessionId);
    const { events, title, created: birth, revision } = whole;
    const state = JSON.parse(whole.state) as StateShape;
    const known = { ...session, events, state, title, birth, revision };
    const fetched = { ...known, hasOlder: false, olderInvocations: undefined };
    return [fetched, await work(fetched)];
  }

  /** Fetches a session that was never read. */
  async #require(key: CompositeSessionKey, call: Call): Promise<void> {
    await this.forked(key);
    const { fetch } = this.#parts;
    if ((await this.#read(key)) !== undefined) return;
    await untilAborted(call.signal, fetch.require(key, 1)).catch(onlyRefusals(call));
  }

  #read(key: CompositeSessionKey): Promise<LocalSession | undefined> {
    return this.#parts.data.read(async (transaction) => {
      const view = await transaction.view(key);
      if (view === undefined) return undefined;
      const rows = await lastEvents(transaction, key, view, {});
      const { birth, revision, state, title, initialState, copy } = view;
      const isUnfetched = view.overlay.creation?.basis.isThere === true;
      const hasOlder = copy === undefined ? isUnfetched : copy.hasOlder || copy.isStale;
      const events = parseTexts(rows.map(({ text }) => text));
      const isOwn = (id: string): boolean => view.overlay.events.has(id);
      const part = { rewindStarts: copy?.rewindStarts, isOwn };
      return {
        events,
        olderInvocations: hasOlder ? olderInvocations(events, part) : undefined,
        state: JSON.parse(state) as StateShape,
        title: title === '' ? undefined : title,
        // Older events than those that are here may have changed it.
        initialState: () =>
          Promise.resolve(
            hasOlder || initialState === undefined
              ? undefined
              : (JSON.parse(initialState) as StateShape),
          ),
        ...{ birth, revision, hasOlder, isPlain: copy?.created === null },
      };
    });
  }

  async fork(request: ForkWrite, call: Call): Promise<ReadSession> {
    const { key, newSessionId: sessionId, end, title } = request;
    const write: ForkWrite = { kind: 'fork', key, newSessionId: sessionId, end, title };
    const newKey = { ...key, sessionId };
    const name = nameOf(newKey);
    const forking = this.#fork(write, newKey, call);
    const settled = forking.then(nothing, nothing);
    this.#forks.set(name, settled);
    void settled.then(() => {
      if (this.#forks.get(name) === settled) this.#forks.delete(name);
    });
    return forking;
  }

  /** Lets the remote make the fork, because a copy may lack events. */
  async #fork(write: ForkWrite, newKey: CompositeSessionKey, call: Call): Promise<ReadSession> {
    const { pending, sender, remote, fetch } = this.#parts;
    const make = async (): Promise<void> => {
      // Another tab may have stored changes of which this one has not heard.
      await pending.refresh(write.key);
      await sender.waitFor([nameOf(write.key)], call.signal);
      await remote.ask((store, call) => store.write(write, call), call);
      await fetch.refresh(newKey, 'all');
    };
    await untilAborted(call.signal, make()).catch(onlyRefusals(call));
    const forked = await this.#parts.get(newKey, call);
    if (forked === undefined) throw sessionNotFound(newKey.sessionId);
    return forked;
  }

  async branches({ key, fromEventId }: BranchesRead, call: Call): Promise<SessionBranches> {
    const local = ({ events, olderInvocations: older, hasOlder }: LocalSession) => {
      const isWhole = fromEventId === undefined || !hasOlder;
      return branchesOf(events, { isWhole, older, fromEventId });
    };
    if (fromEventId !== undefined) {
      await this.#require(key, call);
      const session = await this.#read(key);
      const known = session && local(session);
      if (known !== undefined && (session?.isPlain === true || known.isDecided)) return known;
    }
    return this.#askOrCompute(key, call, local, (store, own) =>
      store.read({ kind: 'branches', key, fromEventId }, own),
    );
  }

  stateAt({ key, eventId }: StateAtRead, call: Call): Promise<HistoryState> {
    const local = (session: LocalSession) => stateAfter(session, eventId);
    return this.#askOrCompute(key, call, local, (store, own) =>
      store.read({ kind: 'stateAt', key, eventId }, own),
    );
  }

  /**
   * Asks the remote if the copy lacks events and there is no operation. Otherwise, or without an answer, uses the copy.
   */
  async #askOrCompute<T>(
    key: CompositeSessionKey,
    call: Call,
    local: (session: LocalSession) => T | Promise<T>,
    ask: RemoteCall<T | undefined>,
  ): Promise<T> {
    const { pending, remote } = this.#parts;
    await this.#require(key, call);
    const session = await this.#read(key);
    const isAsked = session?.hasOlder === true && pending.operations(nameOf(key)).length === 0;
    if (isAsked) {
      try {
        const asked = remote.ask(async (store, own) => {
          if (store.traits.computesHistories !== true) throw computesNoHistories();
          return ask(store, own);
        }, call);
        const answer = await untilAborted(call.signal, asked);
        if (answer === undefined) throw sessionNotFound(key.sessionId);
        return answer;
      } catch (error) {
        if (isRefusal(error) || call.signal?.aborted === true) throw error;
      }
    }
    return (await this.#compute(key, call, local))[1];
  }
}

/** The result of a write that has changed nothing. */
const UNCHANGED = { result: undefined, numbers: [] };

function nothing(): void {
  // The writes of the new session only wait until the fork has settled.
}

/** Returns a function that throws a refusal as it is, and any other failure as `connection_lost` for missing events. */
function onlyRefusals({ signal }: Call): (error: unknown) => never {
  return (error) => {
    if (isRefusal(error) || signal?.aborted === true) throw error;
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
): Promise<SessionView> {
  const view = await transaction.view(key);
  if (view === undefined) throw sessionNotFound(key.sessionId);
  return view;
}
