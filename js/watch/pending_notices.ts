import type {
  DeletedNotice,
  LostNotice,
  Notice,
  PublishedNotice,
  SessionNotice,
  StateChangedNotice,
} from './notice.js';

/** Of how many sessions and states it is remembered at least how far they had come. */
const REMEMBERED = 10_000;

/**
 * A notice so many revisions behind is not late: the place before it was wrong. Whatever else speaks on the
 * channel of the tabs may have named a revision that nothing reaches, and all that follows would be dropped.
 */
const IMPLAUSIBLE = 1_000_000;

/** How far a session or a state has come. */
interface Place {
  readonly revision: number;
  /** A deletion comes after what it deleted, whose revision it may have, and before what is newer. */
  readonly isDeleted: boolean;
}

/**
 * What one watcher was not given yet: one notice a session and one a state, the newest.
 *
 * Notices of several tabs arrive in any order. For each session they come out in the order of their
 * revisions, and older ones are dropped. A deletion carries the storage's floor. One without revision,
 * from an adapter that tells no floor, counts as the newest thing that happened.
 *
 * How far a session has come must be known for longer than a notice of it is pending. It is forgotten
 * once so many others came that no older notice can still be under way, lest a watcher of an app with
 * millions of sessions grow for ever.
 */
export class PendingNotices {
  /** In the order in which they come out. A newer notice takes its predecessor's place. */
  readonly #pending = new Map<string, Notice>();
  readonly #places = new Recent<Place>(REMEMBERED);

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Takes what came; what is out of date already is dropped. */
  push(notice: PublishedNotice): void {
    if (notice.type === 'lost') this.#lose(notice);
    else if (notice.type === 'stateChanged') this.#pushState(notice);
    else if (isOfSession(notice)) this.#pushSession(notice);
    else this.#pushUser(notice);
  }

  /** Changes may have been missed: all is to be read again, so what is pending is void. */
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
    // The database itself may be a new one, which begins again at revision 1.
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
    // The same again is news: a state that was deleted is told with the floor, which may be what it had.
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
    // Who keeps a list of sessions is to learn that there is one more.
    const isNew = notice.type === 'appended' && this.#pending.get(key)?.type === 'created';
    this.#pending.set(key, isNew ? { ...notice, type: 'created' } : notice);
  }

  /** Goes before what is newer of the user's sessions, and in the place of what is not. */
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

  /** Whether it is news; then it is remembered how far that session has come. */
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

/** As JSON, so that no character in an id can reach another's. */
function keyOf(...names: (string | undefined)[]): string {
  return JSON.stringify(names);
}

/** A map that keeps at least the last so many entries that were set, and at most twice as many. */
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
