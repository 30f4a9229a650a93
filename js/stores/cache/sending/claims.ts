/** Marks mutations as sent, and applies the answers to them: the transactions of the sending. */
import { isSessionError } from '../../../values/errors/errors.js';
import type { CacheContext } from '../copies/context.js';
import type { CopyLimits } from '../copies/copy_limits.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { type CacheKey, isSession, nameOf } from '../records/cache_key.js';
import { attemptsOf, type OutboxKind } from '../outbox/mutation.js';
import { sendableOf } from '../outbox/refusals.js';
import { type Mutations, numbersOf, stillSent } from './answers.js';
import { type Batch, batchOf, type CanSend } from './batch.js';
import type { Leadership } from './leadership.js';

/** Thrown when another tab sends by now. */
export const LEADERSHIP_LOST = new Error('Another tab sends.');

export interface ClaimParts extends CacheContext {
  readonly leadership: Leadership;
  readonly limits: CopyLimits;
}

/**
 * The next batch, if anything is left. The transaction that applied an answer has marked it, which saves a transaction.
 */
export interface Claimed {
  readonly next: Batch | undefined;
}

/** What an answer to all mutations of a batch means. */
type Answer =
  | { readonly type: 'stored' | 'unstored' | 'keptByRemote' }
  | { readonly type: 'heldByRun'; readonly attempts: number };

/** Applies an answer to mutations whose answer is missing. */
type Apply<Kind extends OutboxKind, Result> = (
  transaction: CacheTransaction,
  waiting: Mutations<Kind>,
) => Promise<Result>;

/** Claims mutations for requests, and applies the answers. Copies leave if there is no room for that. */
export class Claims {
  readonly #parts: ClaimParts;
  /** The most mutations of a request, where a larger one was refused. */
  readonly #sizes = new Map<string, number>();

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  /** Notes that the remote has taken a request. */
  noteTaken(key: CacheKey): void {
    this.#sizes.delete(nameOf(key));
  }

  /** Notes that the remote has refused a request of so many mutations: the next ones have half of them. */
  noteTooLarge(key: CacheKey, size: number): void {
    this.#sizes.set(nameOf(key), Math.ceil(size / 2));
  }

  /** Marks the next mutations of a session or state as sent. @throws LEADERSHIP_LOST */
  async next(key: CacheKey, mayGoOn: CanSend): Promise<Batch | undefined> {
    const { data, limits } = this.#parts;
    const batch = await limits.withRoom(key, () =>
      data.write((transaction) => this.#claim(transaction, key, mayGoOn)),
    );
    if (batch === 'leadership lost') throw LEADERSHIP_LOST;
    return batch;
  }

  /** Marks the next mutations as sent, in the transaction that checks the leadership. */
  async #claim(
    transaction: CacheTransaction,
    key: CacheKey,
    mayGoOn: CanSend,
  ): Promise<Batch | 'leadership lost' | undefined> {
    const { owner } = transaction;
    if (owner.leader?.holder !== this.#parts.leadership.holder) return 'leadership lost';
    const record = isSession(key) ? await transaction.copies.get(key) : undefined;
    const sendable = sendableOf(await transaction.outbox.of(key));
    const [first] = sendable;
    if (first === undefined || !mayGoOn(first)) return undefined;
    const chosen = batchOf(sendable, this.#sizes.get(nameOf(key)), mayGoOn);
    const numbers = numbersOf(chosen);
    const attempts = attemptsOf(first) + 1;
    const { outbox } = await carryOut(transaction, key, { type: 'claimed', numbers, attempts });
    const claimed = new Set(numbers);
    const sent = outbox.filter(({ number }) => claimed.has(number));
    const copy = record?.localId === first.localId ? record.copy : undefined;
    const { kind } = first.write;
    // All mutations of a batch are of the first one's kind.
    return { kind, mutations: sent, client: owner.client, copy, mayGoOn } as unknown as Batch;
  }

  /** Marks the next mutations in the transaction that has applied the answer to those before. */
  async behind(
    transaction: CacheTransaction,
    key: CacheKey,
    mayGoOn: CanSend,
  ): Promise<Claimed | undefined> {
    const next = await this.#claim(transaction, key, mayGoOn);
    return next === 'leadership lost' ? undefined : { next };
  }

  /** Carries out what the answer to a batch means, for those of its mutations whose answer is missing. */
  take(batch: Batch, happening: Answer): Promise<void> {
    return this.apply<OutboxKind>(batch, async (transaction, mutations) => {
      const numbers = numbersOf(mutations);
      await carryOut(transaction, mutations[0].write.key, { ...happening, numbers });
    });
  }

  /**
   * Applies an answer to those of the sent mutations whose answer is missing, and returns what the work returns. If the
   * local data was forgotten since the request, there are none.
   *
   * @param withoutRoom applies the answer if there is no room for the work
   */
  async apply<Kind extends OutboxKind, Result = void>(
    { mutations, client }: { readonly mutations: Mutations<Kind>; readonly client: string },
    work: Apply<Kind, Result>,
    withoutRoom?: Apply<Kind, Result>,
  ): Promise<Result | undefined> {
    const { data, limits, report } = this.#parts;
    const apply = (work: Apply<Kind, Result>) =>
      data.write(async (transaction) => {
        if (transaction.client !== client) return undefined;
        const waiting = await stillSent(transaction, mutations);
        return waiting === undefined ? undefined : work(transaction, waiting);
      });
    try {
      return await limits.withRoom(mutations[0].write.key, () => apply(work));
    } catch (error) {
      if (withoutRoom === undefined || !isSessionError(error, 'quota_exceeded')) throw error;
      report(error);
      return apply(withoutRoom);
    }
  }
}
