import { takeRequest } from '../../core/call/call.js';
import { requireOneOf, requireText } from '../../values/errors/option_values.js';
import type { Content } from '../../values/model/event/content.js';
import type { Session, UserRequest } from '../../values/model/session.js';
import { requireUser } from '../../values/model/values/ids.js';
import { needlesOf, wordsOf } from '../../values/words.js';
import { MAX_QUERY } from './find.js';
import { countIn } from './process_words.js';
import {
  MAX_NEEDLES,
  newestFirst,
  type Order,
  type SearchedSessions,
} from './searched_sessions.js';
import { ownTexts } from './snippet.js';

/** How a {@link MemoryService} remembers. */
export interface MemoryOptions {
  /**
   * `'all'`: every session of the user. `'added'`: only those given to `addSessionToMemory`, over databases and
   * IndexedDB; elsewhere the calls reject with `unsupported`, as nothing keeps the marks. Default `'all'`.
   */
  remembers?: 'all' | 'added' | undefined;
}

/** What an agent remembers of an event, as tools of `@google/adk` read it. */
export interface MemoryEntry {
  /** The texts of the event and the names of its files, without thoughts and calls. */
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
  /**
   * Marks a session, and what is said in it later, as remembered. Does nothing with `remembers: 'all'`.
   *
   * @throws SessionError `invalid_argument`; `unsupported` if nothing keeps the marks
   */
  addSessionToMemory(session: Pick<Session, 'appName' | 'userId' | 'id'>): Promise<void>;
  /**
   * Finds events that have any word of the query, of all remembered sessions of this user. Those with the most words come first,
   * then the newest: at most 20. Characters after the first 512, and words after 90 different ones, do not count.
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
  const isRemembered = requireOneOf('remembers', remembers, ['all', 'added']) === 'added';
  return {
    addSessionToMemory: async ({ appName, userId, id: sessionId }) => {
      if (isRemembered) await searched.remember({ appName, userId, sessionId });
    },
    searchMemory: async (request) => ({
      memories: await searchMemory(searched, request, isRemembered),
    }),
  };
}

async function searchMemory(
  searched: SearchedSessions,
  request: UserRequest & { query: string },
  isRemembered: boolean,
): Promise<MemoryEntry[]> {
  const taken = takeRequest(request);
  requireUser(taken);
  requireText('query', taken.query);
  const all = needlesOf([...taken.query].slice(0, MAX_QUERY).join(''));
  const needles = all.slice(0, MAX_NEEDLES);
  if (isRemembered) await searched.requireMarks(taken.signal);
  const count = (words: string): number => countIn(words, needles);
  const { appName, userId, signal } = taken;
  const look = { appName, userId, needles, least: 1, isRemembered, signal };
  const bestFirst: Order = (one, other) => other.found - one.found || newestFirst(one, other);
  const { sessions } = await searched.candidates(look, bestFirst);
  const entries: { entry: MemoryEntry; count: number; time: number }[] = [];
  /** Whether no event with so many words, of this time or before, comes into the answer. */
  const isFull = (most: number, newest: number): boolean =>
    entries.filter(({ count, time }) => count > most || (count === most && time >= newest))
      .length >= MAX_ENTRIES;
  for await (const candidate of searched.withLines(look, sessions)) {
    const { found, lastUpdateTime } = candidate;
    // No event of this session or a later one is better than the entries.
    if (isFull(found, lastUpdateTime)) break;
    const [, ...lines] = candidate.lines;
    const most = lines.reduce((most, line) => Math.max(most, count(line)), 0);
    if (most === 0 || isFull(most, lastUpdateTime)) continue;
    const events = (await searched.transcriptOf(candidate, signal)) ?? [];
    for (const event of [...events].reverse()) {
      const texts = ownTexts(event);
      const { author, timestamp, content } = event;
      const role = content?.role;
      const entry: MemoryEntry = {
        content: { ...(role !== undefined && { role }), parts: texts.map((text) => ({ text })) },
        ...(author !== undefined && { author }),
        timestamp: new Date(timestamp).toISOString(),
      };
      const own = count(wordsOf(texts.join('\n')));
      if (own > 0) entries.push({ entry, count: own, time: timestamp });
    }
  }
  entries.sort((one, other) => other.count - one.count || other.time - one.time);
  return entries.slice(0, MAX_ENTRIES).map(({ entry }) => entry);
}
