import { backgroundTimer } from '../../../core/call/program_hold.js';
import { eventsOf } from '../records/records.js';
import { isSessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { nameOf } from '../records/cache_key.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import type { FetchBeginning } from './copy_writer.js';
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

  /** Writes. If there is no room, deletes a quarter of the copies, but not this one, and writes once more. */
  async write<T>(key: CompositeSessionKey | undefined, run: () => Promise<T>): Promise<T> {
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

  /** Stores what a fetch has brought. */
  store<T>(
    key: CompositeSessionKey | undefined,
    start: FetchBeginning,
    work: (transaction: CacheTransaction) => Promise<T>,
  ): Promise<T> {
    return this.write(key, () =>
      this.#parts.data.write((transaction) => {
        // If the local data is new and the clock was set back, `began` may be higher than the counter.
        transaction.drawUpTo(start.began);
        return work(transaction);
      }),
    );
  }

  /** Deletes copies until the rest is within the limits. */
  async trim(): Promise<void> {
    const { maxSessions: sessions, maxAge = Infinity, maxBytes: bytes, clock } = this.#parts;
    await this.#storeUses();
    await this.#delete(await this.#candidates(), { sessions, bytes, since: clock() - maxAge });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Stores when copies were used, to the minute. */
  async #storeUses(): Promise<void> {
    const { data } = this.#parts;
    const sessions = await data.read((transaction) => transaction.copies.list({}));
    const later = sessions.filter(
      ([key, { usedAt }]) => this.#usedAtOf(key, usedAt) >= usedAt + USE_STEP,
    );
    if (later.length === 0) return;
    await data.write(async (transaction) => {
      for (const [key] of later) {
        const record = await transaction.copies.get(key);
        if (record === undefined) continue;
        await transaction.copies.put(key, {
          ...record,
          usedAt: this.#usedAtOf(key, record.usedAt),
        });
      }
    });
  }

  #usedAtOf(key: CompositeSessionKey, stored: number): number {
    return Math.max(stored, this.#usedAt.get(nameOf(key)) ?? 0);
  }

  async #candidates(): Promise<Candidate[]> {
    return this.#parts.data.read(async (transaction) => {
      const waiting = await transaction.outbox.below({});
      const candidates = (await transaction.copies.list({})).flatMap(([key, { copy, usedAt }]) => {
        if (copy === undefined) return [];
        const operations = waiting.get(nameOf(key)) ?? [];
        const unsent = operations.flatMap(eventsOf).reduce((sum, { text }) => sum + text.length, 0);
        const isFree = operations.length === 0;
        return [{ key, usedAt: this.#usedAtOf(key, usedAt), size: copy.size + unsent, isFree }];
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
        await transaction.copies.giveUp(key, record);
        deleted += 1;
      }
      return deleted;
    });
  }
}
