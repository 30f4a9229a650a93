/**
 * Parses JSON text that others have written: bodies and answers of HTTP, session files, rows of a storage. The parser
 * of JavaScript accepts any depth, and whatever visits such a value by recursion would overflow the stack.
 */
import { MAX_EVENT_LEVELS } from './rules.js';

/** The most levels of objects and arrays in a text: those of an event, and of what it may stand in. */
export const MAX_TEXT_LEVELS = MAX_EVENT_LEVELS + 10;

/** Thrown for a text with too many levels. */
export class TooManyLevels extends SyntaxError {
  constructor() {
    super(`it has more than ${MAX_TEXT_LEVELS} levels of objects and arrays`);
  }
}

/** Parses a text. @throws SyntaxError if it is not JSON; {@link TooManyLevels} */
export function parseJson(text: string): unknown {
  // Before the levels, because a text that is not JSON has none.
  const value: unknown = JSON.parse(text);
  if (isTooDeep(text)) throw new TooManyLevels();
  return value;
}

/** Returns whether a text, if it is JSON, has more than {@link MAX_TEXT_LEVELS} levels. */
export function isTooDeep(text: string): boolean {
  return mayBeTooDeep(text) && levelsOf(text) > MAX_TEXT_LEVELS;
}

/** Counts the characters that may begin a level. Most texts have few, and the engine finds them faster than a loop. */
function mayBeTooDeep(text: string): boolean {
  // Each level has a character that ends it.
  if (text.length <= 2 * MAX_TEXT_LEVELS) return false;
  let count = 0;
  for (const opening of ['{', '[']) {
    let at = text.indexOf(opening);
    while (at >= 0) {
      count += 1;
      if (count > MAX_TEXT_LEVELS) return true;
      at = text.indexOf(opening, at + 1);
    }
  }
  return false;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET] = [0x5b, 0x5d];
const [OPENING_BRACE, CLOSING_BRACE] = [0x7b, 0x7d];

/** Returns the most levels at any place of a text. Stops at the first one that is too many. */
function levelsOf(text: string): number {
  let levels = 0;
  let most = 0;
  let isInString = false;
  for (let at = 0; at < text.length && most <= MAX_TEXT_LEVELS; at += 1) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) most = Math.max(most, ++levels);
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) levels -= 1;
  }
  return most;
}
