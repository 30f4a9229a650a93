import { reportUncaught } from '../../core/call/diagnostics.js';
import { endsWithin } from '../../core/call/time_limit.js';
import { coreOf } from '../../core/core_of.js';
import {
  CUT,
  type LookedSession,
  type LookRequest,
  type WordRow,
  type WordRows,
  type WordsOwner,
} from '../../core/word_rows.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import type { Event } from '../../values/model/event/event.js';
import type {
  CompositeSessionKey,
  GetSessionConfig,
  Session,
  UserRequest,
} from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keyText, requireKey } from '../../values/model/values/ids.js';
import { wordsOf } from '../../values/words.js';
import { ProcessWords } from './process_words.js';
import { WordRecords } from './word_records.js';
import { ownTexts } from './snippet.js';

/** The milliseconds that a search waits for the index. */
const MAX_WAIT_MS = 2000;
/** The most needles that are looked for in rows: the statements of some databases have at most 100 parameters. */
const MAX_NEEDLES = 90;
/** The UTF-16 units of the newest words in which needles are counted, to find the rarest. */
const SAMPLE = 2 ** 17;
/** The most bytes of a session's words in UTF-8. */
const MAX_BYTES = 2 ** 20;
/** The sessions that are read at once, and whose rows are written at once. */
const READS = 16;
/** The sessions whose words are read at once. */
const CANDIDATES = 16;

/** A session that may have hits. */
export interface Candidate extends LookedSession, WordsOwner {
  /** The words of the title, and of each event, of before any change that is not yet caught up with. */
  readonly lines: readonly string[];
}

/** The candidates of a search. */
interface Candidates {
  /** In the order of {@link Order}. */
  readonly sessions: readonly LookedSession[];
  /** Whether the words of all sessions were searched. */
  readonly isComplete: boolean;
}

/** Orders candidates. */
export type Order = (one: LookedSession, other: LookedSession) => number;

/** Orders those first that were updated last. */
export const newestFirst: Order = (one, other) =>
  other.lastUpdateTime - one.lastUpdateTime || (one.sessionId < other.sessionId ? 1 : -1);

/** Finds sessions that may have hits, by the rows of their words. Brings the rows up to date first. */
export class SearchedSessions {
  readonly #service: SessionService;
  readonly #waitUntil: ((work: Promise<unknown>) => void) | undefined;
  /** Used if the storage of the service keeps no words. */
  readonly #processWords: ProcessWords;
  /** What brings the rows of a user up to date, while it runs. */
  readonly #users = new Map<string, CatchUp>();

