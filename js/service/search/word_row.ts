/** Makes the rows of words: which words of a session a row keeps, and which of its events it has seen. */
import { checksum } from '../../core/storage/reads/cursors.js';
import { CUT, type LookedSession, type WordRow } from '../../core/word_rows.js';
import { utf8Length } from '../../values/json/text.js';
import type { Event } from '../../values/model/event/event.js';
import { wordsOf } from '../../values/words.js';
import { ownTexts, wordsInTurns } from './event_words.js';
import type { Pauses } from './pauses.js';

/** The most bytes of a session's words in UTF-8. */
const MAX_BYTES = 2 ** 20;
/** The last events whose marks a row keeps. Changes since a revision repeat at most 100 events of before. */
const MAX_SEEN = 128;

/** Tells an event from others, and from what it was before it was replaced. */
export interface EventMark {
  readonly id: string;
  readonly text: string;
}

/** What a session's events give to its row. */
export interface RowDraft {
  /** The words of each event that has any, in the order of the events. */
  readonly lines: readonly string[];
  /** Whether words of older events are missing. */
  readonly isCut: boolean;
  /** The marks of the last events, in their order. */
  readonly seen: readonly EventMark[];
}

/** Returns the mark of an event. */
export function markOf(event: Event): EventMark {
  const text = checksum(ownTexts(event).join('\n')).toString(36);
  return { id: checksum(event.id).toString(36), text };
}

/** Reads the words of events, the newest first, until there are as many as a row keeps. */
export async function draftOf(
  events: AsyncIterable<Event> | Iterable<Event>,
  pauses: Pauses,
): Promise<RowDraft> {
  const lines: string[] = [];
  const seen: EventMark[] = [];
  let room = MAX_BYTES;
  let isCut = false;
  for await (const event of events) {
    if (seen.length < MAX_SEEN) seen.push(markOf(event));
    if (room <= 0) {
      isCut = true;
      if (seen.length >= MAX_SEEN) break;
      continue;
    }
    const words = await wordsInTurns(ownTexts(event).join('\n'), pauses, room);
    if (words === '') continue;
    lines.push(words);
    room -= utf8Length(words) + 1;
  }
  return { lines: lines.reverse(), isCut, seen: seen.reverse() };
}

/** Returns the draft of a row that is stored. */
export function storedDraft({ words, seen }: Pick<WordRow, 'words' | 'seen'>): RowDraft {
  const [, ...lines] = words.split('\n');
  const marks = seen === '' ? [] : seen.split(' ');
  return {
    lines,
    isCut: words.startsWith(CUT),
    seen: marks.map((mark) => {
      const [id = '', text = ''] = mark.split('.');
      return { id, text };
    }),
  };
}

/**
 * Adds events that were written since to a draft, unless it has them.
 *
 * @returns the draft, and how many events it had not seen
 */
export async function addEvents(
  draft: RowDraft,
  events: readonly Event[],
  pauses: Pauses,
): Promise<{ readonly draft: RowDraft; readonly newCount: number }> {
  const seen = new Map(draft.seen.map(({ id, text }) => [id, text]));
  const lines = [...draft.lines];
  let newCount = 0;
  for (const event of events) {
    const { id, text } = markOf(event);
    const seenText = seen.get(id);
    if (seenText === text) continue;
    if (seenText === undefined) newCount += 1;
    seen.set(id, text);
    const words = await wordsInTurns(ownTexts(event).join('\n'), pauses, MAX_BYTES);
    if (words !== '') lines.push(words);
  }
  const marks = [...seen].map(([id, text]) => ({ id, text }));
  return { draft: { ...draft, lines, seen: marks }, newCount };
}

/** Makes a row, with the newest words that it has room for. */
export function rowOf(
  { sessionId, version, title }: LookedSession,
  { lines, isCut, seen }: RowDraft,
  { revision, eventCount }: Pick<WordRow, 'revision' | 'eventCount'>,
): WordRow {
  const head = title === undefined ? '' : wordsOf(title);
  const newest: string[] = [];
  let room = MAX_BYTES - utf8Length(head);
  let isShort = isCut;
  for (let at = lines.length - 1; at >= 0 && room > 0; at -= 1) {
    const line = beginOf(lines[at]!, room);
    newest.push(line);
    room -= utf8Length(line) + 1;
    if (line.length < lines[at]!.length) {
      isShort = true;
      break;
    }
  }
  if (newest.length < lines.length) isShort = true;
  const words = [isShort ? CUT + head : head, ...newest.reverse()].join('\n');
  const marks = seen.slice(-MAX_SEEN).map(({ id, text }) => `${id}.${text}`);
  return { sessionId, version, title, words, revision, eventCount, seen: marks.join(' ') };
}

/** Returns the beginning of a text that fits into so many bytes of UTF-8. */
function beginOf(text: string, bytes: number): string {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
