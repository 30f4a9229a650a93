import { reportUncaught } from '../../core/call/diagnostics.js';
import { endsWithin } from '../../core/call/time_limit.js';
import { putLast } from '../../values/bounded_map.js';
import { isSessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import type { Session, UserRequest } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { wordsOf } from '../../values/words.js';
import { ownTexts } from './snippet.js';

/** A user of an app. */
type User = Pick<UserRequest, 'appName' | 'userId'>;

/** The milliseconds that a search waits for the index. */
const MAX_WAIT_MS = 2000;
/** The most users whose words are in memory. The user who searched least recently is forgotten first. */
const MAX_USERS = 100;
/** The most UTF-16 units of a session's words. */
const MAX_WORDS = 2 ** 20;
/** The sessions that are read at once. */
const READS = 8;
/** The sessions that are listed at once. */
const LISTED = 1000;

/** The words of one session. */
export interface IndexedSession {
  readonly sessionId: string;
  session: Session;
  titleWords: string;
  /**
   * The words of each event in a line. An undone or replaced event may still have its line: a line only tells that
   * reading the session may be of use.
   */
  words: string;
  /** Whether the words are those of all events. */
  isWhole: boolean;
  /** The revision whose events have their lines; `undefined` before the first read, and if the service has none. */
  revision: number | undefined;
  /** What tells whether the session has changed: its revision, or its time if the service has no revisions. */
  version: number | undefined;
}

/** The words of a user's sessions. */
export interface UserIndex {
  /** Those that were updated last come first. */
  readonly sessions: readonly IndexedSession[];
  /** Whether all words of all sessions are there. */
  readonly isComplete: boolean;
}

/** Has the words of all sessions of the users who search, in this process alone. An append does not touch it. */
export class SearchedSessions {
  readonly #service: SessionService;
  readonly #waitUntil: ((work: Promise<unknown>) => void) | undefined;
  readonly #users = new Map<string, UserWords>();

  constructor(service: SessionService, waitUntil: ((work: Promise<unknown>) => void) | undefined) {
    this.#service = service;
    this.#waitUntil = waitUntil;
  }

  /**
   * Returns the words of a user's sessions. Waits at most two seconds for what has changed; the work goes on then.
   *
   * @throws SessionError `aborted`; any error of a list of sessions
   */
  async indexOf({ appName, userId, signal }: UserRequest): Promise<UserIndex> {
    const name = JSON.stringify([appName, userId]);
    const words = this.#users.get(name) ?? new UserWords(this.#service, { appName, userId });
    putLast(this.#users, name, words, MAX_USERS);
    const work = words.catchUp();
    const isCaughtUp = await endsWithin(MAX_WAIT_MS, work, signal);
    try {
      if (!isCaughtUp) this.#waitUntil?.(work.catch(() => undefined));
    } catch (error) {
      reportUncaught(error);
    }
    const sessions = [...words.sessions.values()].sort(newestFirst);
    return { sessions, isComplete: isCaughtUp && sessions.every(({ isWhole }) => isWhole) };
  }

  /**
   * Reads the events of a session that no rewind has undone. The caller sees what the service lets it see.
   *
   * @returns `undefined` if the session cannot be read, or is gone
   * @throws SessionError `aborted`, `closed`
   */
  async transcriptOf(
    { sessionId, session: { appName, userId } }: IndexedSession,
    signal: UserRequest['signal'],
  ): Promise<readonly Event[] | undefined> {
    const config = { numRecentEvents: 'all', view: 'transcript', skipCorrupt: true } as const;
    try {
      const key = { appName, userId, sessionId };
      const session = await this.#service.getSession({ ...key, config, signal });
      return session?.events ?? [];
    } catch (error) {
      if (isSessionError(error, 'aborted') || isSessionError(error, 'closed')) throw error;
      return undefined;
    }
  }
}

function newestFirst({ session: one }: IndexedSession, { session: other }: IndexedSession): number {
  return other.lastUpdateTime - one.lastUpdateTime || (one.id < other.id ? 1 : -1);
}

/** The words of one user's sessions. */
class UserWords {
  readonly #service: SessionService;
  readonly #user: User;
  readonly sessions = new Map<string, IndexedSession>();
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(service: SessionService, user: User) {
    this.#service = service;
    this.#user = user;
  }

  /** Resolves once the index has all that was stored before the call. */
  catchUp(): Promise<void> {
    // A pass that has begun may have listed the sessions before a write of the caller.
    return (this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return (this.#running = this.#renew());
      }));
  }

  /** Compares the user's list with the index, session by session. */
  async #renew(): Promise<void> {
    const listed = new Map<string, Session>();
    const list = { ...this.#user, limit: LISTED, stateKeys: [] };
    for await (const session of this.#service.sessions(list)) listed.set(session.id, session);
    for (const sessionId of this.sessions.keys()) {
      if (!listed.has(sessionId)) this.sessions.delete(sessionId);
    }
    const changed: IndexedSession[] = [];
    for (const session of [...listed.values()].reverse()) {
      const indexed = this.sessions.get(session.id) ?? newSession(session);
      if (indexed.session.title !== session.title) indexed.titleWords = titleWordsOf(session);
      indexed.session = session;
      this.sessions.set(session.id, indexed);
      if (indexed.version !== this.#versionOf(session)) changed.push(indexed);
    }
    for (let start = 0; start < changed.length; start += READS) {
      await Promise.all(changed.slice(start, start + READS).map((indexed) => this.#read(indexed)));
    }
  }

  #versionOf(session: Session): number {
    return this.#service.revisionOf(session) ?? session.lastUpdateTime;
  }

  /** Adds the words of what has changed in a session. If it cannot be read, the next search tries again. */
  async #read(indexed: IndexedSession): Promise<void> {
    const key = { ...this.#user, sessionId: indexed.sessionId };
    const { revision: since } = indexed;
    try {
      if (since !== undefined) {
        const changes = await this.#service.listChanges({ ...key, since }).catch(() => undefined);
        if (changes?.events !== undefined) {
          const events = changes.events.map(({ event }) => event);
          const { revision } = changes;
          return addEvents(indexed, events, { revision, version: revision });
        }
      }
      const config = { numRecentEvents: 'all', view: 'raw', skipCorrupt: true } as const;
      const session = await this.#service.getSession({ ...key, config });
      if (session === undefined) return void this.sessions.delete(indexed.sessionId);
      indexed.words = '';
      const revision = this.#service.revisionOf(session);
      addEvents(indexed, session.events, { revision, version: this.#versionOf(session) });
    } catch {
      indexed.isWhole = false;
    }
  }
}

function newSession(session: Session): IndexedSession {
  return {
    sessionId: session.id,
    session,
    titleWords: titleWordsOf(session),
    words: '',
    isWhole: false,
    revision: undefined,
    version: undefined,
  };
}

function titleWordsOf({ title }: Session): string {
  return title === undefined ? '' : wordsOf(title);
}

function addEvents(
  indexed: IndexedSession,
  events: readonly Event[],
  position: Pick<IndexedSession, 'revision' | 'version'>,
): void {
  Object.assign(indexed, position);
  for (const event of events) {
    const words = wordsOf(ownTexts(event).join('\n'));
    if (words !== '' && indexed.words.length < MAX_WORDS) indexed.words += `\n${words}`;
  }
  indexed.isWhole = indexed.words.length < MAX_WORDS;
  indexed.words = indexed.words.slice(0, MAX_WORDS);
}
