import { coreOf } from '../../core/core_of.js';
import {
  CUT,
  type Looked,
  type LookedSession,
  type LookRequest,
  type StoredWords,
  type WordRow,
  type WordRows,
  type WordsOwner,
} from '../../core/word_rows.js';
import { putLast } from '../../values/bounded_map.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keyText } from '../../values/model/values/ids.js';
import { WORDS_VERSION } from '../../values/words.js';
import type { WordRecords } from './word_records.js';

/**
 * The most users whose words are in memory, apart from those whose words are being renewed. The user who searched least
 * recently is forgotten first.
 */
const MAX_USERS = 100;
/** The sessions that are listed at once. */
const LISTED = 1000;

/** A user's sessions as they were last listed, and their rows. */
interface UserRows {
  listed: readonly Omit<LookedSession, 'isStale' | 'found'>[];
  /** How many writes there were before the list; `undefined` if others write too. */
  writes: number | undefined;
  marks: ReadonlySet<string>;
  readonly rows: Map<string, WordRow>;
  /** How many are renewing the rows. */
  holds: number;
}

/** The words of the users who search, in the memory of this process. */
export class ProcessWords implements WordRows {
  readonly remember: WordRows['remember'];
  readonly #service: SessionService;
  readonly #records: WordRecords | undefined;
  readonly #users = new Map<string, UserRows>();

  /** @param records also keep the words, for the next page */
  constructor(service: SessionService, records?: WordRecords) {
    this.#service = service;
    this.#records = records;
    if (records !== undefined) this.remember = (key) => records.mark(key);
  }

  /** Forgets all words. */
  clear(): void {
    this.#users.clear();
  }

  async list({ appName, userId }: WordsOwner, reads?: HiddenMembers['reads']): Promise<() => void> {
    const owner = { appName, userId };
    const name = keyText(owner);
    const user = this.#users.get(name) ?? (await this.#load(owner));
    user.holds += 1;
    putLast(this.#users, name, user, Infinity);
    for (const [other, { holds }] of this.#users) {
      if (this.#users.size <= MAX_USERS) break;
      if (holds === 0) this.#users.delete(other);
    }
    const release = (): void => {
      user.holds -= 1;
      // The search looks at the rows now.
      if (this.#users.get(name) === user) putLast(this.#users, name, user, Infinity);
    };
    try {
      await this.#list(owner, user, reads);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  async #load(owner: WordsOwner): Promise<UserRows> {
    const stored = (await this.#records?.load(owner)) ?? [];
    // Another page may have read them before the sessions were lost, and others came to the same revisions.
    const ofPage = { revision: undefined, eventCount: undefined, seen: '' };
    const rows = stored.map((row) => [row.sessionId, { ...row, ...ofPage }] as const);
    return { listed: [], writes: undefined, marks: new Set(), rows: new Map(rows), holds: 0 };
  }

  async #list(owner: WordsOwner, user: UserRows, reads: HiddenMembers['reads']): Promise<void> {
    const records = this.#records;
    if (records !== undefined) user.marks = await records.marks(owner);
    const isAlone = this.#service.storage.kind === 'memory';
    const writes = isAlone ? coreOf(this.#service)?.publisher.feed.writes : undefined;
    if (writes !== undefined && writes === user.writes) return;
    const listed = new Map<string, UserRows['listed'][number]>();
    const list = { ...owner, limit: LISTED, stateKeys: [], reads };
    for await (const session of this.#service.sessions(list)) {
      const { id: sessionId, title, labels = {}, lastUpdateTime } = session;
      // The time too: a database that was lost begins with the same revisions.
      const version = `${WORDS_VERSION} ${this.#service.revisionOf(session) ?? ''} ${lastUpdateTime}`;
      listed.set(sessionId, { sessionId, title, labels, lastUpdateTime, version });
    }
    user.listed = [...listed.values()];
    user.writes = writes;
    const gone = [...user.rows.keys()].filter((sessionId) => !listed.has(sessionId));
    for (const sessionId of gone) user.rows.delete(sessionId);
    if (gone.length > 0) await records?.erase(owner, gone);
  }

  look({ needles, least, isRemembered, ...owner }: LookRequest): Promise<Looked> {
    const user = this.#of(owner);
    const { listed = [], rows, marks } = user ?? {};
    const sessions: LookedSession[] = [];
    let isWhole = user !== undefined;
    for (const session of listed) {
      const { sessionId, title, version } = session;
      const row = rows?.get(sessionId);
      const isStale = row?.version !== version || row?.title !== title;
      const isCut = row?.words.startsWith(CUT) === true;
      if (isCut) isWhole = false;
      const isLooked = !isRemembered || marks?.has(sessionId) === true;
      const found = isLooked ? countIn(row?.words ?? '', needles, least) : 0;
      if (!isStale && found === 0) continue;
      sessions.push({ ...session, isStale, found, since: row?.revision });
    }
    return Promise.resolve({ sessions, isWhole });
  }

  read(
    request: WordsOwner & { readonly sessionIds: readonly string[] },
  ): Promise<Map<string, StoredWords>> {
    const rows = this.#of(request)?.rows;
    const words = new Map<string, StoredWords>();
    for (const sessionId of request.sessionIds) {
      const row = rows?.get(sessionId);
      if (row !== undefined) words.set(sessionId, row);
    }
    return Promise.resolve(words);
  }

  async write({ rows, ...owner }: WordsOwner & { readonly rows: readonly WordRow[] }) {
    const own = this.#of(owner)?.rows;
    for (const row of rows) own?.set(row.sessionId, row);
    const stored = rows.map(({ sessionId, version, title, words }) => {
      return { sessionId, version: String(version), title, words };
    });
    const records = this.#records;
    if (records === undefined) return;
    await records.put(owner, stored);
    // A deletion after the reading has erased nothing: the rows were not there yet.
    const gone: string[] = [];
    for (const { sessionId } of rows) {
      const request = { ...owner, sessionId, config: { numRecentEvents: 0 } };
      if ((await this.#service.getSession(request)) === undefined) gone.push(sessionId);
    }
    for (const sessionId of gone) own?.delete(sessionId);
    if (gone.length > 0) await records.erase(owner, gone);
  }

  #of({ appName, userId }: WordsOwner): UserRows | undefined {
    return this.#users.get(keyText({ appName, userId }));
  }
}

/** Returns how many of the needles a text contains; 0 if it does not contain `least` of them. */
export function countIn(words: string, needles: readonly string[], least = 1): number {
  let count = needles.length;
  for (const needle of needles) {
    if (!words.includes(needle)) count -= 1;
    if (count < least) return 0;
  }
  return count;
}
