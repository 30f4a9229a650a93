/** How the inspector finds sessions: by title, labels, user and id. */
import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionChanges, Session } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { needlesOf, wordsOf } from '../../../values/words.js';
import type { LiveSessionsRequest } from '../../live/index.js';
import { findSessions, type FoundSessions } from '../../live/found_sessions.js';
import { useReading } from '../view/hooks.js';

/** What a user types to find sessions. */
export interface FilterTexts {
  readonly title: string;
  /** `pinned=yes topic=tea` */
  readonly labels: string;
  /** Words that were said. */
  readonly text: string;
  /** The id or a part of it. */
  readonly id: string;
}

/** Sessions that are read at first, and by each further step. */
const SESSION_PAGE = 50;

/**
 * Reads labels as a user types them: `key=value`, separated by spaces or commas.
 *
 * @throws SyntaxError if one has no `=`
 */
export function parseLabels(text: string): Record<string, string> {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const entries = words.map((word): [string, string] => {
    const [key = '', ...value] = word.split('=');
    if (value.length === 0) throw new SyntaxError('Labels are written as key=value.');
    return [key, value.join('=')];
  });
  return Object.fromEntries(entries);
}

/** Writes labels as {@link parseLabels} reads them. */
export function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

/**
 * Returns the changes that a user has typed. What is `undefined` was not typed, and stays as others may have set it.
 *
 * @throws SyntaxError as `parseLabels`
 */
export function changesOf(title: string | undefined, labels: string | undefined): SessionChanges {
  const parsed = parseLabels(labels ?? '');
  return {
    ...(title !== undefined && { title: title === '' ? null : title }),
    ...(labels !== undefined && { labels: Object.keys(parsed).length === 0 ? null : parsed }),
  };
}

/** Returns the request of the list. @throws SyntaxError as `parseLabels` */
export function listRequest(
  appName: string,
  userId: string,
  { title, labels }: Pick<FilterTexts, 'title' | 'labels'>,
): LiveSessionsRequest {
  const parsed = parseLabels(labels);
  return {
    appName,
    limit: SESSION_PAGE,
    stateKeys: [],
    ...(userId !== '' && { userId }),
    ...(title.trim() !== '' && { title }),
    ...(Object.keys(parsed).length > 0 && { labels: parsed }),
  };
}

export interface Search {
  service: GivenService<SessionService>;
  request: LiveSessionsRequest;
  /** An id or a part of one; empty for no search. */
  part: string;
  /** What was said; empty for no search. */
  text: string;
}

/** The most users whose sessions are looked up by id if no user is chosen. */
const USERS = 10;

/**
 * Returns the sessions with this id: that of the request's user, or else those of the first 10 of `users`. Returns none
 * if the request has a title or labels, because only a list applies these.
 */
export async function getSessions(
  service: Pick<SessionService, 'getSession'>,
  { appName, userId, title, labels }: LiveSessionsRequest,
  users: readonly string[],
  sessionId: string,
  signal: AbortSignal,
): Promise<Session[]> {
  if (title !== undefined || labels !== undefined) return [];
  const asked = userId === undefined ? users.slice(0, USERS) : [userId];
  const config = { numRecentEvents: 0 };
  const sessions = await Promise.all(
    asked.map((userId) => service.getSession({ appName, userId, sessionId, config, signal })),
  );
  return sessions.filter((session) => session !== undefined);
}

/**
 * Goes through a list from the newest session on, and returns those with `part` in their id: at most 50. Storages have
 * no index for parts of an id.
 */
export async function searchIds(
  service: Pick<SessionService, 'listSessions'>,
  request: LiveSessionsRequest,
  part: string,
  signal: AbortSignal,
): Promise<Session[]> {
  const found: Session[] = [];
  let cursor: string | undefined;
  do {
    const page = await service.listSessions({
      ...request,
      order: 'desc',
      limit: 500,
      cursor,
      withTotal: false,
      signal,
    });
    found.push(...page.sessions.filter(({ id }) => id.includes(part)));
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < SESSION_PAGE);
  return found.slice(0, SESSION_PAGE);
}

/** Finds the sessions of a user in which something was said, those with the newest hits first. */
export async function searchTexts(
  service: SessionService,
  { appName, userId, labels, title = '' }: LiveSessionsRequest,
  query: string,
  signal: AbortSignal,
): Promise<FoundSessions<StateShape>> {
  if (userId === undefined) throw new SyntaxError('Choose a user to search in texts.');
  const request = { appName, userId, query, labels, signal };
  const { sessions, isComplete } = await findSessions(service, request);
  const needles = needlesOf(title);
  const admits = ({ title = '' }: Session): boolean =>
    needles.every((needle) => wordsOf(title).includes(needle));
  return { sessions: sessions.filter(admits), isComplete };
}

/** Finds the sessions with the id at once, and then those whose id has it as a part. */
export function useSearch(
  { service, request, part, text }: Search,
  users: readonly string[],
  status: string,
): { found: readonly Session[]; isSearching: boolean; isComplete: boolean; error: unknown } {
  const isWanted = part !== '' && status === 'ready';
  const inputs = [service, request, part, users, isWanted];
  const exact = useReading(async (signal) => {
    return isWanted ? getSessions(await service, request, users, part, signal) : [];
  }, inputs);
  const searched = useReading(async (signal) => {
    return isWanted ? searchIds(await service, request, part, signal) : [];
  }, inputs);
  const said = useReading(
    async (signal) => (text === '' ? undefined : searchTexts(await service, request, text, signal)),
    [service, request, text],
  );
  if (text !== '') {
    const { sessions = [], isComplete = true } = said.value ?? {};
    const found = sessions.filter(({ id }) => id.includes(part));
    return { found, isSearching: said.isBusy, isComplete, error: said.error };
  }
  const isSearching = part !== '' && searched.isBusy;
  // Until the search ends, the results of the search before it stay, as far as they match.
  const all = [...(exact.value ?? []), ...(searched.value ?? [])];
  const matching = all.filter(({ id }) => id.includes(part));
  const keyOf = ({ userId, id }: Session): string => JSON.stringify([userId, id]);
  const byKey = new Map(matching.map((session) => [keyOf(session), session]));
  const error = exact.error ?? searched.error;
  return { found: [...byKey.values()], isSearching, isComplete: true, error };
}