  constructor(service: SessionService, waitUntil: ((work: Promise<unknown>) => void) | undefined) {
    this.#service = service;
    this.#waitUntil = waitUntil;
    const name = coreOf(service)?.wordsName;
    const records = name === undefined ? undefined : new WordRecords(name);
    this.#processWords = new ProcessWords(service, records);
    coreOf(service)?.epochs?.onForgotten(() => this.#processWords.clear());
  }

  /** Returns the rows that the storage keeps, or those of this process. */
  async rows(signal: UserRequest['signal']): Promise<WordRows> {
    return (await coreOf(this.#service)?.words({ signal })) ?? this.#processWords;
  }

  /**
   * Finds the sessions whose words contain enough of the needles. Waits at most two seconds for what has changed; the
   * work goes on then.
   *
   * @throws SessionError `aborted`; any error of a list of sessions
   */
  async candidates(
    { appName, userId, isRemembered, signal, ...wanted }: LookRequest,
    order: Order,
  ): Promise<Candidates> {
    const owner = { appName, userId };
    const needles = wanted.needles.slice(0, MAX_NEEDLES);
    const least = Math.min(wanted.least, MAX_NEEDLES);
    const rows = await this.rows(signal);
    const look = () => rows.look({ ...owner, needles, least, isRemembered, signal });
    let looked = rows.list === undefined ? await look() : undefined;
    let isCaughtUp = looked?.sessions.every(({ isStale }) => !isStale) ?? false;
    if (looked === undefined || !isCaughtUp) {
      isCaughtUp = await this.#catchUp(owner, rows, signal);
      looked = await look();
    }
    return {
      sessions: looked.sessions.filter(({ found }) => found >= least).sort(order),
      isComplete: looked.isWhole && isCaughtUp,
    };
  }

  /**
   * Returns the needles of a look that are the rarest in the user's newest words, as many as a look takes. Those of the same
   * rarity stay in their order.
   */
  async rarest(request: LookRequest): Promise<readonly string[]> {
    const { needles, signal } = request;
    if (needles.length <= MAX_NEEDLES) return needles;
    // Each row with a word has a blank.
    const { sessions } = await this.candidates({ ...request, needles: [' '] }, newestFirst);
    let sample = '';
    for await (const { lines } of this.withLines({ ...request, signal }, sessions)) {
      sample += lines.join('\n');
      if (sample.length >= SAMPLE) break;
    }
    sample = sample.slice(0, SAMPLE);
    const counted = needles.map((needle) => [sample.split(needle).length, needle] as const);
    const ordered = counted.sort(([one], [other]) => one - other);
    return ordered.slice(0, MAX_NEEDLES).map(([, needle]) => needle);
  }

  /** Resolves to whether the rows have been brought up to date in time. */
  async #catchUp(
    owner: WordsOwner,
    rows: WordRows,
    signal: UserRequest['signal'],
  ): Promise<boolean> {
    const name = keyText(owner);
    const user = this.#users.get(name) ?? new CatchUp(this.#service, owner, rows);
    this.#users.set(name, user);
    const work = user.run().finally(() => {
      if (user.isIdle) this.#users.delete(name);
    });
    if (await endsWithin(MAX_WAIT_MS, work, signal)) return work;
    try {
      this.#waitUntil?.(work.catch(() => undefined));
    } catch (error) {
      reportUncaught(error);
    }
    return false;
  }

  /** Yields the sessions with their words, and reads these as far as they are asked for. */
  async *withLines(
    { appName, userId, needles, signal }: LookRequest,
    sessions: readonly LookedSession[],
  ): AsyncGenerator<Candidate> {
    const rows = await this.rows(signal);
    for (let start = 0; start < sessions.length; start += CANDIDATES) {
      const some = sessions.slice(start, start + CANDIDATES);
      const sessionIds = some.map(({ sessionId }) => sessionId);
      const words = await rows.read({ appName, userId, sessionIds, signal });
      for (const session of some) {
        // Whether a session has hits whose row is forgotten meanwhile, only its events tell.
        const lines = words.get(session.sessionId)?.split('\n') ?? ['', needles.join('')];
        yield { ...session, appName, userId, lines };
      }
    }
  }

  /**
   * Marks a session as remembered.
   *
   * @throws SessionError `invalid_argument`, `unsupported`
   */
  async remember(key: WordsOwner & { readonly sessionId: string }): Promise<void> {
    requireKey(key);
    await (
      await this.requireMarks(undefined)
    )(key);
  }

  /** Returns what marks sessions as remembered. @throws SessionError `unsupported` if the rows keep no marks */
  async requireMarks(
    signal: UserRequest['signal'],
  ): Promise<(key: WordsOwner & { readonly sessionId: string }) => Promise<void>> {
    const rows = await this.rows(signal);
    if (rows.remember !== undefined) return (key) => rows.remember!(key);
    const message =
      "Nothing keeps marks of added sessions: the index is in the process. Use remembers: 'all'.";
    throw new SessionError('unsupported', message);
  }

  /**
   * Reads the events of a session that no rewind has undone. The caller sees what the service lets it see.
   *
   * @returns `undefined` if the session cannot be read
   * @throws SessionError `aborted`, `closed`
   */
  async transcriptOf(
    { appName, userId, sessionId }: Candidate,
    signal: UserRequest['signal'],
  ): Promise<readonly Event[] | undefined> {
    try {
      const key = { appName, userId, sessionId };
      const read = await readEvents(this.#service, { ...key, signal }, { view: 'transcript' });
      return read?.session.events ?? [];
    } catch (error) {
      if (isSessionError(error, 'aborted') || isSessionError(error, 'closed')) throw error;
      return undefined;
    }
  }
}

/** More events than a session has. */
const ALL = 1_000_000_000;

/**
 * Reads a session with its events: of a cache those of the copy, if the remote cannot be asked for the others.
 *
 * @returns `undefined` if there is no such session
 */
export async function readEvents(
  service: SessionService,
  request: CompositeSessionKey & Pick<UserRequest, 'signal'>,
  given: Pick<GetSessionConfig, 'view'> & Pick<HiddenMembers, 'reads'>,
): Promise<{ readonly session: Session; readonly isWhole: boolean } | undefined> {
  const read = (numRecentEvents: number | 'all') =>
    service.getSession({ ...request, config: { ...given, numRecentEvents, skipCorrupt: true } });
  try {
    const session = await read('all');
    return session && { session, isWhole: true };
  } catch (error) {
    if (!isSessionError(error, 'connection_lost') || error.missing !== 'events') throw error;
    const session = await read(ALL);
    return session && { session, isWhole: false };
  }
}

/** What a reading of a session gives. */
type ReadRow = WordRow | 'gone' | 'unread';

/** Brings the rows of one user up to date. */
class CatchUp {
  readonly #service: SessionService;
  readonly #owner: WordsOwner;
  readonly #rows: WordRows;
  #running: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;

  constructor(service: SessionService, owner: WordsOwner, rows: WordRows) {
    this.#service = service;
    this.#owner = owner;
    this.#rows = rows;
  }

  get isIdle(): boolean {
    return this.#running === undefined && this.#next === undefined;
  }

  /** Resolves once the rows have all that was stored before the call, to `false` if a session lacks its row. */
  run(): Promise<boolean> {
    // A pass that has begun may have looked before a write of the caller.
    return (this.#next ??= Promise.resolve(this.#running)
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        const running = this.#renew().finally(() => {
          if (this.#running === running) this.#running = undefined;
        });
        return (this.#running = running);
      }));
  }

  async #renew(): Promise<boolean> {
    const release = await this.#rows.list?.(this.#owner);
    return this.#renewStale().finally(() => release?.());
  }

