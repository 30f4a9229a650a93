import { isTime } from '../model/values/time.js';
import { SessionError } from '../errors/errors.js';
import { termsOf } from '../model/terms.js';
import { isRevision } from '../storage/checked_rows.js';
import { sortList } from '../storage/list_place.js';
import type { ReadList, TermsRequest } from '../storage/session_store.js';
import { completeSessions, type Note } from './complete_sessions.js';
import type { StoreName } from './layout.js';
import { type SessionRecord, toListed } from './listed_records.js';
import { resultOf, completion, withDatabase } from './requests.js';

/**
 * Finds sessions by the terms of their titles and labels. This module is loaded at the first list with a filter.
 *
 * Each session with a title or labels has a record in `details`, whose terms are in the index `term`. The core
 * computes no terms: after a change of a title or labels it puts the record with the term {@link STALE}. The next
 * list with a filter replaces that by the session's terms, in the transaction in which it searches.
 */

/** The term of a record whose terms are to be computed. All others are arrays. */
const STALE = 'stale';

const KIND = 'terms';

/** Exists once each session with a title or labels has a record. Packages before this one wrote none. */
const NOTE: Note = {
  store: 'details',
  key: [0, KIND, []],
  record: { number: 0, kind: KIND, id: [] },
};

/** The most stale records that one transaction replaces, so that writers wait for few. */
const BATCH = 500;

/** The most sessions that are found by a term. All of them are read for each page. */
const MOST = 1000;

/** Begins no term, and compares greater than every character of one. */
const LAST = '\uffff';

type Path = [appName: string, userId: string, sessionId: string];
type RecordKey = [number: number, kind: string, id: Path];

interface StateRecord {
  readonly state?: unknown;
  readonly revision?: unknown;
}

/**
 * Lists a page of sessions, of which each has the rarest of the terms.
 *
 * @returns `undefined` if too many sessions have each of the terms
 */
export function listByTerms(
  name: string,
  timeout: number,
  request: TermsRequest,
): Promise<ReadList | undefined> {
  return withDatabase(name, timeout, (database) => new TermSearch(database, timeout).list(request));
}

class TermSearch {
  readonly #database: IDBDatabase;
  readonly #timeout: number;

  constructor(database: IDBDatabase, timeout: number) {
    this.#database = database;
    this.#timeout = timeout;
  }

