/**
 * The words of sessions, one row for each, as a search keeps them. A row only tells that reading its session may be of
 * use: it may have the words of undone events, and those of before its session changed.
 */
import type { HiddenMembers } from '../values/model/diagnostic.js';
import type { Abortable } from '../values/model/session.js';

/** A user of an app. */
export interface WordsOwner {
  readonly appName: string;
  readonly userId: string;
}

/** The words of one session. */
export interface WordRow {
  readonly sessionId: string;
  /** That of the {@link LookedSession}. */
  readonly version: unknown;
  /** As it is stored. */
  readonly title: string | undefined;
  /**
   * The words of the title, and of each event in a line of its own. Begins with {@link CUT} if words are missing: those of the
   * oldest events.
   */
  readonly words: string;
  /** The revision up to which the events have their lines; `undefined` if changes since cannot be added. */
  readonly revision: number | undefined;
  /** How many events the session had at that revision. Only of a row that a database keeps. */
  readonly eventCount: number | undefined;
  /** Tells the last of the events, so that none is added twice. */
  readonly seen: string;
}

/** What is read of a row. */
export type StoredWords = Pick<WordRow, 'words' | 'seen'>;

/** Stands before words that are not all of a session. It is no letter, so no word has it. */
export const CUT = '…';

/** Which rows to look for. */
export interface LookRequest extends WordsOwner, Abortable {
  readonly needles: readonly string[];
  /** How many of the needles a row must contain to be found. */
  readonly least: number;
  /** Whether only rows that were marked by {@link WordRows.remember} are found. */
  readonly isRemembered: boolean;
}

/** A session that has changed since its row was written, or whose row was found. */
export interface LookedSession {
  readonly sessionId: string;
  readonly lastUpdateTime: number;
  readonly title: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Differs after each change of the session. To be written with its words. */
  readonly version: unknown;
  /** Whether its row is missing, or is of another version or title. */
  readonly isStale: boolean;
  /** How many of the needles its row contains; 0 if it was not found. */
  readonly found: number;
  /** That of the row, if the changes since may be added to it. */
  readonly since?: number | undefined;
  /** That of the row. */
  readonly eventCount?: number | undefined;
}

/** Orders sessions by their rows. */
export type Order = (one: LookedSession, other: LookedSession) => number;

/** Orders those first that were updated last. */
export const newestFirst: Order = (one, other) =>
  other.lastUpdateTime - one.lastUpdateTime || (one.sessionId < other.sessionId ? 1 : -1);

/** The result of a look. */
export interface Looked {
  /** The stale and the found sessions, in any order. */
  readonly sessions: readonly LookedSession[];
  /** Whether no row of the user is cut, and the rows of the user are there. */
  readonly isWhole: boolean;
}

/** Where the words of sessions are. */
export interface WordRows {
  /**
   * Learns which sessions there are, and keeps their rows until the returned function is called. Absent if
   * {@link WordRows.look} knows.
   */
  list?(owner: WordsOwner, reads: HiddenMembers['reads']): Promise<() => void>;
  look(request: LookRequest): Promise<Looked>;
  /** Reads the rows of some sessions. Those without one are missing. */
  read(
    request: WordsOwner & Abortable & { readonly sessionIds: readonly string[] },
  ): Promise<ReadonlyMap<string, StoredWords>>;
  /** Writes rows, unless their sessions are gone. A mark stays. */
  write(request: WordsOwner & { readonly rows: readonly WordRow[] }): Promise<void>;
  /** Marks a session as remembered. Absent if the rows keep no marks. */
  readonly remember?:
    ((key: WordsOwner & { readonly sessionId: string }) => Promise<void>) | undefined;
}
