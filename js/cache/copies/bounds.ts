import { isSessionError } from '../../errors/errors.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { nameOf } from '../records/cache_key.js';
import {
  hasOperations,
  isSent,
  recordOf,
  SESSION,
  type SessionRecord,
  withoutPrefix,
} from '../records/session_record.js';
import type { CacheContext } from './context.js';

/** Milliseconds from a change to the check of the limits, so that many changes need one check. */
const DELAY = 1000;
/** The least milliseconds between two stored times of use of a copy. */
const USE_STEP = 60_000;

type ComputeRecord = (record: SessionRecord) => SessionRecord;

interface Candidate {
  readonly key: CompositeSessionKey;
  readonly usedAt: number;
  readonly isSent: boolean;
  /** 0 without `maxBytes`. */
  readonly bytes: number;
}

/** The limits of the copies that stay. */
interface Limits {
  readonly sessions?: number;
  readonly bytes?: number | undefined;
  /** Copies that were last used before this time do not stay. */
  readonly since?: number;
}

/** Deletes the copies that were used least recently. Never one with unsent changes, or one that is being written. */
export class Bounds {
  readonly #context: CacheContext;
  readonly #usedAt = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(context: CacheContext) {
    this.#context = context;
  }

  /** Marks a copy as used, and soon checks whether there are too many. */
  markUsed(key: CompositeSessionKey): void {
    this.#usedAt.set(nameOf(key), this.#context.clock());
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.trim().catch(this.#context.report);
    }, DELAY);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Writes. If there is no room, deletes a quarter of the copies and writes once more. */
  async write<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!isSessionError(error, 'quota_exceeded')) throw error;
      const candidates = await this.#candidates();
      const count = await this.#delete(candidates, { sessions: candidates.length * 0.75 });
      if (count === 0) throw error;
      return run();
    }
  }

  /** Deletes copies until the rest is within the limits. */
  async trim(): Promise<void> {
    const { maxSessions: sessions, maxAge = Infinity, maxBytes: bytes, clock } = this.#context;
    await this.#delete(await this.#candidates(), { sessions, bytes, since: clock() - maxAge });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #candidates(): Promise<Candidate[]> {
    const { records } = this.#context;
    const candidates: Candidate[] = [];
    for (const { appName, userId } of await records.owners()) {
      if (userId !== undefined) candidates.push(...(await this.#candidatesOf(appName, userId)));
    }
    // Other tabs may have deleted copies.
    const names = new Set(candidates.map(({ key }) => nameOf(key)));
    for (const name of this.#usedAt.keys()) if (!names.has(name)) this.#usedAt.delete(name);
    return candidates.sort((one, other) => one.usedAt - other.usedAt);
  }

  async #candidatesOf(appName: string, userId: string): Promise<Candidate[]> {
    const { local, records, maxBytes } = this.#context;
    const all = await records.read({ appName, userId });
    const withoutCopy = new Set(Object.keys(withoutPrefix(all, SESSION)));
    const changes: (() => Promise<void>)[] = [];
    const change = (key: CompositeSessionKey, compute: ComputeRecord): void => {
      changes.push(() => records.changeSession(key, compute));
    };
    const candidates: Candidate[] = [];
    for (const { sessionId, created, revision } of await local.list(appName, userId)) {
      withoutCopy.delete(sessionId);
      const key = { appName, userId, sessionId };
      const { size, ...record } = recordOf(all, sessionId);
      const { base } = record;
      let bytes = 0;
      if (maxBytes !== undefined) {
        const isKnown = size?.copy === created && size.revision === revision;
        bytes = isKnown ? size.bytes : await local.bytesOf(key);
        // Recorded, so that the next check does not read the session again.
        const measured = { copy: created, revision, bytes };
        if (!isKnown) change(key, () => ({ size: measured }));
      }
      const usedAt = Math.max(base?.usedAt ?? Infinity, this.#usedAt.get(nameOf(key)) ?? 0);
      // Recorded for later visits, but not at each use.
      if (usedAt - (base?.usedAt ?? Infinity) >= USE_STEP) {
        change(key, ({ base }) => (base?.copy === created ? { base: { ...base, usedAt } } : {}));
      }
      candidates.push({ key, isSent: isSent(record, { created, revision }), usedAt, bytes });
    }
    // A tab may have crashed after it deleted a copy.
    for (const sessionId of withoutCopy) {
      const { base, ...record } = recordOf(all, sessionId);
      if (!isIdle(record)) continue;
      change({ appName, userId, sessionId }, (present) => {
        const isSame = present.base?.copy === base?.copy && isIdle(present);
        return isSame ? { base: undefined, size: undefined } : {};
      });
    }
    await Promise.all(changes.map((write) => write())).catch((error: unknown) => {
      // In a full storage, copies are deleted first. The next check writes them again.
      if (!isSessionError(error, 'quota_exceeded')) throw error;
    });
    return candidates;
  }

  /** Deletes the first candidates until the rest is within the limits. Returns how many. */
  async #delete(
    candidates: readonly Candidate[],
    { sessions: most = Infinity, bytes: mostBytes = Infinity, since = -Infinity }: Limits,
  ): Promise<number> {
    const { local, records, unsent } = this.#context;
    let total = candidates.reduce((sum, { bytes }) => sum + bytes, 0);
    let rest = candidates.length;
    for (const { key, isSent: wasSent, usedAt, bytes } of candidates) {
      // The copy that was used last stays, however large it is.
      const isWithin = rest <= most && (total <= mostBytes || rest === 1);
      if (isWithin && usedAt >= since) break;
      const name = nameOf(key);
      if (!wasSent || unsent.has(name) || unsent.pins.isWriting(name)) continue;
      const head = await local.head(key);
      if (head === undefined || !isSent(await records.session(key), head)) continue;
      // Only if it has not changed since. Without a copy the record says only what the remote had.
      if (!(await local.delete(key, head))) continue;
      await records.removeCopy(key, head.created, {});
      this.#usedAt.delete(name);
      rest -= 1;
      total -= bytes;
    }
    return candidates.length - rest;
  }
}

/** Whether a record has no unsent change, and none that was set aside. */
function isIdle(record: SessionRecord): boolean {
  return record.refused === undefined && !hasOperations(record);
}
