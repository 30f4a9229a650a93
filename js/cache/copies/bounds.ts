import type { CompositeSessionKey } from '../../model/session.js';
import type { LocalCopies } from './local_copies.js';
import type { Pending } from '../records/pending.js';
import { type Base, isSent, nameOf, recordOf, type Records } from '../records/records.js';

/** How long to wait after a change, so that many changes are looked at together, in milliseconds. */
const DELAY = 1000;

export interface BoundsParts {
  readonly local: LocalCopies;
  readonly records: Records;
  readonly pending: Pending;
  readonly clock: () => number;
  readonly maxSessions: number;
  readonly maxAge: number | undefined;
  readonly report: (error: unknown) => void;
}

interface Candidate {
  readonly key: CompositeSessionKey;
  readonly usedAt: number;
  readonly isSent: boolean;
}

/** Deletes the copies that were used least recently. Never one with unsent changes. */
export class Bounds {
  readonly #parts: BoundsParts;
  readonly #usedAt = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: BoundsParts) {
    this.#parts = parts;
  }

  /** Notes that a copy was used, and looks soon whether there are too many. */
  readonly noteUse = (key: CompositeSessionKey): void => {
    this.#usedAt.set(nameOf(key), this.#parts.clock());
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.trim().catch(this.#parts.report);
    }, DELAY);
    (this.#timer as { unref?: () => void }).unref?.();
  };

  /** Deletes a quarter of the copies, for a write that found no room. Returns whether it could. */
  async evict(): Promise<boolean> {
    const candidates = await this.#candidates();
    return (await this.#delete(candidates, Math.floor((candidates.length * 3) / 4), 0)) > 0;
  }

  /** Deletes what is past the limits. */
  async trim(): Promise<void> {
    const { maxSessions, maxAge, clock } = this.#parts;
    const oldest = maxAge === undefined ? 0 : clock() - maxAge;
    await this.#delete(await this.#candidates(), maxSessions, oldest);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #candidates(): Promise<Candidate[]> {
    const { local, records } = this.#parts;
    const candidates: Candidate[] = [];
    for (const owner of await records.owners()) {
      const { appName, userId } = owner;
      if (userId === undefined) continue;
      const all = await records.read(owner);
      for (const copy of await local.list(appName, userId)) {
        const key = { appName, userId, sessionId: copy.sessionId };
        const record = recordOf(all, copy.sessionId);
        const usedAt = this.#lastUse(key, record.base);
        candidates.push({ key, isSent: isSent(record, copy), usedAt });
      }
    }
    return candidates.sort((one, other) => one.usedAt - other.usedAt);
  }

  #lastUse(key: CompositeSessionKey, base: Base | undefined): number {
    return Math.max(base?.usedAt ?? Infinity, this.#usedAt.get(nameOf(key)) ?? 0);
  }

  /** Deletes the first candidates until at most so many are left, and those that were not used since a time. */
  async #delete(candidates: readonly Candidate[], most: number, since: number): Promise<number> {
    const { local, records, pending } = this.#parts;
    let count = 0;
    for (const { key, isSent, usedAt } of candidates) {
      if (candidates.length - count <= most && usedAt >= since) break;
      if (!isSent || pending.has(nameOf(key))) continue;
      const head = await local.head(key);
      const { base } = await records.session(key);
      if (head === undefined) continue;
      if (base?.copy !== head.created || base.local !== head.revision) continue;
      // Only if it has not changed since. Without a copy the record says only what the remote had.
      if (!(await local.delete(key, head))) continue;
      await records.removeCopy(key, head.created, {});
      this.#usedAt.delete(nameOf(key));
      count += 1;
    }
    return count;
  }
}
