import { coreOf } from '../../core/core_of.js';
import { checksum, cursorText, readPlace } from '../../core/storage/reads/cursors.js';
import { isOutage } from '../../stores/cache/records/failures.js';
import { isSessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireText, requireWhole } from '../../values/errors/option_values.js';
import { parseLabels, takeDescription } from '../../values/model/description.js';
import type { LookedSession } from '../../core/word_rows.js';
import type { Event } from '../../values/model/event/event.js';
import type { FindRequest, FindResult, SearchHit } from '../../values/model/search.js';
import type { SessionService } from '../../values/model/session_service.js';
import { requireId, requireUser } from '../../values/model/values/ids.js';
import { isTime, MAX_TIMESTAMP, optionalTime } from '../../values/model/values/time.js';
import { needlesOf, wordsOf } from '../../values/words.js';
import {
  type Candidate,
  newestFirst,
  readEvents,
  type SearchedSessions,
} from './searched_sessions.js';
import { countIn } from './process_words.js';
import { ownTexts, snippetOf } from './snippet.js';

/** The most characters of a query. */
export const MAX_QUERY = 512;
/** The most hits of one session. */
const MAX_OF_SESSION = 5;

/** The most sessions whose events are read at once. */
const MAX_READS = 4;

/** The most sessions of a page that the caller may not see. */
const MAX_REFUSED = 20;

/**
 * A place is the time and the id of a session that the caller may see, and how many of its hits were given. After 20
 * refusals it has a checksum of the last refused session too, which tells strangers neither its id nor its time.
 */
const SEARCH_CURSOR = {
  version: 's1',
  target: 'search',
  isPlace: ([time, sessionId, given, refused]: readonly unknown[]) =>
    isTime(time) &&
    typeof sessionId === 'string' &&
    Number.isSafeInteger(given) &&
    (refused === null || Number.isSafeInteger(refused)),
};

/** A request that was checked. */
interface TakenSearch extends Pick<FindRequest, 'author' | 'after' | 'before' | 'sessionId'> {
  readonly needles: readonly string[];
  readonly labels: readonly [string, string][];
  readonly limit: number;
  /** What the cursors of the search belong to. */
  readonly target: readonly unknown[];
}

/** What may have a title. */
interface Titled {
  readonly title?: string | undefined;
}

type Place = readonly [time: number, sessionId: string, given: number, refused: number | null];

/** The place before all sessions. */
const START: Place = [MAX_TIMESTAMP, '', 0, null];

/** Takes a request. @throws SessionError `invalid_argument` */
export function takeSearch(request: FindRequest): TakenSearch {
  const { appName, userId, query, sessionId, author, limit } = request;
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
  const most = requireWhole('limit', limit ?? 20, 1, 100);
  return { needles, sessionId, author, after, before, labels, limit: most, target };
}

/**
 * Finds the hits of a request in the words of this process.
 *
 * @param request its members may not change
 * @param maySee whether the caller may see a session; absent: all of them
 */
export async function find(
  service: SessionService,
  searched: SearchedSessions,
  request: FindRequest,
  maySee?: (sessionId: string) => Promise<boolean>,
): Promise<FindResult> {
  const search = takeSearch(request);
  const { needles, limit, target } = search;
  const { cursor, signal } = request;
  const place =
    cursor === undefined
      ? undefined
      : (readPlace('cursor', SEARCH_CURSOR, target, cursor) as unknown as Place);
  const { appName, userId } = request;
  const look = { appName, userId, needles, least: needles.length, isRemembered: false, signal };
  const candidates = await searched.candidates(look, newestFirst);
  let { isComplete } = candidates;
  // A table has the titles of all sessions, also of those that the service hides from its reader.
  const isListed = (await searched.rows(signal)).list !== undefined;
  let refused = 0;
  const hits: SearchHit[] = [];
  let seen = place ?? START;
  const [, , , last] = seen;
  const rest = candidates.sessions.filter((session) => isSearched(session, search, place));
  // If the refused session has changed, those before it are asked for again.
  const sessions =
    last === null
      ? rest
      : rest.slice(rest.findIndex((session) => checksumOf(session) === last) + 1);
  const read = async (candidate: Candidate) => {
    const [, ...lines] = candidate.lines;
    const mayHaveEvents = lines.some((words) => hasAll(words, needles));
    return mayHaveEvents ? searched.transcriptOf(candidate, signal) : [];
  };
  for await (const [candidate, transcript] of readAhead(searched.withLines(look, sessions), read)) {
    const { sessionId, lastUpdateTime } = candidate;
    let events = transcript;
    let head: Titled = candidate;
    if (!isListed && events?.length === 0 && hasTitle(head, search)) {
      const config = { numRecentEvents: 0 };
      try {
        head = (await service.getSession({ appName, userId, sessionId, config, signal })) ?? {};
      } catch (error) {
        if (isSessionError(error, 'aborted') || isSessionError(error, 'closed')) throw error;
        head = {};
        events = undefined;
      }
    }
    const found = hitsOf({ sessionId, title: head.title }, search, events ?? []);
    const first = place?.[1] === sessionId ? place[2] : 0;
    const page = (end: Place): FindResult => {
      return { hits, isComplete, nextCursor: cursorText(SEARCH_CURSOR, target, end) };
    };
    const isHit = found.length > first || events === undefined;
    if (isHit && maySee !== undefined && !(await maySee(sessionId))) {
      refused += 1;
      const [time, id, given] = seen;
      if (refused >= MAX_REFUSED) return page([time, id, given, checksumOf(candidate)]);
      continue;
    }
    if (isHit) seen = [lastUpdateTime, sessionId, found.length, null];
    if (events === undefined) isComplete = false;
    for (const [number, hit] of found.entries()) {
      if (number < first) continue;
      hits.push(hit);
      if (hits.length === limit) return page([lastUpdateTime, sessionId, number + 1, null]);
    }
  }
  return { hits, isComplete };
}