  async #renewStale(): Promise<boolean> {
    const isStored = this.#rows.list === undefined;
    let isComplete = true;
    const look = { ...this.#owner, needles: [], least: 1, isRemembered: false };
    const { sessions } = await this.#rows.look(look);
    const stale = sessions.filter(({ isStale }) => isStale).sort(newestFirst);
    for (let start = 0; start < stale.length; start += READS) {
      const some = stale.slice(start, start + READS);
      const read = await Promise.all(
        some.map(async (session) => {
          const row = await this.#read(session);
          // A transaction for many rows is faster. Elsewhere no session waits for a slow one.
          return isStored || (await this.#write([row])) ? row : 'unread';
        }),
      );
      if (isStored && !(await this.#write(read))) {
        // One row may be the reason. The others are written without it.
        for (const row of read) if (!(await this.#write([row]))) isComplete = false;
      }
      isComplete &&= !read.includes('unread');
    }
    return isComplete;
  }

  /** Returns whether the rows are written. If not, for example on a full disk, those of before are still searched. */
  async #write(read: readonly ReadRow[]): Promise<boolean> {
    const rows = read.filter((row) => typeof row === 'object');
    if (rows.length === 0) return true;
    const writing = this.#rows.write({ ...this.#owner, rows });
    return writing.then(
      () => true,
      () => false,
    );
  }

  /** Reads the words of a session. If that cannot be read, the next search tries again. */
  async #read(session: LookedSession): Promise<ReadRow> {
    const { sessionId, since } = session;
    const key = { ...this.#owner, sessionId };
    try {
      if (since !== undefined) {
        const changes = await this.#service.listChanges({ ...key, since }).catch(() => undefined);
        const words = await this.#rows.read({ ...this.#owner, sessionIds: [sessionId] });
        const before = words.get(sessionId);
        if (changes?.events !== undefined && before !== undefined) {
          const { revision, events } = changes;
          const [, ...lines] = before.split('\n');
          const added = linesOf(events.map(({ event }) => event));
          return rowOf(session, [...lines, ...added], revision);
        }
      }
      const read = await readEvents(this.#service, key, { view: 'raw' });
      if (read === undefined) return 'gone';
      const lines = linesOf(read.session.events);
      // Of a copy without its older events the rest is read when there is a connection.
      if (!read.isWhole) return rowOf({ ...session, version: undefined }, lines, undefined);
      return rowOf(session, lines, this.#service.revisionOf(read.session));
    } catch {
      return 'unread';
    }
  }
}

function linesOf(events: readonly Event[]): string[] {
  return events.flatMap((event) => wordsOf(ownTexts(event).join('\n')) || []);
}

function rowOf(
  { sessionId, version, title }: LookedSession,
  lines: readonly string[],
  revision: number | undefined,
): WordRow {
  const words = [title === undefined ? '' : wordsOf(title), ...lines].join('\n');
  return { sessionId, version, title, words: cut(words), revision };
}

/** Returns words that fit into a row. */
function cut(words: string): string {
  // A UTF-16 unit has at most three bytes.
  if (words.length * 3 <= MAX_BYTES) return words;
  const { read } = new TextEncoder().encodeInto(words, new Uint8Array(MAX_BYTES));
  return read < words.length ? CUT + words.slice(0, read) : words;
}
