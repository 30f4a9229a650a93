import type { Event } from '../../values/model/event/event.js';
import { filesOf } from '../../values/model/event/message_files.js';
import { partsOf } from '../../values/model/event/parts.js';
import type { SnippetPart } from '../../values/model/search.js';
import { fold, matchWords, signsOf } from '../../values/words.js';

/** The UTF-16 units of a snippet, and how many of them stand before the first hit. */
const LENGTH = 200;
const BEFORE = 40;
/** The first units of a text in which the first hit is looked for. */
const FIRST_LENGTH = 4096;
/** A piece of a text, by UTF-16 units. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the texts that an event shows to people: without thoughts, calls and responses. A file has its name, also in
 * place of the text that stands for it in a message.
 */
export function ownTexts(event: Partial<Event>): string[] {
  const files = new Map(filesOf(event).map(({ part, name }) => [part, name] as const));
  const texts = partsOf(event).map((part, index): unknown => {
    const { text, thought, inlineData, fileData } = part;
    if (thought) return undefined;
    return (
      files.get(index)?.replace(/^user:/, '') ??
      text ??
      inlineData?.displayName ??
      fileData?.displayName ??
      fileNameOf(fileData?.fileUri)
    );
  });
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

function fileNameOf(uri: unknown): string | undefined {
  return typeof uri === 'string' ? uri.slice(uri.lastIndexOf('/') + 1) : undefined;
}

/** Returns the piece of a text around the first hit, with all hits in it. */
export function snippetOf(text: string, needles: readonly string[]): SnippetPart[] {
  let hits: Span[] = [];
  for (let length = FIRST_LENGTH; hits.length === 0; length *= 4) {
    hits = findHits(text.slice(0, length), needles);
    if (length >= text.length) break;
  }
  const first = hits[0]?.start ?? 0;
  const start = wholeAt(text, text.length <= LENGTH ? 0 : Math.max(0, first - BEFORE));
  const end = wholeAt(text, Math.min(start + LENGTH, text.length));
  const parts: SnippetPart[] = [];
  const add = (from: number, to: number, isHit: boolean): void => {
    if (to > from) parts.push({ text: text.slice(from, to), isHit });
  };
  if (start > 0) parts.push({ text: '…', isHit: false });
  let at = start;
  for (const hit of hits) {
    add(at, Math.min(hit.start, end), false);
    at = Math.max(at, Math.min(hit.start, end));
    add(at, Math.min(hit.end, end), true);
    at = Math.max(at, Math.min(hit.end, end));
  }
  add(at, end, false);
  if (end < text.length) parts.push({ text: '…', isHit: false });
  return parts;
}

/** Returns the place, or the next one if it is inside of a character. */
function wholeAt(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return place > 0 && unit >= 0xdc00 && unit <= 0xdfff ? place + 1 : place;
}

/** Finds the needles in a text, in the order of their beginnings. They may overlap. */
function findHits(text: string, needles: readonly string[]): Span[] {
  const signs: Span[] = [];
  let folded = '';
  for (const { sign, index, isAscii } of signsOf(text)) {
    const letters = fold(sign);
    folded += letters;
    const whole = { start: index, end: index + sign.length };
    for (let at = index; at < index + letters.length; at += 1) {
      signs.push(isAscii ? { start: at, end: at + 1 } : whole);
    }
  }
  let words = '';
  const places: Span[] = [];
  for (const { 0: word, index = 0 } of matchWords(folded)) {
    words += ` ${word}`;
    places.push(signs[index]!, ...signs.slice(index, index + word.length));
  }
  const hits: Span[] = [];
  for (const needle of needles) {
    for (let at = words.indexOf(needle); at >= 0; at = words.indexOf(needle, at + needle.length)) {
      hits.push({ start: places[at]!.start, end: places[at + needle.length - 1]!.end });
    }
  }
  return hits.sort((one, other) => one.start - other.start);
}