/** Yields items with what is read of them, in their order. Some are read at once: a server answers several in the time of one. */
async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<readonly [Item, Result]> {
  const readings: Promise<readonly [Item, Result]>[] = [];
  for await (const item of items) {
    const reading = read(item).then((result) => [item, result] as const);
    // Nobody takes those that a full page leaves.
    reading.catch(() => undefined);
    readings.push(reading);
    if (readings.length >= MAX_READS) yield readings.shift()!;
  }
  yield* readings;
}

function checksumOf({ sessionId, lastUpdateTime }: LookedSession): number {
  return checksum(JSON.stringify([sessionId, lastUpdateTime]));
}

/** The hits of sessions with changes that a remote has not confirmed. */
interface UnsentHits {
  readonly hits: readonly SearchHit[];
  /** The sessions whose events are all here, or that are deleted here. */
  readonly whole: ReadonlySet<string>;
}

/**
 * Finds the hits of a cache: those of its remote, and before them those of the sessions with unsent changes. Without a
 * connection the copies are searched.
 */
export async function findThroughCache(
  service: SessionService,
  searched: SearchedSessions,
  request: FindRequest,
): Promise<FindResult> {
  const core = coreOf(service);
  const { appName, userId, cursor, limit = 20 } = request;
  let isReached = true;
  try {
    const ids = core?.unsentSessions?.({ appName, userId }) ?? [];
    const { hits, whole } = await unsentHits(service, request, ids);
    // Those that are unsent stand on the first page. The remote has some of them on later ones.
    const first = cursor === undefined ? hits : [];
    const rest = { ...request, limit: Math.max(1, limit - first.length) };
    const found = await core?.search(rest);
    if (found !== undefined) {
      const places = new Set(hits.map(placeOf));
      const others = found.hits.filter(
        (hit) => !whole.has(hit.sessionId) && !places.has(placeOf(hit)),
      );
      return { ...found, hits: [...first, ...others] };
    }
  } catch (error) {
    if (!isOutage(error)) throw error;
    isReached = false;
  }
  const here = await find(service, searched, request);
  return isReached ? here : { ...here, isComplete: false };
}

function placeOf({ sessionId, eventId }: SearchHit): string {
  return JSON.stringify([sessionId, eventId]);
}

async function unsentHits(
  service: SessionService,
  request: FindRequest,
  sessionIds: readonly string[],
): Promise<UnsentHits> {
  const search = takeSearch(request);
  const { appName, userId, signal } = request;
  const found: { readonly lastUpdateTime: number; readonly hits: readonly SearchHit[] }[] = [];
  const whole = new Set<string>();
  for (const sessionId of sessionIds) {
    const key = { appName, userId, sessionId, signal };
    const options = { view: 'transcript', reads: 'cache-only' } as const;
    const read = await readEvents(service, key, options);
    if (read?.isWhole !== false) whole.add(sessionId);
    if (read === undefined) continue;
    const { title, labels = {}, lastUpdateTime, events } = read.session;
    if (!isSearched({ sessionId, labels, lastUpdateTime }, search, undefined)) continue;
    found.push({ lastUpdateTime, hits: hitsOf({ sessionId, title }, search, events) });
  }
  found.sort((one, other) => other.lastUpdateTime - one.lastUpdateTime);
  return { hits: found.flatMap(({ hits }) => hits), whole };
}

/** Returns whether the words of a text have all words of a query. */
function hasAll(words: string, needles: readonly string[]): boolean {
  return countIn(words, needles, needles.length) > 0;
}

/** Returns whether the title of a session is a hit. */
function hasTitle(
  { title = '' }: Titled,
  { needles, author, after, before }: TakenSearch,
): boolean {
  if (author !== undefined || after !== undefined || before !== undefined) return false;
  return hasAll(wordsOf(title), needles);
}

/** Returns whether a session may have hits, apart from its words, and does not stand before the cursor. */
function isSearched(
  {
    sessionId: id,
    lastUpdateTime,
    labels: own,
  }: Pick<LookedSession, 'sessionId' | 'lastUpdateTime' | 'labels'>,
  { sessionId, labels }: TakenSearch,
  place: Place | undefined,
): boolean {
  if (sessionId !== undefined && id !== sessionId) return false;
  if (!labels.every(([key, value]) => Object.hasOwn(own, key) && own[key] === value)) return false;
  if (place === undefined) return true;
  const [time, last] = place;
  return lastUpdateTime < time || (lastUpdateTime === time && id <= last);
}

/** Returns the hits of one session in their order. */
function hitsOf(
  { sessionId: id, title }: Pick<LookedSession, 'sessionId' | 'title'>,
  search: TakenSearch,
  events: readonly Event[],
): SearchHit[] {
  const { needles, author, after = 0, before = Infinity, sessionId } = search;
  const head = { sessionId: id, ...(title !== undefined && { title }) };
  const hits: SearchHit[] = [];
  if (hasTitle({ title }, search)) hits.push({ ...head, snippet: snippetOf(title ?? '', needles) });
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
