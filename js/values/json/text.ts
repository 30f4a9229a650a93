/**
 * Checks on strings: whether they are well-formed Unicode, and how long they are in UTF-8.
 *
 * A JavaScript string may hold half of a surrogate pair. UTF-8 has no bytes for it, and storages
 * replace it in different ways. So we check strings before they are stored.
 */

/** Added in ES2024. Some browsers with WebAssembly lack it, and so does our `lib`. */
const nativeIsWellFormed = (String.prototype as { isWellFormed?: (this: string) => boolean })
  .isWellFormed;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Returns whether `text` holds no lone surrogate. */
export const isWellFormed: (text: string) => boolean =
  nativeIsWellFormed === undefined
    ? isWellFormedByPattern
    : (text) => nativeIsWellFormed.call(text);

/** The fallback for JavaScript engines without the method. */
export function isWellFormedByPattern(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** Returns whether well-formed `text` takes at most `limit` bytes of UTF-8. */
export function fitsUtf8(text: string, limit: number): boolean {
  // A UTF-16 unit takes one to three bytes.
  if (text.length * 3 <= limit) return true;
  return text.length <= limit && utf8Length(text) <= limit;
}

/** Returns the number of bytes that well-formed `text` takes in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // Each half of a pair counts as two of the pair's four bytes.
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800 || (unit & 0xf800) === 0xd800) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}

/**
 * Matches a whole escape in JSON text. In `\\ud800`, an escaped backslash before plain letters, the
 * first alternative consumes both backslashes. So `\ud800` is not matched from the second one.
 */
const JSON_ESCAPE = /\\(?:[^u]|u[0-9a-f]{4})/g;

/**
 * Replaces every lone surrogate in JSON text with U+FFFD, also in keys.
 *
 * `JSON.stringify` prints a lone surrogate, and nothing else, as an escape `\ud8xx`…`\udfxx` in
 * lower case. Repairing its output costs one search in the text. Repairing its input would need a
 * check of each string and a copy of the value.
 *
 * @param json a result of `JSON.stringify`
 */
export function replaceLoneSurrogates(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(JSON_ESCAPE, (escape) => (escape.startsWith('\\ud') ? '\ufffd' : escape));
}
