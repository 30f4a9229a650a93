import { reportUncaught } from '../../core/call/diagnostics.js';
import { endsWithin, TimeLimit } from '../../core/call/time_limit.js';
import { coreOf } from '../../core/core_of.js';
import {
  newestFirst,
  type Order,
  type LookedSession,
  type LookRequest,
  type WordRows,
  type WordsOwner,
} from '../../core/word_rows.js';
import { SessionError } from '../../values/errors/errors.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import type { UserRequest } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keyText, requireKey } from '../../values/model/values/ids.js';
import { CatchUp } from './catch_up.js';
import type { Pauses } from './pauses.js';
import { ProcessWords } from './process_words.js';
import { readSession, type SessionReading } from './session_reading.js';
import { WordRecords } from './word_records.js';

/** The milliseconds from the beginning of a search within which it ends, and within which it waits for the index. */
const SEARCH_MS = 2000;
const INDEX_MS = 1500;
/**
 * The least milliseconds that a search has for the index, and again for its hits, even if the host was busy or the remote of
 * a cache answered late. A search of a memory waits for the index twice.
 */
const LEAST_MS = 250;
/** The most needles that are looked for in rows: the statements of some databases have at most 100 parameters. */
const MAX_NEEDLES = 90;
/** The UTF-16 units of the newest words in which needles are counted, to find the rarest. */
const SAMPLE = 2 ** 17;
/** The sessions whose words are read at once. */
const CANDIDATES = 16;

/** A session that may have hits. */
export interface Candidate extends LookedSession, WordsOwner {
  /** The words of the title and of each event. They lack the changes that the index has not read yet. */
  readonly lines: readonly string[];
}

/** The candidates of a search. */
interface Candidates {
  /** In the order of {@link Order}. */
  readonly sessions: readonly LookedSession[];
  /** Whether the words of all sessions were searched. */
  readonly isComplete: boolean;
}

/** A search in progress. */
export interface SearchCall {
  /** When the search began, as `performance.now()` counts. */
  readonly start: number;
  /** Where sessions are read first. Only a cache has a choice. */
  readonly reads: HiddenMembers['reads'];
}

/** Begins a search. */
export function beginSearch(reads?: HiddenMembers['reads']): SearchCall {
  return { start: performance.now(), reads };
}

function remainingMs({ start }: SearchCall, end: number): number {
  return Math.max(LEAST_MS, end - (performance.now() - start));
}

/** Returns the limit of the reading of hits. The caller ends it. */
export function limitOf(call: SearchCall, signal: UserRequest['signal']): TimeLimit {
  const limit = new TimeLimit(remainingMs(call, SEARCH_MS));
  if (signal !== undefined) limit.follow(signal);
  return limit;
}

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
   * Finds the sessions whose words contain enough of the needles. The index first reads what has changed, for a part of the
   * search's time at most. Then the search continues, and the index reads on.
   *
   * @throws SessionError `aborted`; any error of a list of sessions
   */
  async candidates(
    { appName, userId, isRemembered, signal, ...wanted }: LookRequest,
    order: Order,
    call: SearchCall,
  ): Promise<Candidates> {
    const owner = { appName, userId };
    const needles = wanted.needles.slice(0, MAX_NEEDLES);
    const least = Math.min(wanted.least, MAX_NEEDLES);
    const rows = await this.rows(signal);
    const look = () => rows.look({ ...owner, needles, least, isRemembered, signal });
    let looked = rows.list === undefined ? await look() : undefined;
    let isCaughtUp = looked?.sessions.every(({ isStale }) => !isStale) ?? false;
    if (looked === undefined || !isCaughtUp) {
      isCaughtUp = await this.#catchUp(owner, rows, call, signal);
      looked = await look();
    }
    return {
      sessions: looked.sessions.filter(({ found }) => found >= least).sort(order),
      isComplete: looked.isWhole && isCaughtUp,
    };
  }

  /**
   * Returns at most {@link MAX_NEEDLES} needles, the rarest of the user's newest words first. Needles that do not occur in
   * these words come last. Needles of the same rarity keep their order.
   *
   * @param isCounted whether the words of an event count; the event of the question itself has every needle
   */
  async rarest(
    request: LookRequest,
    call: SearchCall,
    isCounted: (sessionId: string, words: string) => boolean,
  ): Promise<readonly string[]> {
    const { needles } = request;
    if (needles.length <= MAX_NEEDLES) return needles;
    // Each row with a word has a blank.
    const { sessions } = await this.candidates({ ...request, needles: [' '] }, newestFirst, call);
    let sample = '';
    for await (const { sessionId, lines } of this.withLines(request, sessions)) {
      sample += lines.filter((words) => isCounted(sessionId, words)).join('\n');
      if (sample.length >= SAMPLE) break;
    }
    sample = sample.slice(0, SAMPLE);
    const rank = (needle: string): number => {
      const count = sample.split(needle).length - 1;
      return count === 0 ? SAMPLE : count;
    };
    const ranked = needles.map((needle) => [rank(needle), needle] as const);
    const ordered = ranked.sort(([one], [other]) => one - other);
    return ordered.slice(0, MAX_NEEDLES).map(([, needle]) => needle);
  }

  /** Brings the rows up to date. Resolves to whether it was done in time. */
  async #catchUp(
    owner: WordsOwner,
    rows: WordRows,
    call: SearchCall,
    signal: UserRequest['signal'],
  ): Promise<boolean> {
    const { reads } = call;
    const name = `${reads ?? ''} ${keyText(owner)}`;
    const user = this.#users.get(name) ?? new CatchUp(this.#service, owner, rows, reads);
    this.#users.set(name, user);
    const work = user.run().finally(() => {
      if (user.isIdle) this.#users.delete(name);
    });
    if (await endsWithin(remainingMs(call, INDEX_MS), work, signal)) return work;
    try {
      this.#waitUntil?.(work.catch(() => undefined));
    } catch (error) {
      reportUncaught(error);
    }
    return false;
  }

  /** Yields the sessions with their words. The words of a session are read only when the caller asks for the session. */
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
        // The row was dropped meanwhile, so the session's events decide.
        const row = words.get(session.sessionId);
        const lines = row?.words.split('\n') ?? ['', needles.join('')];
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
   * Reads a session without what a rewind has undone. The caller sees what the service lets it see.
   *
   * @throws SessionError any error of a read
   */
  transcriptOf(
    { appName, userId, sessionId }: Candidate,
    { reads }: SearchCall,
    pauses: Pauses,
  ): Promise<SessionReading | undefined> {
    const request = { appName, userId, sessionId, signal: pauses.signal };
    return readSession(this.#service, request, { view: 'transcript', reads }, pauses);
  }
}
