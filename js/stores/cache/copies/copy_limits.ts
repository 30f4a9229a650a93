import { backgroundTimer } from '../../../core/call/lifetime.js';
import { eventsOf } from '../outbox/mutation.js';
import { isSessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { type CacheKey, isSession, nameOf } from '../records/cache_key.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import type { CacheContext } from './context.js';

/** Milliseconds from a change to the check of the limits, so that many changes need one check. */
const DELAY = 1000;
/** The least milliseconds between two stored times of use of a copy. */
const USE_STEP = 60_000;

export interface CopyLimitsParts extends CacheContext {
  readonly maxSessions: number;
  readonly maxAge?: number | undefined;
  readonly maxBytes?: number | undefined;
}

interface Candidate {
  readonly key: CompositeSessionKey;
  readonly usedAt: number;
  /** The time of use in the record. */
  readonly storedAt: number;
  readonly isFree: boolean;
  readonly size: number;
}

/** The limits of the copies that stay. */
interface Limits {
  readonly sessions: number;
  readonly bytes?: number | undefined;
  /** Copies that were last used before this time do not stay. */
  readonly since?: number;
}

/** Deletes the copies that were used least recently, but never one with unsent changes or one that is being written. */
export class CopyLimits {
  readonly #parts: CopyLimitsParts;
  readonly #usedAt = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: CopyLimitsParts) {
    this.#parts = parts;
  }

  /** Marks a copy as used, and soon checks whether there are too many. */
  markUsed(key: CompositeSessionKey): void {
    this.#usedAt.set(nameOf(key), this.#parts.clock());
    this.checkSoon();
  }

  /** Soon checks whether there are too many. */
  checkSoon(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = backgroundTimer(() => {
      this.#timer = undefined;
      this.#running = this.trim().catch(this.#parts.report);
    }, DELAY);
  }

  /** Runs a write of the program. Its session counts as used. */
  async write<T>(key: CacheKey, run: () => Promise<T>): Promise<T> {
    const result = await this.withRoom(key, run);
    if (isSession(key)) this.markUsed(key);
    return result;
  }

  /** Stores what a fetch has brought. @param began the last number that was drawn before the fetch */
  store<T>(
    key: CompositeSessionKey | undefined,
    began: number,
    work: (transaction: CacheTransaction) => Promise<T>,
  ): Promise<T> {
    const store = (transaction: CacheTransaction): Promise<T> => {
      // If the local data is new and the clock was set back, `began` may be higher than the counter.
      transaction.drawUpTo(began);
      return work(transaction);
    };
    return this.withRoom(key, () => this.#parts.data.write(store));
  }

  /** Writes. If there is no room, deletes a quarter of the copies, but not this one, and writes once more. */
  async withRoom<T>(key: CacheKey | undefined, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!isSessionError(error, 'quota_exceeded')) throw error;
      const candidates = (await this.#candidates()).filter(
        (candidate) => key === undefined || nameOf(candidate.key) !== nameOf(key),
      );
      const count = await this.#delete(candidates, {
        sessions: Math.floor(candidates.length * 0.75),
      });
      if (count === 0) throw error;
      return run();
    }
  }

  /** Deletes copies until the rest is within the limits. */
  async trim(): Promise<void> {
    const { maxSessions: sessions, maxAge = Infinity, maxBytes: bytes, clock } = this.#parts;
    const candidates = await this.#candidates();
    await this.#storeUses(candidates);
    await this.#delete(candidates, { sessions, bytes, since: clock() - maxAge });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Stores when copies were used, to the minute. */
  async #storeUses(candidates: readonly Candidate[]): Promise<void> {
    const later = candidates.filter(({ usedAt, storedAt }) => usedAt >= storedAt + USE_STEP);
    if (later.length === 0) return;
    await this.#parts.data.write(async ({ copies }) => {
      for (const { key, usedAt } of later) {
        const record = await copies.get(key);
        const isLater = record !== undefined && record.usedAt < usedAt;
        if (isLater) await copies.put(key, { ...record, usedAt });
      }
    });
  }

  async #candidates(): Promise<Candidate[]> {
    return this.#parts.data.read(async (transaction) => {
      const waiting = await transaction.outbox.below({});
      const candidates = (await transaction.copies.copied({})).map(([key, record]) => {
        const { copy, usedAt: storedAt } = record;
        const mutations = waiting.get(nameOf(key)) ?? [];
        const unsent = mutations.flatMap(eventsOf).reduce((sum, { text }) => sum + text.length, 0);
        const usedAt = Math.max(storedAt, this.#usedAt.get(nameOf(key)) ?? 0);
        const isFree = mutations.length === 0;
        return { key, usedAt, storedAt, size: copy.size + unsent, isFree };
      });
      return candidates.sort((one, other) => other.usedAt - one.usedAt);
    });
  }

  /** @returns the number of deleted copies */
  async #delete(
    candidates: readonly Candidate[],
    { sessions, bytes = Infinity, since = -Infinity }: Limits,
  ): Promise<number> {
    const { data } = this.#parts;
    let [count, size] = [0, 0];
    const unneeded: CompositeSessionKey[] = [];
    for (const candidate of candidates) {
      const isKept =
        count < sessions &&
        (size + candidate.size <= bytes || count === 0) &&
        candidate.usedAt >= since;
      if (isKept || !candidate.isFree) {
        count += 1;
        size += candidate.size;
      } else unneeded.push(candidate.key);
    }
    if (unneeded.length === 0) return 0;
    return data.write(async (transaction) => {
      let deleted = 0;
      for (const key of unneeded) {
        const record = await transaction.copies.get(key);
        if (record?.copy === undefined || (await transaction.outbox.of(key)).length > 0) continue;
        await transaction.copies.evict(key, record);
        deleted += 1;
      }
      return deleted;
    });
  }
}
