import { takeRequest } from '../../core/call/call.js';
import { SessionError } from '../../values/errors/errors.js';
import { requireOneOf, requireText } from '../../values/errors/option_values.js';
import type { Content } from '../../values/model/event/content.js';
import type { UserRequest } from '../../values/model/session.js';
import { requireUser } from '../../values/model/values/ids.js';
import { needlesOf, wordsOf } from '../../values/words.js';
import { MAX_QUERY } from './find.js';
import type { SearchedSessions } from './searched_sessions.js';
import { ownTexts } from './snippet.js';

/** How a {@link MemoryService} remembers. */
export interface MemoryOptions {
  /**
   * `'all'`: every session of the user. `'added'`: only those given to `addSessionToMemory`. An index in the process
   * keeps no such mark, so `'added'` is `unsupported`. Default `'all'`.
   */
  remembers?: 'all' | 'added' | undefined;
}

/** What an agent remembers of an event, as tools of `@google/adk` read it. */
export interface MemoryEntry {
  /** The texts of the event, without thoughts, calls and files. */
  content: Content;
  /** The author of the event. */
  author?: string;
  /** ISO 8601. */
  timestamp?: string;
}

/** What an agent remembers of a query. */
export interface FoundMemories {
  /** The best ones come first. */
  memories: MemoryEntry[];
}

/** A memory service for `new Runner({ memoryService })` of `@google/adk`. */
export interface MemoryService {
  /** Does nothing: the memory has every session. */
  addSessionToMemory(session: object): Promise<void>;
  /**
   * Finds events that have any word of the query, of all sessions of this user. Those with the most words come first,
   * then the newest: at most 20. Characters after the first 512 do not count.
   */
  searchMemory(request: UserRequest & { query: string }): Promise<FoundMemories>;
}

/** The most entries of an answer: a model has to read them. */
const MAX_ENTRIES = 20;

/** Makes a memory service. */
export function makeMemoryService(
  searched: SearchedSessions,
  { remembers = 'all' }: MemoryOptions,
): MemoryService {
  if (requireOneOf('remembers', remembers, ['all', 'added']) === 'added') {
    const message =
      "An index in the process keeps no marks of added sessions; use remembers: 'all'.";
    throw new SessionError('unsupported', message);
  }
  return {
    addSessionToMemory: () => Promise.resolve(),
    searchMemory: async (request) => ({ memories: await searchMemory(searched, request) }),
  };
}

async function searchMemory(
  searched: SearchedSessions,
  request: UserRequest & { query: string },
): Promise<MemoryEntry[]> {
  const taken = takeRequest(request);
  requireUser(taken);
  requireText('query', taken.query);
  const needles = needlesOf([...taken.query].slice(0, MAX_QUERY).join(''));
  const count = (words: string): number =>
    needles.filter((needle) => words.includes(needle)).length;
  const { sessions } = await searched.indexOf(taken);
  const best = sessions
    .map((indexed) => {
      const counts = count(indexed.words) === 0 ? [] : indexed.words.split('\n').map(count);
      return { indexed, most: counts.reduce((most, count) => Math.max(most, count), 0) };
    })
    .filter(({ most }) => most > 0)
    .sort((one, other) => other.most - one.most);
  const entries: { readonly entry: MemoryEntry; readonly count: number }[] = [];
  for (const { indexed, most } of best) {
    // No event of this session or a later one has more words than the entries.
    if (entries.filter((entry) => entry.count >= most).length >= MAX_ENTRIES) break;
    const events = (await searched.transcriptOf(indexed, taken.signal)) ?? [];
    for (const event of [...events].reverse()) {
      const texts = ownTexts(event);
      const { author, timestamp, content } = event;
      const role = content?.role;
      const entry: MemoryEntry = {
        content: { ...(role !== undefined && { role }), parts: texts.map((text) => ({ text })) },
        ...(author !== undefined && { author }),
        timestamp: new Date(timestamp).toISOString(),
      };
      const found = count(wordsOf(texts.join('\n')));
      if (found > 0) entries.push({ entry, count: found });
    }
  }
  entries.sort((one, other) => other.count - one.count);
  return entries.slice(0, MAX_ENTRIES).map(({ entry }) => entry);
}
