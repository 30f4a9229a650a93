import type { UserRequest } from './session.js';

/** The request of a search in the sessions of one user. */
export interface FindRequest extends UserRequest {
  /**
   * Words and "phrases" in quotes, of which all must be found: at most 512 characters. Marks and capital letters do not
   * count. A word is found at the beginning of words; in Han, Kana, Hangul and other scripts without blanks anywhere.
   */
  query: string;
  /** Searches in this session alone, without the limit of five hits. */
  sessionId?: string | undefined;
  /** Only events of this author, and no titles. */
  author?: string | undefined;
  /** Only events with `timestamp >= after`, and no titles: milliseconds since 1970. */
  after?: number | undefined;
  /** Only events with `timestamp < before`, and no titles: milliseconds since 1970. */
  before?: number | undefined;
  /** Only sessions that have all of these labels, each with the same value. */
  labels?: Readonly<Record<string, string>> | undefined;
  /** The most hits, 1 to 100; default 20. */
  limit?: number | undefined;
  /** The {@link FindResult.nextCursor} of the same search: the page has the hits after it. */
  cursor?: string | undefined;
}

/** An event or a title that has all words of a query. */
export interface SearchHit {
  /** The session of the hit. */
  sessionId: string;
  /** The title of the session; absent without one. */
  title?: string;
  /** The event; absent if the title is the hit. */
  eventId?: string;
  /** The author of the event. */
  author?: string;
  /** The time of the event: milliseconds since 1970. */
  timestamp?: number;
  /** The piece of the text around the first hit. */
  snippet: SnippetPart[];
}

/** A page of hits. */
export interface FindResult {
  /** The sessions that were updated last come first. In each its title, then its events, the newest first. */
  hits: SearchHit[];
  /**
   * Whether all texts were searched. `false`: the index has not caught up within two seconds and goes on, a session could
   * not be read, or it has more than a megabyte of words. Search again for the rest.
   */
  isComplete: boolean;
  /**
   * The cursor to the hits after this page. A page with fewer hits than its limit has it only if the search ended before it
   * had read all sessions.
   */
  nextCursor?: string;
}

/** A piece of a {@link SearchHit.snippet}. */
export interface SnippetPart {
  /** As it was written. `…` stands where the text goes on. */
  text: string;
  /** Whether the piece is a word or a phrase of the query. */
  isHit: boolean;
}
