import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import type { ExpectedEvents } from '../../../values/model/session.js';
import type { Results } from '../../../core/storage/store.js';
import type { ServiceFeed } from '../../../core/watch/service_feed.js';
import { contradictionError, type CopyFetcher, type StateFetcher } from '../copies/copy_fetcher.js';
import { type CacheKey, isSession } from '../records/cache_key.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isWaitingForRun } from '../../http/http_errors.js';
import {
  errorOf,
  failureOfError,
  isGivenUp,
  isFinalRefusal,
  refusalOfDeleted,
} from '../records/failures.js';
import {
  askedMessageOf,
  attemptsOf,
  eventOf,
  isAskedFor,
  isNewHere,
  isOfEvent,
  type OutboxKind,
} from '../outbox/mutation.js';
import {
  type CreateWrite,
  type HandlePosition,
  type ReadyWrite,
  type ReadyAppend,
  type WriteKind,
} from '../../../core/write.js';
import { localIdOfCopy } from '../overlay/session_overlay.js';
import { joinedDelta } from '../overlay/shared_overlay.js';
import {
  type Mutations,
  numbersOf,
  applyDescription,
  applyRewind,
  applyStates,
} from './answers.js';
import {
  type Batch,
  type BatchOf,
  type CanSend,
  expectedOf,
  mutationOf,
  snapshotOf,
} from './batch.js';
import { dropMutations, giveUpMessage } from './outbox_edits.js';
import {
  applyAppends,
  revisionBefore,
  titleOf,
  applyCreation,
  applyExistingSession,
} from './event_answers.js';
import { applyAbsence, applyMissingSession, applyBeforeDeletion, refuse } from './refused.js';
import { type ClaimParts, type Claimed, Claims } from './claims.js';
import { applyWithoutRoom } from './without_room.js';

/** The most requests about one session in a row without progress. */
const MAX_ROUNDS = 20;

export interface DeliveryParts extends ClaimParts {
  readonly fetch: CopyFetcher;
  readonly states: StateFetcher;
}

/** Sends a batch and takes its answer. @returns nothing if what comes next is not marked yet */
type Verb<Kind extends OutboxKind> = (batch: BatchOf<Kind>) => Promise<Claimed | undefined | void>;

