/**
 * JSON text of Python, read without loss.
 *
 * Python's integers have any number of digits, and `JSON.parse` rounds those past 2^53; its floats may
 * be `NaN`, `Infinity` or `-Infinity`, which `JSON.parse` refuses. Newer engines show a reviver the
 * source of each number, but not all that we run in.
 */
import { newEventId } from '../model/event.js';
import { replaceLoneSurrogates } from '../json/text.js';

/**
 * What stands in a parsed value for an integer that no JavaScript number holds: this, then its digits.
 * Drawn anew in each process, so that no text from outside can hold it.
 */
const MARK = `${newEventId()}:`;

const QUOTED_DIGITS = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

const MANY_DIGITS = /\d{16}/;

/** Whether a text may hold a token that JSON has not. Most hold none, and then the native parser does it all. */
function isSuspect(text: string): boolean {
  return text.includes('NaN') || text.includes('Infinity');
}

/** A whole number, a token that JSON has not, or the begin of a string. */
const TOKEN = /"|-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN/g;

const LONG_INTEGER = /^-?[1-9]\d{15,}$/;

/**
 * Parses JSON as Python writes it: `NaN` and the infinities are `null`, and an integer that JavaScript
 * would round is a string that {@link digitsOf} knows and {@link writeExactly} prints as it was.
 *
 * @throws SyntaxError
 *
 * @example
 * ```ts
 * writeExactly(parseExactly('{"a": 9007199254740993, "b": NaN}')); // '{"a":9007199254740993,"b":null}'
 * ```
 */
export function parseExactly(text: string): unknown {
  // Three searches take half the time of one with a pattern for all.
  const isForeign = MANY_DIGITS.test(text) || isSuspect(text);
  return JSON.parse(isForeign ? withoutForeignNumbers(text, quotedDigits) : text);
}

/**
 * JSON text of a value from {@link parseExactly}. A lone surrogate becomes U+FFFD, as everywhere.
 */
export function writeExactly(value: unknown): string {
  const text = replaceLoneSurrogates(JSON.stringify(value));
  return text.includes(MARK) ? text.replace(QUOTED_DIGITS, '$1') : text;
}

/** The digits, if `value` is what {@link parseExactly} puts for an integer that would be rounded. */
export function digitsOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : undefined;
}

/**
 * JSON text as Python writes it, as JSON: `null` stands for `NaN` and the infinities, all else is kept to
 * the letter. A text without them is given back as it is.
 *
 * @example
 * ```ts
 * asJson('{"a": NaN, "b": 9007199254740993}'); // '{"a": null, "b": 9007199254740993}'
 * ```
 */
export function asJson(text: string): string {
  return isSuspect(text) ? withoutForeignNumbers(text, (digits) => digits) : text;
}

function quotedDigits(digits: string): string {
  return String(Number(digits)) === digits ? digits : `"${MARK}${digits}"`;
}

/**
 * Strings are skipped by looking for their ends. One pattern for a whole string would do in most cases,
 * but overflows the engine's stack in one of some megabytes.
 */
function withoutForeignNumbers(text: string, integer: (digits: string) => string): string {
  const pieces: string[] = [];
  let kept = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match;
    if (token === '"') {
      TOKEN.lastIndex = endOfString(text, match.index);
      continue;
    }
    const replacement = replacementOf(token, integer);
    if (replacement === token) continue;
    pieces.push(text.slice(kept, match.index), replacement);
    kept = match.index + token.length;
  }
  pieces.push(text.slice(kept));
  return pieces.join('');
}

function replacementOf(token: string, integer: (digits: string) => string): string {
  if (token.endsWith('N') || token.endsWith('y')) return 'null';
  return LONG_INTEGER.test(token) ? integer(token) : token;
}

/** Where the string that begins at `start` has ended. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}
