import { requireNotAborted } from '../../core/call/call.js';
import { checksum, cursorText, readPlace } from '../../core/storage/reads/cursors.js';
import { isSessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireText, requireWhole } from '../../values/errors/option_values.js';
import { parseLabels, takeDescription } from '../../values/model/description.js';
import { newestFirst, type LookedSession } from '../../core/word_rows.js';
import type { FindRequest, FindResult, SearchHit } from '../../values/model/search.js';
import type { SessionService } from '../../values/model/session_service.js';
import { requireId, requireUser } from '../../values/model/values/ids.js';
import { isTime, MAX_TIMESTAMP, optionalTime } from '../../values/model/values/time.js';
import { needlesOf } from '../../values/words.js';
import { hasAll, type HitFilter, hitsOf, isTitleHit } from './hits.js';
import { Pauses } from './pauses.js';
import {
  beginSearch,
  type Candidate,
  limitOf,
  type SearchCall,
  type SearchedSessions,
} from './searched_sessions.js';

/** The most characters of a query. */
export const MAX_QUERY = 512;
/** The most sessions whose events are read at once. */
const MAX_READS = 4;

/** The most sessions of a page that the caller may not see. */
const MAX_REFUSED = 20;

/**
 * A place is the time and the id of the last session with hits that the caller may see, and how many of its hits were given.
 * If that session and perhaps further ones are done with, it has a checksum of the last one too. The caller may not be
 * allowed to see that one: a checksum tells neither its id nor its time.
 */
const SEARCH_CURSOR = {
  version: 's1',
  target: 'search',
  isPlace: ([time, sessionId, given, done]: readonly unknown[]) =>
    isTime(time) &&
    typeof sessionId === 'string' &&
    Number.isSafeInteger(given) &&
    (done === null || Number.isSafeInteger(done)),
};

/** A request that was checked. */
interface TakenSearch extends HitFilter {
  readonly labels: readonly [string, string][];
  readonly limit: number;
  /** What the cursors of the search belong to. */
  readonly target: readonly unknown[];
}

type Place = readonly [time: number, sessionId: string, given: number, done: number | null];

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
  const members = { appName, userId, query: needles, sessionId, author, after, before, labels };
  const target = Object.values(
    members satisfies Record<Exclude<keyof FindRequest, 'limit' | 'cursor' | 'signal'>, unknown>,
  );
  const most = requireWhole('limit', limit ?? 20, 1, 100);
  return { needles, sessionId, author, after, before, labels, limit: most, target };
}

/** The hits of a candidate. */
interface CandidateHits {
  readonly candidate: Candidate;
  /** `undefined` if the session cannot be read. */
  readonly hits: readonly SearchHit[] | undefined;
}

/**
 * Finds the hits of a request in the words of this process. Ends within two seconds, with the hits that it has.
 *
 * @param request its members may not change
 * @param maySee whether the caller may see a session; absent: all of them
 */
