import { takeRequest } from '../../core/call/call.js';
import { cursorText, readPlace } from '../../core/storage/reads/cursors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireText, requireWhole } from '../../values/errors/option_values.js';
import { parseLabels, takeDescription } from '../../values/model/description.js';
import type { Event } from '../../values/model/event/event.js';
import type { UserRequest } from '../../values/model/session.js';
import { requireId, requireUser } from '../../values/model/values/ids.js';
import { isTime, optionalTime } from '../../values/model/values/time.js';
import { needlesOf, wordsOf } from '../../values/words.js';
import type { IndexedSession, SearchedSessions } from './searched_sessions.js';
import { ownTexts, type SnippetPart, snippetOf } from './snippet.js';

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
  /** The cursor to the hits after this page. Absent if the page has fewer hits than its limit. */
  nextCursor?: string;
}

/** The most characters of a query. */
export const MAX_QUERY = 512;
/** The most hits of one session. */
const MAX_OF_SESSION = 5;

/** A place is the time and the id of a session, and how many of its hits were given. */
const SEARCH_CURSOR = {
  version: 's1',
  target: 'search',
  isPlace: ([time, sessionId, given]: readonly unknown[]) =>
    isTime(time) && typeof sessionId === 'string' && Number.isSafeInteger(given),
};

/** A request that was checked. */
interface TakenSearch extends Pick<FindRequest, 'author' | 'after' | 'before' | 'sessionId'> {
  readonly needles: readonly string[];
  readonly labels: readonly [string, string][];
  readonly limit: number;
  /** What the cursors of the search belong to. */
  readonly target: readonly unknown[];
  readonly place: readonly [time: number, sessionId: string, given: number] | undefined;
}

/** Takes a request. @throws SessionError `invalid_argument` */
function takeSearch(request: FindRequest): TakenSearch {
  const { appName, userId, query, sessionId, author, cursor, limit } = request;
  requireUser(request);
  requireText('query', query);
  const length = [...query].length;
  if (length > MAX_QUERY) {
    throw invalid('query', `must have at most ${MAX_QUERY} characters; it has ${length}`);
  }
  const needles = needlesOf(query);
  if (needles.length === 0) throw invalid('query', 'must have a letter or a digit');
  if (sessionId !== undefined) requireId('sessionId', sessionId);
  if (author !== undefined) requireText('author', author);
  const after = optionalTime('after', request.after);
  const before = optionalTime('before', request.before);
  const labels = Object.entries(parseLabels(takeDescription({ labels: request.labels }).labels));
  const target = [appName, userId, needles, sessionId, author, after, before, labels];
  return {
    needles,
    sessionId,
    author,
    after,
    before,
    labels,
    limit: requireWhole('limit', limit ?? 20, 1, 100),
    target,
    place:
      cursor === undefined
        ? undefined
        : (readPlace('cursor', SEARCH_CURSOR, target, cursor) as TakenSearch['place']),
  };
}

/** Finds the hits of a request. */
export async function find(searched: SearchedSessions, request: FindRequest): Promise<FindResult> {
  const given = takeRequest(request);
  const search = takeSearch(given);
  const { needles, limit, target, place } = search;
  const index = await searched.indexOf(given);
  let { isComplete } = index;
  const hits: SearchHit[] = [];
  for (const indexed of index.sessions) {
    if (!isSearched(indexed, search)) continue;
    const hasTitle = admitsTitles(search) && hasAll(indexed.titleWords, needles);
    // Most sessions lack a word, and cutting their lines takes far longer.
    const mayHaveEvents =
      hasAll(indexed.words, needles) &&
      indexed.words.split('\n').some((words) => hasAll(words, needles));
    const events = mayHaveEvents ? await searched.transcriptOf(indexed, given.signal) : [];
    if (events === undefined) isComplete = false;
    const { sessionId, session } = indexed;
    const found = hitsOf(indexed, search, hasTitle, events ?? []);
    const first = place?.[1] === sessionId ? place[2] : 0;
    for (const [number, hit] of found.entries()) {
      if (number < first) continue;
      hits.push(hit);
      if (hits.length < limit) continue;
      const end = [session.lastUpdateTime, sessionId, number + 1];
      return { hits, isComplete, nextCursor: cursorText(SEARCH_CURSOR, target, end) };
    }
  }
  return { hits, isComplete };
}

/** Returns whether the words of a text have all words of a query. */
function hasAll(words: string, needles: readonly string[]): boolean {
  return needles.every((needle) => words.includes(needle));
}

function admitsTitles({ author, after, before }: TakenSearch): boolean {
  return author === undefined && after === undefined && before === undefined;
}

/** Returns whether a session may have hits, apart from its words, and does not stand before the cursor. */
function isSearched(
  { session }: IndexedSession,
  { sessionId, labels, place }: TakenSearch,
): boolean {
  const { id, lastUpdateTime, labels: own } = session;
  if (sessionId !== undefined && id !== sessionId) return false;
  if (
    !labels.every(
      ([key, value]) => own !== undefined && Object.hasOwn(own, key) && own[key] === value,
    )
  ) {
    return false;
  }
  if (place === undefined) return true;
  const [time, last] = place;
  return lastUpdateTime < time || (lastUpdateTime === time && id <= last);
}

/** Returns the hits of one session in their order. */
function hitsOf(
  { session }: IndexedSession,
  { needles, author, after = 0, before = Infinity, sessionId }: TakenSearch,
  hasTitle: boolean,
  events: readonly Event[],
): SearchHit[] {
  const { id, title } = session;
  const head = { sessionId: id, ...(title !== undefined && { title }) };
  const hits: SearchHit[] = [];
  if (hasTitle) hits.push({ ...head, snippet: snippetOf(title ?? '', needles) });
  const most = sessionId === undefined ? MAX_OF_SESSION : Infinity;
  for (const event of [...events].reverse()) {
    if (hits.length >= most) break;
    const { id: eventId, timestamp } = event;
    if (author !== undefined && event.author !== author) continue;
    if (timestamp < after || timestamp >= before) continue;
    const text = ownTexts(event).join('\n');
    if (!hasAll(wordsOf(text), needles)) continue;
    const facts = {
      eventId,
      timestamp,
      ...(event.author !== undefined && { author: event.author }),
    };
    hits.push({ ...head, ...facts, snippet: snippetOf(text, needles) });
  }
  return hits;
}