  async list(request: TermsRequest): Promise<ReadList | undefined> {
    const stores: StoreName[] = ['details', 'sessions', 'states'];
    const reading = this.#database.transaction(stores);
    const details = reading.objectStore('details');
    const [note, stale] = await Promise.all([
      this.#resultOf(details.getKey(NOTE.key)),
      this.#resultOf(details.index('term').getKey(STALE)),
    ]);
    if (note !== undefined && stale === undefined) return this.#find(reading, request);
    if (note === undefined) await completeSessions(this.#database, this.#timeout, NOTE, fillTerms);
    for (;;) {
      const writing = this.#database.transaction(stores, 'readwrite');
      const completed = this.#completion(writing);
      const count = await this.#refresh(writing);
      const found = count < BATCH ? await this.#find(writing, request) : undefined;
      await completed;
      if (count < BATCH) return found;
    }
  }

  /** Replaces stale records, and returns how many. */
  async #refresh(transaction: IDBTransaction): Promise<number> {
    const details = transaction.objectStore('details');
    const stale = details.index('term').getAllKeys(STALE, BATCH);
    const keys = (await this.#resultOf(stale)) as unknown as RecordKey[];
    const sessions = await this.#sessionsAt(transaction, keys);
    for (const [index, key] of keys.entries()) putTerms(details, key, sessions[index]);
    return keys.length;
  }

  async #find(transaction: IDBTransaction, request: TermsRequest): Promise<ReadList | undefined> {
    const { appName, userId, orderBy, limit, terms } = request;
    const index = transaction.objectStore('details').index('term');
    const ranges = terms.map((term) =>
      IDBKeyRange.bound([appName, term], [appName, term + LAST], false, true),
    );
    const found = await Promise.all(
      ranges.map((range) => this.#resultOf(index.getAllKeys(range, MOST + 1))),
    );
    const [rarest] = (found as unknown as RecordKey[][])
      .filter((keys) => keys.length <= MOST)
      .sort((one, other) => one.length - other.length);
    if (rarest === undefined) return undefined;
    // A session has a key for each of its terms in the range.
    const keys = new Map(rarest.map((key) => [key[0], key]));
    const ofOwner = [...keys.values()].filter(({ 2: id }) => (userId ?? id[1]) === id[1]);
    const sessions = (await this.#sessionsAt(transaction, ofOwner)).flatMap((session) =>
      // Like the indices of lists, which have no session with a damaged time.
      session !== undefined && isTime(session[orderBy]) ? [toListed(session)] : [],
    );
    const page = sortList(sessions, request).slice(0, limit);
    const users = [...new Set(page.map(({ userId }) => userId))];
    const states = [[appName], ...users.map((user) => [appName, user])].map(async (key) => {
      const record = this.#resultOf(transaction.objectStore('states').get(key));
      return stateOf((await record) as StateRecord | undefined, key);
    });
    const [app, ...ofUsers] = await Promise.all(states);
    const pairs = users.flatMap((user, index) => {
      const state = ofUsers[index];
      return state === undefined ? [] : [user, state];
    });
    return [page, 0, [app, ...pairs]];
  }

  /** Returns the session of each record, unless it is gone or another one has its key. */
  #sessionsAt(
    transaction: IDBTransaction,
    keys: readonly RecordKey[],
  ): Promise<(SessionRecord | undefined)[]> {
    const sessions = transaction.objectStore('sessions');
    return Promise.all(
      keys.map(async ([number, , path]) => {
        const session = (await this.#resultOf(sessions.get(path))) as SessionRecord | undefined;
        return session?.number === number ? session : undefined;
      }),
    );
  }

  #completion(transaction: IDBTransaction): Promise<void> {
    const completed = completion(transaction, this.#timeout);
    // A request of the transaction may reject first.
    completed.catch(() => undefined);
    return completed;
  }

  #resultOf<T>(request: IDBRequest<T>): Promise<T> {
    return resultOf(request, this.#timeout);
  }
}

/** Stores the terms of a session whose title and labels were stored without. */
function fillTerms(session: SessionRecord, transaction: IDBTransaction): void {
  const { appName, userId, sessionId, number, title, labels } = session;
  if (!isRevision(number) || (title === undefined && labels === undefined)) return;
  const details = transaction.objectStore('details');
  putTerms(details, [number, KIND, [appName, userId, sessionId]], session);
}

/** Stores the terms of a session. Without any, the session has no record. */
function putTerms(
  details: IDBObjectStore,
  [number, kind, id]: RecordKey,
  session: SessionRecord | undefined,
): void {
  const terms = session === undefined ? [] : termsOf(session.title, session.labels);
  if (terms.length === 0) details.delete([number, kind, id]);
  else details.put({ number, kind, id, terms: terms.map((term) => [id[0], term]) });
}

/** Returns the JSON of a state, if there is one, like `state_text` in `src/wasm/indexed_db/listing.rs`. */
function stateOf(
  { state, revision }: StateRecord = {},
  [appName, userId]: readonly string[],
): string | undefined {
  if (state === undefined && revision === undefined) return undefined;
  if (typeof state === 'string' && isRevision(revision)) return state;
  const app = `app ${JSON.stringify(appName)}`;
  const record = `state of ${userId === undefined ? app : `user ${JSON.stringify(userId)} in ${app}`}`;
  const message = `The stored ${record} cannot be read: it is damaged.`;
  throw new SessionError('corrupt_record', message, { record });
}
