/**
 * Media types of files. A stored type is a text of its writer, and browsers read odd ones in their own way: of
 * `image/png,text/html` they take the last. So what shows a file makes its type again from the essence of the stored one.
 */

import { invalidValue } from '../../errors/invalid.js';
import { requireText } from '../../errors/option_values.js';
import { fitsUtf8 } from '../../json/text.js';

/** The type of bytes of which nothing is known. */
export const BINARY = 'application/octet-stream';

/** The most bytes of a stored type. */
const MAX_TYPE_BYTES = 255;

/** A token of RFC 9110. */
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const ESSENCE = new RegExp(`^${TOKEN}/${TOKEN}$`);
const CHARSET = new RegExp(`;\\s*charset\\s*=\\s*("?)(${TOKEN})\\1\\s*(;|$)`, 'i');

/**
 * Requires a type that a file may be stored with. Other programs store any text, and recorders of browsers make types that
 * are none by the letter, such as `video/webm;codecs=vp8,opus`.
 *
 * @throws SessionError `invalid_argument`
 */
export function requireType(key: string, mimeType: unknown): asserts mimeType is string {
  requireText(key, mimeType);
  if (!/\p{Cc}/u.test(mimeType) && fitsUtf8(mimeType, MAX_TYPE_BYTES)) return;
  const rule = `must be a media type of at most ${MAX_TYPE_BYTES} bytes, without control characters`;
  throw invalidValue(key, rule, mimeType);
}

/** Returns the type and subtype in lower case, without parameters; of a text that is no type, {@link BINARY}. */
export function essenceOf(mimeType = ''): string {
  const essence = mimeType.split(';', 1)[0]!.trim().toLowerCase();
  return ESSENCE.test(essence) ? essence : BINARY;
}

/** Returns the charset that a type names, in lower case. */
export function charsetOf(mimeType: string): string | undefined {
  return CHARSET.exec(mimeType)?.[2]?.toLowerCase();
}

/** Returns the type that a browser may be given: without parameters, but with the charset of a plain text. */
export function browserType(mimeType = ''): string {
  const essence = essenceOf(mimeType);
  const charset = essence === 'text/plain' ? charsetOf(mimeType) : undefined;
  return charset === undefined ? essence : `${essence};charset=${charset}`;
}

/** The types that a browser shows without running anything. Each that ends in `xml` can be a document with scripts. */
const SHOWN = /^(image\/(?!svg)|audio\/|video\/|application\/pdf$|text\/plain$)(?!.*xml$)/;

/**
 * Returns the type of an object URL, which has the origin of the page. A browser downloads what has {@link BINARY}; any
 * other document could act as the page.
 */
export function objectUrlType(mimeType?: string): string {
  return SHOWN.test(essenceOf(mimeType)) ? browserType(mimeType) : BINARY;
}

/** Whether a browser shows a type as a picture without running anything: an SVG may have scripts. */
export function isPicture(mimeType?: string): boolean {
  return objectUrlType(mimeType).startsWith('image/');
}
