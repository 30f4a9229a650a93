/**
 * Finds sessions in memory by the terms of their titles and labels. The index of an app is built at its first list
 * with a filter. Later writes of titles and labels only note the session, whose terms the next list reads.
 */
import { termsOf } from '../model/terms.js';
import { sortList, type TimedPlace } from './list_place.js';
import type { StorageKey } from './rows.js';
import type { ReadList, TermsRequest } from './session_store.js';

/** The most sessions that are found by a term. All of them are read for each page. */
const MOST = 1000;

/** The most sessions that are read at once to build an index. */
const CHUNK = 1000;

/** A session as its index and its order in lists need it. */
type Described = TimedPlace & {
  readonly title?: string | undefined;
  readonly labels?: string | undefined;
};

/** What the index reads of a memory. */
export interface MemoryLists {
  /** Those that the list of all users by `createTime` has after a place. */
  after(appName: string, place: TimedPlace | undefined, limit: number): readonly Described[];
  /** A session without its state, if it exists. */
  describe(key: Required<StorageKey>): Described | undefined;
  /** The rows of sessions that exist, in this order, with the states that they share. */
  read(appName: string, sessions: readonly TimedPlace[]): ReadList;
}

/** The index of one app. Sessions are named by the JSON of `[sessionId, userId]`. */
class AppTerms {
  /** The sessions that have a term. */
  readonly sessions = new Map<string, Set<string>>();
  /** The terms of the sessions that have any. */
  readonly #terms = new Map<string, readonly string[]>();
  /** The sessions whose terms may have changed. */
  readonly changed = new Set<string>();

  set(name: string, terms: readonly string[]): void {
    for (const term of this.#terms.get(name) ?? []) {
      const sessions = this.sessions.get(term);
      sessions?.delete(name);
      if (sessions?.size === 0) this.sessions.delete(term);
    }
    this.#terms.delete(name);
    if (terms.length > 0) this.#terms.set(name, terms);
    for (const term of terms) {
      const sessions = this.sessions.get(term);
      if (sessions === undefined) this.sessions.set(term, new Set([name]));
      else sessions.add(name);
    }
  }

  /** Notes the sessions of a user. */
  noteUser(userId: string): void {
    // JSON has no other quote that is not escaped.
    const end = `,${JSON.stringify(userId)}]`;
    for (const name of this.#terms.keys()) {
      if (name.endsWith(end)) this.changed.add(name);
    }
  }

  /** Returns the sessions that have a term which begins with this one; `undefined` if they are too many. */
  find(wanted: string): Set<string> | undefined {
    if (wanted.endsWith('=')) {
      // A label is not the beginning of another term.
      const sessions = this.sessions.get(wanted) ?? new Set();
      return sessions.size > MOST ? undefined : sessions;
    }
    const found = new Set<string>();
    for (const [term, sessions] of this.sessions) {
      if (!term.startsWith(wanted)) continue;
      if (found.size + sessions.size > 2 * MOST) return undefined;
      for (const name of sessions) found.add(name);
    }
    return found.size > MOST ? undefined : found;
  }
}

/** The terms of the sessions of all apps. */
export class MemoryTerms {
  readonly #lists: MemoryLists;
  readonly #apps = new Map<string, AppTerms>();

  constructor(lists: MemoryLists) {
    this.#lists = lists;
  }

  /** Called after a write that may change a title or labels, or delete sessions. */
  note({ appName, userId, sessionId }: StorageKey): void {
    const app = this.#apps.get(appName);
    if (app === undefined || userId === undefined) return;
    if (sessionId === undefined) app.noteUser(userId);
    else app.changed.add(JSON.stringify([sessionId, userId]));
  }

  /**
   * Lists a page of sessions, of which each has the rarest of the terms.
   *
   * @returns `undefined` if too many sessions have each of the terms
   */
  list({ appName, userId, terms, limit, ...part }: TermsRequest): ReadList | undefined {
    const app = this.#current(appName);
    const [rarest] = terms
      .flatMap((term) => app.find(term) ?? [])
      .sort((one, other) => one.size - other.size);
    if (rarest === undefined) return undefined;
    const found = [...rarest].flatMap((name) => {
      const [sessionId, user] = namesOf(name);
      if ((userId ?? user) !== user) return [];
      return this.#lists.describe({ appName, userId: user, sessionId }) ?? [];
    });
    return this.#lists.read(appName, sortList(found, part).slice(0, limit));
  }

  /** Returns the index of an app, with all terms. */
  #current(appName: string): AppTerms {
    let app = this.#apps.get(appName);
    if (app === undefined) this.#apps.set(appName, (app = this.#build(appName)));
    if (app.changed.size === 0) return app;
    for (const name of app.changed) {
      const [sessionId, userId] = namesOf(name);
      const { title, labels } = this.#lists.describe({ appName, userId, sessionId }) ?? {};
      app.set(name, termsOf(title, labels));
    }
    app.changed.clear();
    return app;
  }

  #build(appName: string): AppTerms {
    const app = new AppTerms();
    let after: TimedPlace | undefined;
    for (;;) {
      const sessions = this.#lists.after(appName, after, CHUNK);
      for (const { sessionId, userId, title, labels } of sessions) {
        app.set(JSON.stringify([sessionId, userId]), termsOf(title, labels));
      }
      after = sessions.at(-1);
      if (after === undefined || sessions.length < CHUNK) return app;
    }
  }
}

function namesOf(name: string): [sessionId: string, userId: string] {
  return JSON.parse(name) as [string, string];
}
