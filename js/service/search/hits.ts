/** The hits of one session. */
import { titleOf } from '../../values/model/event/auto_title.js';
import type { FindRequest, SearchHit } from '../../values/model/search.js';
import { wordsOf } from '../../values/words.js';
import { hasAllInTurns, ownTexts } from './event_words.js';
import type { Pauses } from './pauses.js';
import { countIn } from './process_words.js';
import type { SessionReading } from './session_reading.js';
import { snippetOf } from './snippet.js';

/** The most hits of one session. */
const MAX_OF_SESSION = 5;

/** What decides which texts are hits. */
export interface HitFilter extends Pick<FindRequest, 'author' | 'after' | 'before' | 'sessionId'> {
  readonly needles: readonly string[];
}

/** A session whose hits are found. */
export interface HitSession {
  readonly sessionId: string;
  readonly title: string | undefined;
  /** Its events. Absent: none of them is a hit. */
  readonly reading?: Pick<SessionReading, 'events' | 'firstEvents'> | undefined;
  /** How many events have all words, so that the others need not be read; absent if that is not known. */
  readonly matching?: number | undefined;
  /** The most hits that are needed. */
  readonly most: number;
}

/** Returns whether the words of a text have all words of a query. */
export function hasAll(words: string, needles: readonly string[]): boolean {
  return countIn(words, needles, needles.length) > 0;
}

/** Returns whether a title is a hit. */
export function isTitleHit(
  title: string | undefined,
  { needles, author, after, before }: HitFilter,
): boolean {
  if (author !== undefined || after !== undefined || before !== undefined) return false;
  return title !== undefined && hasAll(wordsOf(title), needles);
}

/**
 * Returns the hits of a session: its title, then its events, the newest first. A title that its first message has given is a
 * hit only if no event is.
 */
export async function hitsOf(
  { sessionId: id, title, reading, matching = Infinity, most }: HitSession,
  filter: HitFilter,
  pauses: Pauses,
): Promise<SearchHit[]> {
  const { needles, author, after = 0, before = Infinity, sessionId } = filter;
  const head = { sessionId: id, ...(title !== undefined && { title }) };
  const limit = Math.min(most, sessionId === undefined ? MAX_OF_SESSION : Infinity);
  const hits: SearchHit[] = [];
  const addTitle = async (text: string): Promise<void> => {
    hits.push({ ...head, snippet: await snippetOf(text, needles, pauses) });
  };
  const titleHit = isTitleHit(title, filter) ? title : undefined;
  const isMessage =
    titleHit !== undefined && reading !== undefined && (await isFirstMessage(titleHit, reading));
  if (titleHit !== undefined && !isMessage) await addTitle(titleHit);
  if (reading === undefined || hits.length >= limit) return hits;
  let remaining = matching;
  for await (const event of reading.events()) {
    const text = ownTexts(event).join('\n');
    if (!(await hasAllInTurns(text, needles, pauses))) continue;
    remaining -= 1;
    const { id: eventId, timestamp } = event;
    const isAuthor = author === undefined || event.author === author;
    if (isAuthor && timestamp >= after && timestamp < before) {
      const facts = {
        eventId,
        timestamp,
        ...(event.author !== undefined && { author: event.author }),
      };
      hits.push({ ...head, ...facts, snippet: await snippetOf(text, needles, pauses) });
    }
    if (hits.length >= limit || remaining === 0) break;
  }
  // A rewind may have undone the message.
  if (titleHit !== undefined && hits.length === 0) await addTitle(titleHit);
  return hits;
}

/** Whether a title is what the first message of its session gives. */
async function isFirstMessage(
  title: string,
  { firstEvents }: Pick<SessionReading, 'firstEvents'>,
): Promise<boolean> {
  const events = await firstEvents();
  const message = events.find(({ author }) => author === 'user');
  if (message === undefined) return false;
  return ownTexts(message).join(' ').trim() === title || titleOf(JSON.stringify(message)) === title;
}
