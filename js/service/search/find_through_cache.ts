import { coreOf } from '../../core/core_of.js';
import { isOutage } from '../../stores/cache/records/failures.js';
import type { FindRequest, FindResult, SearchHit } from '../../values/model/search.js';
import type { SessionService } from '../../values/model/session_service.js';
import { find, isSearched, takeSearch } from './find.js';
import { hitsOf } from './hits.js';
import { Pauses } from './pauses.js';
import { beginSearch, type SearchedSessions } from './searched_sessions.js';
import { inMemory, readEvents } from './session_reading.js';

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
  const call = beginSearch();
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
    // Nothing else is asked of a remote that does not answer.
    const here = await find(service, searched, request, undefined, {
      ...call,
      reads: 'cache-only',
    });
    return { ...here, isComplete: false };
  }
  return find(service, searched, request, undefined, call);
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
  const pauses = new Pauses(signal);
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
    const session = { sessionId, title, reading: inMemory(events), most: Infinity };
    found.push({ lastUpdateTime, hits: await hitsOf(session, search, pauses) });
  }
  found.sort((one, other) => other.lastUpdateTime - one.lastUpdateTime);
  return { hits: found.flatMap(({ hits }) => hits), whole };
}
