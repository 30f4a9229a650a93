import type {
  DeletedNotice,
  LostNotice,
  Notice,
  PublishedNotice,
  SessionNotice,
  StateChangedNotice,
} from './notice.js';

/** Minimum number of sessions and states whose position is remembered. */
const REMEMBERED = 10_000;

/**
 * Revision difference above which a notice does not count as late: the remembered position must be wrong.
 * Other code on the channel of the tabs may have named a revision that no change reaches. All later notices
 * would then be dropped.
 */
const IMPLAUSIBLE = 1_000_000;

/** The position of a session or a state. */
interface Place {
  readonly revision: number;
  /**
   * A deletion comes after the change that it deleted, even if both have the same revision, and before newer
   * changes.
   */
  readonly isDeleted: boolean;
}

/**
 * The notices that one watcher has not received yet: the newest of each session and each state.
 *
 * Notices of several tabs arrive in any order. For each session they are returned in the order of their
 * revisions, and older ones are dropped. A deletion carries the storage's floor. A notice without a revision,
 * from an adapter that reports no floor, counts as the newest.
 *
 * The position of a session must be remembered for longer than a notice of it is pending. It is forgotten
 * after so many others that no older notice can still arrive. Otherwise a watcher of an app with millions of
 * sessions would use ever more memory.
 */
export class PendingNotices {
  /** In the order of delivery. A newer notice replaces its predecessor in place. */
  readonly #pending = new Map<string, Notice>();
  readonly #places = new Recent<Place>(REMEMBERED);

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Adds a notice, unless it is out of date. */
  push(notice: PublishedNotice): void {
    if (notice.type === 'lost') this.#lose(notice);
    else if (notice.type === 'stateChanged') this.#pushState(notice);
    else if (isOfSession(notice)) this.#pushSession(notice);
    else this.#pushUser(notice);
  }

  /**
   * Replaces all pending notices except `lost` by `resync`: changes may have been missed, so everything must
   * be read again.
   */
  resync(): void {
    const loss = this.#pending.get('lost');
    this.#restart();
    if (loss !== undefined) this.#pending.set('lost', loss);
    this.#pending.set('resync', { type: 'resync' });
  }

  #lose(notice: LostNotice): void {
    this.#restart();
    this.#pending.set('lost', notice);
  }

  #restart(): void {
    this.#pending.clear();
    // The database may be a new one, whose revisions begin again at 1.
    this.#places.clear();
  }

  clear(): void {
    this.#pending.clear();
  }

  shift(): Notice | undefined {
    for (const [key, notice] of this.#pending) {
      this.#pending.delete(key);
      return notice;
    }
    return undefined;
  }

  #pushState(notice: StateChangedNotice): void {
    const { scope, appName, userId, revision } = notice;
    const key = keyOf(scope, appName, userId);
    const last = this.#places.get(key)?.revision ?? 0;
    // An equal revision is not dropped: the notice of a deleted state carries the floor, which may equal the
    // state's last revision.
    if (revision !== undefined && revision < last) {
      if (isImplausible(revision, last)) this.resync();
      return;
    }
    if (revision !== undefined) this.#places.set(key, { revision, isDeleted: false });
    this.#pending.set(key, notice);
  }

  #pushSession(notice: OfSession): void {
    const { appName, userId, sessionId, revision } = notice;
    const user = this.#places.get(keyOf('user deleted', appName, userId));
    if (user !== undefined && revision !== undefined && revision <= user.revision) {
      if (isImplausible(revision, user.revision)) this.resync();
      return;
    }
    const key = keyOf('session', appName, userId, sessionId);
    if (!this.#advance(key, revision, notice.type === 'deleted')) return;
    // A caller that keeps a list of sessions must learn that there is a new one.
    const isNew = notice.type === 'appended' && this.#pending.get(key)?.type === 'created';
    this.#pending.set(key, isNew ? { ...notice, type: 'created' } : notice);
  }

  /**
   * Adds the deletion of all sessions of a user. It replaces the user's older notices and comes before the
   * newer ones.
   */
  #pushUser(notice: DeletedNotice): void {
    const { appName, userId, revision = Infinity } = notice;
    const key = keyOf('user deleted', appName, userId);
    if (!this.#advance(key, notice.revision, true)) return;
    const newer: [string, Notice][] = [];
    for (const [key, pending] of this.#pending) {
      if (!('userId' in pending) || pending.type === 'stateChanged') continue;
      if (pending.appName !== appName || pending.userId !== userId) continue;
      this.#pending.delete(key);
      if (pending.revision !== undefined && pending.revision > revision) newer.push([key, pending]);
    }
    this.#pending.set(key, notice);
    for (const [key, pending] of newer) this.#pending.set(key, pending);
  }

  /** Returns whether the notice is new. If so, remembers the new position. */
  #advance(key: string, revision: number | undefined, isDeleted: boolean): boolean {
    if (revision === undefined) return true;
    const last = this.#places.get(key);
    if (last !== undefined) {
      if (revision < last.revision) {
        if (isImplausible(revision, last.revision)) this.resync();
        return false;
      }
      if (revision === last.revision && (last.isDeleted || !isDeleted)) return false;
    }
    this.#places.set(key, { revision, isDeleted });
    return true;
  }
}

function isImplausible(revision: number, last: number): boolean {
  return last - revision > IMPLAUSIBLE;
}

type OfSession = SessionNotice | (DeletedNotice & { sessionId: string });

function isOfSession(notice: SessionNotice | DeletedNotice): notice is OfSession {
  return notice.sessionId !== undefined;
}

/** A key as JSON, so that no character in an id can produce another id's key. */
function keyOf(...names: (string | undefined)[]): string {
  return JSON.stringify(names);
}

/** A map that keeps at least the last `limit` entries that were set, and at most twice as many. */
class Recent<T> {
  readonly #limit: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): T | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, value: T): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#limit) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