/** Sends the mutations of one session or state in their order. */
export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #claims: Claims;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#claims = new Claims(parts);
  }

  /**
   * Sends what can be sent of a session or state.
   *
   * @throws LEADERSHIP_LOST, or why the remote or the local storage does not answer
   */
  async send(key: CacheKey, mayGoOn: CanSend): Promise<void> {
    let [rounds, last] = [0, 0];
    let batch = await this.#claims.next(key, mayGoOn);
    // Another tab may have forgotten what this tab knew of.
    if (batch === undefined) await this.#parts.pending.refresh(key);
    while (batch !== undefined) {
      const { number } = batch.mutations[0];
      rounds = number > last ? 0 : rounds + 1;
      last = number;
      if (rounds > MAX_ROUNDS && isSession(key)) throw contradictionError(key);
      const marked = await this.#sendBatch(key, batch);
      batch = marked === undefined ? await this.#claims.next(key, mayGoOn) : marked.next;
    }
  }

  async #sendBatch(key: CacheKey, batch: Batch): Promise<Claimed | undefined> {
    try {
      const marked = await (this.#verbs[batch.kind] as Verb<OutboxKind>)(batch);
      this.#claims.noteTaken(key);
      return marked ?? undefined;
    } catch (error) {
      if (isWaitingForRun(error)) {
        const attempts = attemptsOf(batch.mutations[0]);
        await this.#claims.take(batch, { type: 'heldByRun', attempts });
      }
      // A damaged event can never be sent.
      const refusal = isSessionError(error, 'corrupt_record') ? new RemoteRefusal(error) : error;
      if (!(refusal instanceof RemoteRefusal)) throw error;
      await this.#refused(key, batch, refusal.cause);
      return undefined;
    }
  }

  async #refused(key: CacheKey, batch: Batch, error: SessionError): Promise<void> {
    const { mutations } = batch;
    const [first] = mutations;
    const { code, mutation, actualEvents } = error as SessionError & {
      readonly mutation?: string;
      readonly actualEvents?: ExpectedEvents;
    };
    if (code === 'not_found' && batch.kind === 'rewind') return this.#refuseRewind(batch, error);
    if (code === 'not_found' && isSession(key)) {
      return this.#claims.apply(
        batch,
        mutation === 'applied' ? applyBeforeDeletion : applyMissingSession,
      );
    }
    const messageId = isGivenUp(error) ? askedMessageOf(first) : undefined;
    if (messageId !== undefined && isSession(key)) {
      return this.#claims.apply(batch, async (transaction) => {
        await giveUpMessage(transaction, key, messageId, true);
      });
    }
    if (mutations.length > 1) {
      this.#claims.noteTooLarge(key, mutations.length);
      return this.#claims.take(batch, { type: 'unstored' });
    }
    // Another device has answered the call. The user can do nothing about that, so the mutations behind it are sent.
    if (error.staleReason === 'answered' && isSession(key) && isOfEvent(first)) {
      this.#parts.report(error);
      return this.#drop(key, batch, eventOf(first).id);
    }
    const actual =
      code === 'stale_session' && isOfEvent(first) && actualEvents !== undefined
        ? (actualEvents[eventOf(first).id] ?? null)
        : undefined;
    const isRefused = await this.#claims.apply<OutboxKind, boolean>(
      batch,
      (transaction, [waiting]) => refuse(transaction, waiting, failureOfError(error), actual),
    );
    if (isRefused === false) return;
    this.#parts.report(error);
    // The copy may have an older version of the event than the remote.
    if (code === 'stale_session' && isSession(key)) await this.#parts.fetch.refresh(key);
  }

  /** Drops an event that the remote does not want, as a user does. What waits behind it is sent. */
  #drop(key: CacheKey, batch: Batch, eventId: string): Promise<void> {
    return this.#claims.apply<OutboxKind>(batch, (transaction, dropped) =>
      dropMutations(transaction, key, dropped, eventId),
    );
  }

  /** Refuses a rewind because its place or its session is not there. A fetch tells which. */
  async #refuseRewind(batch: BatchOf<'rewind'>, error: SessionError): Promise<void> {
    await this.#parts.fetch.refresh(batch.mutations[0].write.key);
    await this.#claims.apply(batch, async (transaction, [mutation]) => {
      await refuse(transaction, mutation, failureOfError(error));
    });
    this.#parts.report(error);
  }

  readonly #verbs: { readonly [Kind in OutboxKind]: Verb<Kind> } = {
    create: (batch) => this.#create(batch),
    append: (batch) => this.#append(batch),
    rewind: (batch) => this.#rewind(batch),
    describe: (batch) => this.#describe(batch),
    delete: (batch) => this.#delete(batch),
    update: (batch) => this.#update(batch),
    cancel: (batch) => this.#cancel(batch),
  };

  /** Sends a write. @throws RemoteRefusal, unlike a failure of the local storage */
  async #write<Kind extends WriteKind>(write: ReadyWrite<Kind>): Promise<Results[Kind]> {
    try {
      return await this.#parts.remote.request((store, call) => store.write(write, call));
    } catch (error) {
      throw isFinalRefusal(error) ? new RemoteRefusal(error) : error;
    }
  }

  /** The remote's feed. The remote itself publishes only what its own methods write. */
  get #feed(): ServiceFeed {
    return this.#parts.remote.core.publisher;
  }

  async #create(batch: BatchOf<'create'>): Promise<Claimed | undefined> {
    const { fetch, clock, awaited } = this.#parts;
    const [mutation] = batch.mutations;
    const { localId, number } = mutation;
    const { key, events } = mutation.write;
    const write: CreateWrite = {
      ...mutation.write,
      events: events.map(snapshotOf),
      now: clock(),
      mutation: mutationOf(batch),
    };
    let refusal: RemoteRefusal | undefined;
    const created = isAskedFor(mutation)
      ? undefined
      : await this.#write(write).catch((error: unknown) => {
          // Who may not create a session may still write to one that is there.
          if (!(error instanceof RemoteRefusal) || error.cause.status !== 403) throw error;
          refusal = error;
          return undefined;
        });
    if (created !== undefined) {
      this.#feed.publish(write, created);
      const apply =
        (hasRoom: boolean) =>
        async (transaction: CacheTransaction, [waiting]: Mutations<'create'>) => {
          await applyCreation(transaction, waiting, created, hasRoom);
          const isBehind = (await transaction.copies.get(key))?.copy?.isStale === true;
          return isBehind ? 'behind' : this.#claims.behind(transaction, key, batch.mayGoOn);
        };
      const outcome = await this.#claims.apply(batch, apply(true), apply(false));
      if (outcome !== 'behind') return outcome;
      await fetch.refresh(key);
      return undefined;
    }
    await this.#claims.apply(batch, applyExistingSession);
    const need = isNewHere(mutation) ? 1 : 'all';
    const { isAbsent } = await fetch.refresh(key, need).catch((error: unknown) => {
      throw isFinalRefusal(error) ? (refusal ?? new RemoteRefusal(error)) : error;
    });
    const demanding = await this.#claims.apply(batch, async (transaction, [waiting]) => {
      const isMerged = localIdOfCopy(await transaction.copies.get(key)) === localId;
      if (isMerged) {
        await carryOut(transaction, key, { type: 'merged', number });
        return undefined;
      }
      // There may be no room for the copy.
      if (!isAbsent) throw contradictionError(key);
      const needing = await applyAbsence(transaction, waiting);
      if (refusal !== undefined) await refuse(transaction, waiting, failureOfError(refusal.cause));
      return needing;
    });
    if (demanding === undefined) return undefined;
    if (refusal !== undefined) {
      this.#parts.report(refusal.cause);
      return undefined;
    }
    const isTold = demanding.every(({ number }) => awaited.has(number));
    if (!isTold) this.#parts.report(errorOf(refusalOfDeleted(key)));
    return undefined;
  }

  async #append(batch: BatchOf<'append'>): Promise<Claimed | undefined> {
    const { fetch, states } = this.#parts;
    const { mutations, copy } = batch;
    const { key } = mutations[0].write;
    if (copy === undefined) {
      await fetch.refresh(key);
      await this.#claims.apply(batch, async (transaction, waiting) => {
        const record = await transaction.copies.get(key);
        // Another session with this id may be there by now.
        const isThere = record?.copy !== undefined && record.localId === waiting[0].localId;
        if (!isThere) return applyMissingSession(transaction, waiting);
        await carryOut(transaction, key, { type: 'unstored', numbers: numbersOf(waiting) });
      });
      return undefined;
    }
    const { created } = copy;
    const position: HandlePosition =
      created === null
        ? { kind: 'latest' }
        : { kind: 'revision', created, revision: revisionBefore(mutations, copy) };
    const { run } = mutations[0].write;
    const write: ReadyAppend = {
      kind: 'append',
      key,
      position,
      stale: 'merge',
      run,
      events: mutations.map((mutation) => snapshotOf(eventOf(mutation))),
      // A stored message is never replaced.
      expectedEvents: run === undefined ? expectedOf(mutations) : undefined,
      firstTitle: titleOf(mutations),
      mutation: mutationOf(batch),
    };
    const appended = await this.#write(write);
    if (created !== null && appended.created !== created) throw otherAnswer();
    this.#feed.publish(write, appended);
    const outcome = await this.#claims.apply(
      batch,
      async (transaction, acknowledged) => {
        const untold = await applyAppends(
          transaction,
          key,
          mutations,
          acknowledged,
          appended,
          copy,
        );
        const { isBehind } = untold;
        return {
          ...untold,
          marked: isBehind ? undefined : await this.#claims.behind(transaction, key, batch.mayGoOn),
        };
      },
      async (transaction, acknowledged) => {
        const overtaken = await applyWithoutRoom(transaction, acknowledged);
        return { overtaken, isBehind: true, marked: undefined };
      },
    );
    if (outcome === undefined) return undefined;
    await states.fetchOvertaken(outcome.overtaken);
    if (outcome.isBehind) await fetch.refresh(key);
    return outcome.marked;
  }

  /** Asks the remote to rewind. Its answer does not tell the state, so the copy is fetched. */
  async #rewind(batch: BatchOf<'rewind'>): Promise<void> {
    const [{ write }] = batch.mutations;
    const rewound = await this.#write({ ...write, mutation: mutationOf(batch) });
    this.#feed.publish(write, rewound);
    const { revision } = rewound;
    await this.#claims.apply(batch, (transaction, acknowledged) =>
      applyRewind(transaction, acknowledged, revision),
    );
    await this.#parts.fetch.refresh(write.key);
  }

  async #describe(batch: BatchOf<'describe'>): Promise<void> {
    const write = { ...batch.mutations[0].write, mutation: mutationOf(batch) };
    const isThere = await this.#write(write);
    this.#feed.publish(write, isThere);
    await this.#claims.apply(batch, isThere ? applyDescription : applyMissingSession);
  }

  /**
   * The deletion names the session that it deletes. One that arrives late deletes no session that was created since.
   */
  async #delete(batch: BatchOf<'delete'>): Promise<void> {
    const created = batch.copy?.created ?? undefined;
    const [{ write: meant }] = batch.mutations;
    const { ifUnchanged = false } = meant;
    const mutation = mutationOf(batch);
    if (meant.what !== 'session') {
      const write = { ...meant, mutation };
      this.#feed.publish(write, await this.#write(write));
      await this.#claims.apply(batch, applyStates);
      return;
    }
    const unchanged = created === undefined ? undefined : { revision: created };
    const write = { ...meant, created, mutation, ...(ifUnchanged && { unchanged }) };
    // A remote without revisions cannot tell whether anybody has changed the session.
    const isPossible = !ifUnchanged || unchanged !== undefined;
    const deletion = isPossible
      ? await this.#write(write).catch((error: unknown) => {
          // It is no error that the session stays, for example because this client may not delete it.
          if (ifUnchanged && error instanceof RemoteRefusal) return { isDeleted: false };
          throw error;
        })
      : { isDeleted: false };
    this.#feed.publish(write, deletion);
    if (!ifUnchanged || deletion.isDeleted) return this.#claims.take(batch, { type: 'stored' });
    await this.#claims.take(batch, { type: 'keptByRemote' });
    await this.#parts.fetch.refresh(meant.key);
  }

  async #update(batch: BatchOf<'update'>): Promise<void> {
    const { mutations } = batch;
    const delta = joinedDelta(mutations);
    const write = { ...mutations[0].write, delta, mutation: mutationOf(batch) };
    this.#feed.publish(write, await this.#write(write));
    await this.#claims.apply(batch, applyStates);
  }

  /** Cancels the run of a message that was given up. If it has arrived, the session is shown with it. */
  async #cancel(batch: BatchOf<'cancel'>): Promise<void> {
    const [{ write }] = batch.mutations;
    const { key, messageId } = write;
    const { remote, fetch } = this.#parts;
    const agent = remote.core.serverAgent;
    try {
      await remote.request(async (_, { signal }) => agent?.cancel({ ...key, messageId, signal }));
    } catch (error) {
      // The remote knows no such session, or this client may not cancel.
      if (!isFinalRefusal(error)) throw error;
    }
    await this.#claims.take(batch, { type: 'stored' });
    await fetch.refresh(key);
  }
}

/** The error of an answer for another session: a proxy may have mixed up two answers. */
function otherAnswer(): SessionError {
  const message = 'The remote answered for another session. The events are sent again.';
  return new SessionError('connection_lost', message, { storage: 'cache' });
}

/** Thrown when the remote will never accept a change. */
class RemoteRefusal extends Error {
  declare readonly cause: SessionError;

  constructor(cause: SessionError) {
    super(cause.message, { cause });
  }
}
