import { newestFirst, type Order } from '../../core/word_rows.js';
import { requireNotAborted, takeRequest } from '../../core/call/call.js';
import { isSessionError } from '../../values/errors/errors.js';
import { requireFunction, requireOneOf, requireText } from '../../values/errors/option_values.js';
import type { Content } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { isAnswer, isFinalResponse } from '../../values/model/event/final_response.js';
import type { Session, UserRequest } from '../../values/model/session.js';
import { requireUser } from '../../values/model/values/ids.js';
import { anyNeedlesOf, wordsOf } from '../../values/words.js';
import { MAX_QUERY } from './find.js';
import { countIn } from './process_words.js';
import { Pauses } from './pauses.js';
import {
  beginSearch,
  type Candidate,
  limitOf,
  type SearchedSessions,
} from './searched_sessions.js';
import { ownTexts, wordsInTurns } from './event_words.js';

/** How a {@link MemoryService} remembers. */
export interface MemoryOptions {
  /**
   * `'all'`: every session of the user. `'added'`: only those given to `addSessionToMemory`, over databases and
   * IndexedDB; elsewhere the calls reject with `unsupported`, as nothing keeps the marks. Default `'all'`.
   */
  remembers?: 'all' | 'added' | undefined;
  /**
   * Called at each search: the sessions with these ids are left out. Give the session that the agent answers in, whose
   * events its model has in any case. A `Runner` does not tell a memory service which one that is.
   */
  except?: (() => readonly string[]) | undefined;
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
   * then the newest: at most 20. In a script without blanks, any pair of Han and Kana counts as a word, and any three
   * letters of the others. Characters after the first 512 do not count; of more than 90 different words, the rarest do.
   *
   * No event is found that repeats the query, or whose invocation has no final answer yet.
   */
  searchMemory(request: UserRequest & { query: string }): Promise<FoundMemories>;
}

/** The most entries of an answer: a model has to read them. */
const MAX_ENTRIES = 20;

/** Makes a memory service. */
export function makeMemoryService(
  searched: SearchedSessions,
  { remembers = 'all', except }: MemoryOptions,
): MemoryService {
  const isRemembered = requireOneOf('remembers', remembers, ['all', 'added']) === 'added';
  if (except !== undefined) requireFunction('except', except);
  return {
    addSessionToMemory: async ({ appName, userId, id: sessionId }) => {
      if (isRemembered) await searched.remember({ appName, userId, sessionId });
    },
    searchMemory: async (request) => ({
      memories: await searchMemory(searched, request, isRemembered, new Set(except?.())),
    }),
  };
}

async function searchMemory(
  searched: SearchedSessions,
  request: UserRequest & { query: string },
  isRemembered: boolean,
  excepted: ReadonlySet<string>,
): Promise<MemoryEntry[]> {
  const taken = takeRequest(request);
  requireUser(taken);
  requireText('query', taken.query);
  const query = [...taken.query].slice(0, MAX_QUERY).join('');
  if (isRemembered) await searched.requireMarks(taken.signal);
  const { appName, userId, signal } = taken;
  const owner = { appName, userId, isRemembered, signal };
  const call = beginSearch();
  const asking = { ...owner, least: 1, needles: anyNeedlesOf(query) };
  const asked = wordsOf(query);
  const isQuestion = (words: string): boolean =>
    query.length < taken.query.length ? words.startsWith(asked) : words === asked;
  const isCounted = (sessionId: string, words: string): boolean =>
    !excepted.has(sessionId) && !isQuestion(words);
  const needles = await searched.rarest(asking, call, isCounted);
  const count = (words: string): number => (isQuestion(words) ? 0 : countIn(words, needles));
  const look = { ...owner, needles, least: 1 };
  const bestFirst: Order = (one, other) => other.found - one.found || newestFirst(one, other);
  const { sessions } = await searched.candidates(look, bestFirst, call);
  const remembered = sessions.filter(({ sessionId }) => !excepted.has(sessionId));
  const entries: { entry: MemoryEntry; count: number; time: number }[] = [];
  /** Whether no event with so many words, of this time or before, comes into the answer. */
  const isFull = (most: number, newest: number): boolean =>
    entries.filter(({ count, time }) => count > most || (count === most && time >= newest))
      .length >= MAX_ENTRIES;
  const addEntries = async (candidate: Candidate, matching: number): Promise<void> => {
    const reading = await searched.transcriptOf(candidate, call, pauses);
    const answered = new Set<string>();
    let remaining = matching;
    for await (const event of reading?.events() ?? []) {
      const { author, timestamp, invocationId } = event;
      if (author !== 'user' && isAnswer(event) && isFinalResponse(event)) {
        answered.add(invocationId);
      }
      const texts = ownTexts(event);
      const own = count(await wordsInTurns(texts.join('\n'), pauses));
      if (own === 0) continue;
      if (!invocationId || answered.has(invocationId)) {
        entries.push({ entry: entryOf(event, texts), count: own, time: timestamp });
      }
      remaining -= 1;
      if (remaining === 0) return;
    }
  };
  const read = async (): Promise<void> => {
    for await (const candidate of searched.withLines(look, remembered)) {
      const { found, lastUpdateTime } = candidate;
      // No event of this session or a later one is better than the entries.
      if (time.hasFired || isFull(found, lastUpdateTime)) return;
      const [, ...lines] = candidate.lines;
      const counts = lines.map(count).filter((own) => own > 0);
      const most = counts.reduce((most, own) => Math.max(most, own), 0);
      if (most === 0 || isFull(most, lastUpdateTime)) continue;
      await addEntries(candidate, counts.length).catch((error: unknown) => {
        // The other sessions are remembered.
        if (isSessionError(error, 'closed')) throw error;
      });
    }
  };
  const time = limitOf(call, signal);
  const pauses = new Pauses(time.signal);
  try {
    await time.until(read());
    requireNotAborted(signal);
  } finally {
    time.abort();
    time.end();
  }
  entries.sort((one, other) => other.count - one.count || other.time - one.time);
  return entries.slice(0, MAX_ENTRIES).map(({ entry }) => entry);
}

function entryOf({ author, timestamp, content }: Event, texts: readonly string[]): MemoryEntry {
  const role = content?.role;
  return {
    content: { ...(role !== undefined && { role }), parts: texts.map((text) => ({ text })) },
    ...(author !== undefined && { author }),
    timestamp: new Date(timestamp).toISOString(),
  };
}
