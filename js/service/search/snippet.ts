import type { SnippetPart } from '../../values/model/search.js';
import { fold, matchWords, signsOf } from '../../values/words.js';
import type { Pauses } from './pauses.js';

/** The UTF-16 units of a snippet, and how many of them stand before the first hit. */
const LENGTH = 200;
const BEFORE = 40;
/** The units of a text in which hits are looked for at once, and those of them that the window before has too. */
const WINDOW = 6144;
const OVERLAP = 2048;
/** How much longer it takes to find the places of words than to make them. */
const EFFORT = 4;
/** What stands between words. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]/u;

/** A piece of a text, by UTF-16 units. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the piece of a text around the first hit, with all hits in it. The text is searched in windows, with turns of
 * the loop between them.
 */
export async function snippetOf(
  text: string,
  needles: readonly string[],
  pauses: Pauses,
): Promise<SnippetPart[]> {
  let from = 0;
  let hits = findHits(text.slice(0, WINDOW), needles);
  while (hits.length === 0 && from + WINDOW < text.length) {
    await pauses.after(WINDOW * EFFORT);
    from = windowStart(text, from);
    hits = findHits(text.slice(from, from + WINDOW), needles);
  }
  // The snippet may be longer than what the window has of it.
  const [first] = hits;
  if (first !== undefined) hits = findHits(text.slice(from, from + first.start + OVERLAP), needles);
  return partsAround(
    text,
    hits.map(({ start, end }) => ({ start: from + start, end: from + end })),
  );
}

/** Returns where the next window begins: between words, if words end within the overlap. */
function windowStart(text: string, from: number): number {
  const place = from + WINDOW;
  const start = wholeAt(text, place - OVERLAP);
  // In the whole text, each window would look for a separator to the end of a text that has none.
  const overlap = text.slice(start, wholeAt(text, place));
  return start + Math.max(0, overlap.search(BETWEEN_WORDS));
}

/** Cuts the piece of a snippet out of a text. */
function partsAround(text: string, hits: readonly Span[]): SnippetPart[] {
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
