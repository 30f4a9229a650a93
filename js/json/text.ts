/**
 * Questions about strings: whether they are Unicode text, and how long they are elsewhere.
 *
 * A JavaScript string may hold half of a surrogate pair. No storage outside of JavaScript can: UTF-8
 * has no bytes for it, and each one makes something else of it, so we meet it at the door.
 */

/** Of ES2024, and therefore not in every browser that has WebAssembly (nor in our `lib`). */
const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Whether `text` holds no lone surrogate.
 *
 * @example
 * ```ts
 * isWellFormed('😀'); // true
 * isWellFormed('😀'.slice(0, 1)); // false
 * ```
 */
export const isWellFormed: (text: string) => boolean =
  native === undefined ? (text) => !LONE_SURROGATE.test(text) : (text) => native.call(text);

/** For tests: the way for engines without the method. Same answers. */
export function isWellFormedByPattern(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/**
 * Whether well-formed `text` takes at most `limit` bytes of UTF-8.
 *
 * @example
 * ```ts
 * fitsUtf8('이름', 6); // true: three bytes each
 * ```
 */
export function fitsUtf8(text: string, limit: number): boolean {
  // No UTF-16 unit takes more than three bytes, and none less than one.
  if (text.length * 3 <= limit) return true;
  if (text.length > limit) return false;
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // Each half of a pair counts two of the pair's four bytes.
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800 || (unit & 0xf800) === 0xd800) bytes += 2;
    else bytes += 3;
  }
  return bytes <= limit;
}

/**
 * An escape in JSON text, taken as a whole: in `\\ud800` (an escaped backslash, then plain letters)
 * the first alternative eats both backslashes, so that `\ud800` is never found in their middle.
 */
const ESCAPE = /\\(?:[^u]|u[0-9a-f]{4})/g;

/**
 * Puts U+FFFD for every lone surrogate in JSON text, in keys as well.
 *
 * `JSON.stringify` prints a lone surrogate, and only that, as an escape `\ud8xx`…`\udfxx` in lower
 * case; repairing its output costs one search in the text, while repairing its input would mean a
 * look at each string and a copy of the value.
 *
 * @param json what JSON.stringify gave
 *
 * @example
 * ```ts
 * replaceLoneSurrogates(JSON.stringify('a\ud800')); // '"a\ufffd"'
 * ```
 */
export function replaceLoneSurrogates(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(ESCAPE, (escape) => (escape.startsWith('\\ud') ? '\ufffd' : escape));
}
