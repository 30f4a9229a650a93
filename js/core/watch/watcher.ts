/** One call of `watch`: which notices it asks for, and those that nobody has read yet. */
import { putLast } from '../../values/bounded_map.js';
import { invalid } from '../../values/errors/invalid.js';
import { markRaw } from '../../values/members.js';
import type {
  Notice,
  WatchRequest,
  ChangeNotice,
  StateChangedNotice,
  DeletedNotice,
  LostNotice,
  SessionNotice,
  UpdatedNotice,
  Notices,
} from '../../values/model/notice.js';
import { requireId, requireOwner } from '../../values/model/values/ids.js';
import { IS_OF_USER, type SharedScope, NARROWEST_FIRST } from '../../values/state/scope.js';
import { reportUncaught } from '../call/diagnostics.js';
import { makeDisposable } from '../call/lifetime.js';

/**
 * One watcher: its request, and the notices that match it, for one reader who iterates or is called with each of them.
 */
export class Watcher implements Notices {
  declare [Symbol.asyncDispose]: () => Promise<void>;

  static {
    markRaw(this.prototype);
    makeDisposable(this.prototype, function () {
      return this.return();
    });
  }

  /** What is watched. */
  readonly request: Readonly<WatchRequest>;
  readonly #unread = new PendingNotices();
  readonly #onNotice: ((notice: Notice) => void) | undefined;
  readonly #endListeners = new Set<() => void>();
  /** Pending calls of `next`, in order. */
  readonly #pendingReads: ((result: IteratorResult<Notice, undefined>) => void)[] = [];
  #hasEnded = false;
  #isCallbackScheduled = false;

  /** @param onNotice takes the notices; absent: they are read by iterating */
  constructor({ appName, userId, sessionId }: WatchRequest, onNotice?: (notice: Notice) => void) {
    // A copy, since the caller may change and reuse the object.
    this.request = { appName, userId, sessionId };
    this.#onNotice = onNotice;
  }

  /** Calls `run` once, when the watcher ends. */
  onEnd(run: () => void): void {
    this.#endListeners.add(run);
  }

  push(notices: readonly Notice[]): void {
    if (this.#hasEnded) return;
    for (const notice of notices) {
      const matching = matchNotice(this.request, notice);
      if (matching !== undefined) this.#unread.push(matching);
    }
    this.#deliver();
  }

  /** Ends the watcher after its unread notices are read. */
  finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deliver();
    for (const run of this.#endListeners) run();
    this.#endListeners.clear();
  }

  /** Ends the watcher at once. */
  readonly stop = makeDisposable(
    (): void => {
      this.#unread.clear();
      this.finish();
    },
    function () {
      this();
    },
  );

  next(): Promise<IteratorResult<Notice, undefined>> {
    return new Promise((resolve) => {
      this.#pendingReads.push(resolve);
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<Notice, undefined>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #deliver(): void {
    if (this.#onNotice !== undefined) {
      this.#scheduleCallback(this.#onNotice);
      return;
    }
    while (this.#pendingReads.length > 0 && (this.#hasEnded || !this.#unread.isEmpty)) {
      const value = this.#unread.shift();
      this.#pendingReads.shift()?.(value === undefined ? { done: true, value } : { value });
    }
  }

  /** Calls `onNotice` in a microtask: if it throws, the call that pushed the notice must not fail. */
  #scheduleCallback(onNotice: (notice: Notice) => void): void {
    if (this.#isCallbackScheduled || this.#unread.isEmpty) return;
    this.#isCallbackScheduled = true;
    queueMicrotask(() => {
      for (let next = this.#unread.shift(); next !== undefined; next = this.#unread.shift()) {
        try {
          onNotice(next);
        } catch (error) {
          reportUncaught(error);
        }
      }
      this.#isCallbackScheduled = false;
    });
  }
}

/** @throws SessionError `invalid_argument` if a name is invalid, or a session has no user */
export function requireWatchKeys({ appName, userId, sessionId }: WatchRequest): void {
  requireOwner({ appName, userId });
  if (sessionId === undefined) return;
  requireId('sessionId', sessionId);
  if (userId === undefined) throw invalid('userId', 'must be given with a sessionId');
}

/** Returns the notice as a watcher gets it; `undefined` if it does not match the watcher's request. */
export function matchNotice(request: WatchRequest, notice: Notice): Notice | undefined {
  // They concern every watcher.
  if (notice.type === 'lost' || notice.type === 'resync') return notice;
  const { appName, userId, sessionId } = request;
  if (notice.appName !== appName) return undefined;
  if (userId === undefined) return notice;
  if (notice.userId !== userId) return stateNoticeOf(notice, undefined);
  if (sessionId === undefined || notice.type === 'stateChanged') return notice;
  if (notice.sessionId === undefined) return { ...notice, sessionId };
  return notice.sessionId === sessionId ? notice : stateNoticeOf(notice, userId);
}

/** Makes the notice of a change of shared states. It names the user only if the user's state changed. */
export function stateNotice(
  appName: string,
  userId: string | undefined,
  scopes: readonly SharedScope[],
): StateChangedNotice {
  const isUsers = userId !== undefined && scopes.some((scope) => IS_OF_USER[scope]);
  return { type: 'stateChanged', scopes, appName, ...(isUsers && { userId }) };
}

/**
 * Returns the part of a notice that concerns other sessions of the user, or of the app if `userId` is
 * `undefined`: the change of the states that they share.
 */
function stateNoticeOf(
  notice: ChangeNotice,
  userId: string | undefined,
): StateChangedNotice | undefined {
  if (notice.type === 'deleted' || notice.type === 'updated') return undefined;
  const scopes = notice.scopes.filter((scope) => !IS_OF_USER[scope] || userId !== undefined);
  return scopes.length > 0 ? stateNotice(notice.appName, userId, scopes) : undefined;
}

/** Maximum number of sessions whose position is remembered; the last changed ones are. */
const MAX_REMEMBERED = 10_000;

/**
 * Revision difference above which a notice does not count as late: the remembered position must be wrong.
 * Other code on the channel of the tabs may have named a revision that no change reaches. All later notices
 * would then be dropped.
 */
const MAX_LAG = 1_000_000;

/** The position of a session. */
interface LastChange {
  readonly revision: number;
  /**
   * A deletion comes after the change that it deleted, even if both have the same revision, and before newer
   * changes.
   */
  readonly isDeleted: boolean;
}

/**
 * The notices that one watcher has not received yet: the newest of each session and each shared state.
 *
 * Notices of several tabs arrive in any order. For each session they are returned in the order of their
 * revisions, and older ones are dropped. A deletion carries the storage's floor. A notice without a revision,
 * from a storage that reports no floor, counts as the newest. If a notice of a session is dropped, the shared
 * states that changed with it are still reported.
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
  push(notice: Notice): void {
    if (notice.type === 'lost') this.#pushLoss(notice);
    else if (notice.type === 'resync') this.#resync();
    else if (notice.type === 'stateChanged') this.#pushState(notice);
    else if (notice.type === 'updated') this.#pushUpdate(notice);
    else if (isOneSession(notice)) this.#pushSession(notice);
    else this.#pushUserDeletion(notice);
  }

  /**
   * Replaces all pending notices except `lost` by `resync`: changes may have been missed, so everything must
   * be read again.
   */
  #resync(): void {
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

  /** Returns a copy of the next notice, since other watchers and other tabs get the same one. */
  shift(): Notice | undefined {
    for (const [key, notice] of this.#pending) {
      this.#pending.delete(key);
      return 'scopes' in notice ? { ...notice, scopes: [...notice.scopes] } : { ...notice };
    }
    return undefined;
  }

  #pushUpdate(notice: UpdatedNotice): void {
    const { appName, userId, sessionId } = notice;
    this.#pending.set(noticeKey('updated', appName, userId, sessionId), notice);
  }

  #pushState(notice: StateChangedNotice | undefined): void {
    if (notice === undefined) return;
    const key = noticeKey('state', notice.appName, notice.userId);
    this.#pending.set(key, withScopesOf(notice, this.#pending.get(key)));
  }

