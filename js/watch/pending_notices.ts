import { putLast } from '../storage/bounded_map.js';
import type {
  DeletedNotice,
  LostNotice,
  Notice,
  PublishedNotice,
  SessionNotice,
  StateChangedNotice,
} from './notice.js';

/** Maximum number of sessions and states whose position is remembered; the last changed ones are. */
const MAX_REMEMBERED = 10_000;

/**
 * Revision difference above which a notice does not count as late: the remembered position must be wrong.
 * Other code on the channel of the tabs may have named a revision that no change reaches. All later notices
 * would then be dropped.
 */
const MAX_LAG = 1_000_000;

/** The position of a session or a state. */
interface LastChange {
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
  readonly #lastChanges = new Map<string, LastChange>();

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Adds a notice, unless it is out of date. */
  push(notice: PublishedNotice): void {
    if (notice.type === 'lost') this.#pushLoss(notice);
    else if (notice.type === 'stateChanged') this.#pushState(notice);
    else if (isOneSession(notice)) this.#pushSession(notice);
    else this.#pushUserDeletion(notice);
  }

  /**
   * Replaces all pending notices except `lost` by `resync`: changes may have been missed, so everything must
   * be read again.
   */
  resync(): void {
    const loss = this.#pending.get('lost');
    this.#reset();
    if (loss !== undefined) this.#pending.set('lost', loss);
    this.#pending.set('resync', { type: 'resync' });
  }

  #pushLoss(notice: LostNotice): void {
    this.#reset();
    this.#pending.set('lost', notice);
  }

  #reset(): void {
    this.#pending.clear();
    // The database may be a new one, whose revisions begin again at 1.
    this.#lastChanges.clear();
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
    const key = noticeKey(scope, appName, userId);
    const last = this.#lastChanges.get(key)?.revision ?? 0;
    // An equal revision is not dropped: the notice of a deleted state carries the floor, which may equal the
    // state's last revision.
    if (revision !== undefined && revision < last) {
      if (isImplausible(revision, last)) this.resync();
      return;
    }
    if (revision !== undefined) this.#remember(key, { revision, isDeleted: false });
    this.#pending.set(key, notice);
  }

  #pushSession(notice: OneSessionNotice): void {
    const { appName, userId, sessionId, revision } = notice;
    const user = this.#lastChanges.get(noticeKey('user deleted', appName, userId));
    if (user !== undefined && revision !== undefined && revision <= user.revision) {
      if (isImplausible(revision, user.revision)) this.resync();
      return;
    }
    const key = noticeKey('session', appName, userId, sessionId);
    if (!this.#recordIfNewer(key, revision, notice.type === 'deleted')) return;
    // A caller that keeps a list of sessions must learn that there is a new one.
    const isNew = notice.type === 'appended' && this.#pending.get(key)?.type === 'created';
    this.#pending.set(key, isNew ? { ...notice, type: 'created' } : notice);
  }

  /**
   * Adds the deletion of all sessions of a user. It replaces the user's older notices and comes before the
   * newer ones.
   */
  #pushUserDeletion(notice: DeletedNotice): void {
    const { appName, userId, revision = Infinity } = notice;
    const key = noticeKey('user deleted', appName, userId);
    if (!this.#recordIfNewer(key, notice.revision, true)) return;
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
  #recordIfNewer(key: string, revision: number | undefined, isDeleted: boolean): boolean {
    if (revision === undefined) return true;
    const last = this.#lastChanges.get(key);
    if (last !== undefined) {
      if (revision < last.revision) {
        if (isImplausible(revision, last.revision)) this.resync();
        return false;
      }
      if (revision === last.revision && (last.isDeleted || !isDeleted)) return false;
    }
    this.#remember(key, { revision, isDeleted });
    return true;
  }

  #remember(key: string, change: LastChange): void {
    putLast(this.#lastChanges, key, change, MAX_REMEMBERED);
  }
}

function isImplausible(revision: number, last: number): boolean {
  return last - revision > MAX_LAG;
}

type OneSessionNotice = SessionNotice | (DeletedNotice & { sessionId: string });

function isOneSession(notice: SessionNotice | DeletedNotice): notice is OneSessionNotice {
  return notice.sessionId !== undefined;
}

/** A key as JSON, so that no character in an id can produce another id's key. */
function noticeKey(...names: (string | undefined)[]): string {
  return JSON.stringify(names);
}