export async function find(
  service: SessionService,
  searched: SearchedSessions,
  request: FindRequest,
  maySee?: (sessionId: string) => Promise<boolean>,
  call: SearchCall = beginSearch(),
): Promise<FindResult> {
  const search = takeSearch(request);
  const { needles, limit, target } = search;
  const { cursor, signal, appName, userId } = request;
  const place =
    cursor === undefined
      ? undefined
      : (readPlace('cursor', SEARCH_CURSOR, target, cursor) as unknown as Place);
  const look = { appName, userId, needles, least: needles.length, isRemembered: false, signal };
  const candidates = await searched.candidates(look, newestFirst, call);
  const time = limitOf(call, signal);
  const pauses = new Pauses(time.signal);
  let { isComplete } = candidates;
  // A table has the titles of all sessions, also of those that the service hides from its reader.
  const isListed = (await searched.rows(signal)).list !== undefined;
  let refused = 0;
  const hits: SearchHit[] = [];
  const start = place ?? START;
  let end = start;
  const [, , , last] = start;
  const rest = candidates.sessions.filter((session) => isSearched(session, search, place));
  // If the session has changed, those before it are read again.
  const sessions =
    last === null
      ? rest
      : rest.slice(rest.findIndex((session) => checksumOf(session) === last) + 1);
  const givenOf = (sessionId: string): number => (place?.[1] === sessionId ? place[2] : 0);
  const read = async (candidate: Candidate): Promise<CandidateHits> => {
    const most = givenOf(candidate.sessionId) + limit;
    try {
      const found = await hitsOfCandidate(
        { service, searched, search, isListed, most, call, pauses },
        candidate,
      );
      return { candidate, hits: found };
    } catch (error) {
      if (isSessionError(error, 'aborted') || isSessionError(error, 'closed')) throw error;
      return { candidate, hits: undefined };
    }
  };
  const page = (): FindResult => {
    return { hits, isComplete, nextCursor: cursorText(SEARCH_CURSOR, target, end) };
  };
  const reading = readAhead(searched.withLines(look, sessions), read);
  try {
    for (;;) {
      const next = reading.next();
      next.catch(() => undefined);
      if (time.hasFired || !(await time.until(next))) {
        requireNotAborted(signal);
        isComplete = false;
        return end === START ? { hits, isComplete } : page();
      }
      const { done, value } = await next;
      if (done) return { hits, isComplete };
      const { candidate, hits: found } = value;
      const { sessionId, lastUpdateTime } = candidate;
      const first = givenOf(sessionId);
      const isHit = found === undefined || found.length > first;
      if (isHit && maySee !== undefined && !(await maySee(sessionId))) {
        refused += 1;
      } else {
        if (found === undefined) isComplete = false;
        if (isHit) end = [lastUpdateTime, sessionId, first, null];
        for (const hit of (found ?? []).slice(first)) {
          hits.push(hit);
          end = [lastUpdateTime, sessionId, end[2] + 1, null];
          if (hits.length === limit) return page();
        }
      }
      end = [end[0], end[1], end[2], checksumOf(candidate)];
      if (refused >= MAX_REFUSED) return page();
    }
  } finally {
    time.abort();
    time.end();
  }
}

/** What {@link hitsOfCandidate} needs of its search. */
interface HitSearch {
  readonly service: SessionService;
  readonly searched: SearchedSessions;
  readonly search: TakenSearch;
  /** Whether the candidates have the titles that the service lets its reader see. */
  readonly isListed: boolean;
  readonly most: number;
  readonly call: SearchCall;
  readonly pauses: Pauses;
}

async function hitsOfCandidate(
  { service, searched, search, isListed, most, call, pauses }: HitSearch,
  candidate: Candidate,
): Promise<readonly SearchHit[]> {
  const { appName, userId, sessionId } = candidate;
  const [, ...lines] = candidate.lines;
  const matching = lines.filter((words) => hasAll(words, search.needles)).length;
  const found = { sessionId, matching, most };
  if (matching > 0) {
    const reading = await searched.transcriptOf(candidate, call, pauses);
    if (reading === undefined) return [];
    const { title } = isListed ? candidate : reading.session;
    return hitsOf({ ...found, title, reading }, search, pauses);
  }
  if (!isTitleHit(candidate.title, search)) return [];
  if (isListed) return hitsOf({ ...found, title: candidate.title }, search, pauses);
  const config = { numRecentEvents: 0 };
  const { signal } = pauses;
  const session = await service.getSession({ appName, userId, sessionId, config, signal });
  return hitsOf({ ...found, title: session?.title }, search, pauses);
}

/** Yields what is read of items, in their order. Some are read at once: a server answers several in the time of one. */
async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, undefined> {
  const readings: Promise<Result>[] = [];
  for await (const item of items) {
    const reading = read(item);
    // Nobody takes those that a full page leaves.
    reading.catch(() => undefined);
    readings.push(reading);
    if (readings.length >= MAX_READS) yield readings.shift()!;
  }
  yield* readings;
  return undefined;
}

function checksumOf({ sessionId, lastUpdateTime }: LookedSession): number {
  return checksum(JSON.stringify([sessionId, lastUpdateTime]));
}

/** Returns whether a session may have hits, apart from its words, and does not stand before the cursor. */
export function isSearched(
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