  /** Adds the shared states of a notice that is dropped itself. */
  #pushStatesOf(notice: Notice | undefined): void {
    if (notice?.type !== 'created' && notice?.type !== 'appended') return;
    this.#pushState(stateNoticeOf(notice, notice.userId));
  }

  #pushSession(notice: OneSessionNotice): void {
    const { appName, userId, sessionId, revision } = notice;
    const user = this.#lastChanges.get(noticeKey('user deleted', appName, userId));
    const isLate = user !== undefined && revision !== undefined && revision <= user.revision;
    if (isLate && isImplausible(revision, user.revision)) this.#resync();
    const key = noticeKey('session', appName, userId, sessionId);
    if (isLate || !this.#recordIfNewer(key, revision, notice.type === 'deleted')) {
      this.#pushStatesOf(notice);
      return;
    }
    const pending = this.#pending.get(key);
    if (notice.type === 'deleted') {
      this.#pending.set(key, notice);
      this.#pushStatesOf(pending);
      return;
    }
    // A caller that keeps a list of sessions must learn that there is a new one.
    const type = pending?.type === 'created' ? 'created' : notice.type;
    this.#pending.set(key, withScopesOf({ ...notice, type }, pending));
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
    const dropped: Notice[] = [];
    for (const [key, pending] of this.#pending) {
      if (!('userId' in pending)) continue;
      if (pending.type === 'stateChanged' || pending.type === 'updated') continue;
      if (pending.appName !== appName || pending.userId !== userId) continue;
      this.#pending.delete(key);
      if (pending.revision !== undefined && pending.revision > revision) newer.push([key, pending]);
      else dropped.push(pending);
    }
    this.#pending.set(key, notice);
    for (const pending of dropped) this.#pushStatesOf(pending);
    for (const [key, pending] of newer) this.#pending.set(key, pending);
  }

  /** Returns whether the notice is new. If so, remembers the new position. */
  #recordIfNewer(key: string, revision: number | undefined, isDeleted: boolean): boolean {
    if (revision === undefined) return true;
    const last = this.#lastChanges.get(key);
    if (last !== undefined) {
      if (revision < last.revision) {
        if (isImplausible(revision, last.revision)) this.#resync();
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

/** Adds the scopes of the pending notice that this notice replaces. */
function withScopesOf<N extends SessionNotice | StateChangedNotice>(
  notice: N,
  pending: Notice | undefined,
): N {
  if (pending === undefined || !('scopes' in pending)) return notice;
  const changed: readonly SharedScope[] = [...pending.scopes, ...notice.scopes];
  return { ...notice, scopes: NARROWEST_FIRST.filter((scope) => changed.includes(scope)) };
}

type OneSessionNotice = SessionNotice | (DeletedNotice & { sessionId: string });

function isOneSession(notice: SessionNotice | DeletedNotice): notice is OneSessionNotice {
  return notice.sessionId !== undefined;
}

/** A key as JSON, so that no character in an id can produce another id's key. */
function noticeKey(...names: (string | undefined)[]): string {
  return JSON.stringify(names);
}
