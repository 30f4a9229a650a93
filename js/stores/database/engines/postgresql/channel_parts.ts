/** How texts of any length go through NOTIFY, which takes less than 8,000 bytes. */
import { putLast } from '../../../../values/bounded_map.js';

/** The most bytes of one notification. */
const MAX_BYTES = 7900;

/** The most bytes of the head of a part: two ids and two numbers. */
const HEAD_BYTES = 64;

/** The most parts of a text. */
const MAX_PARTS = 10_000;

/** The most senders whose parts are kept. */
const MAX_SENDERS = 1000;

/** Whose part it is, of which text, which part, of how many. */
const HEAD = /^([0-9a-f]{8})\.(\d{1,16})\.(\d{1,5})\.(\d{1,5}):/;

/**
 * Cuts a text into parts.
 *
 * @param sender eight hexadecimal digits
 * @param number that of the text
 */
export function partsOfText(sender: string, number: number, text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length;) {
    let end = Math.min(start + MAX_BYTES - HEAD_BYTES, bytes.length);
    // A character stays whole.
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    pieces.push(decoder.decode(bytes.subarray(start, end)));
    start = end;
  }
  return pieces.map((piece, index) => `${sender}.${number}.${index}.${pieces.length}:${piece}`);
}

/** Joins the parts of texts, which come in order. A text that lacks a part never comes. */
export class TextParts {
  /** The parts of the last text of each sender, as long as it is not whole. */
  readonly #parts = new Map<string, { readonly number: string; readonly pieces: string[] }>();

  /** Returns a text with its last part; `undefined` until then. What is no part is returned as it is. */
  add(payload: string): string | undefined {
    const [head, sender = '', number = '', index = '', count = ''] = HEAD.exec(payload) ?? [];
    if (head === undefined || Number(count) > MAX_PARTS) return payload;
    const piece = payload.slice(head.length);
    if (count === '1') return piece;
    const known = this.#parts.get(sender);
    const pieces = known?.number === number ? known.pieces : [];
    if (pieces.length !== Number(index)) {
      this.#parts.delete(sender);
      return undefined;
    }
    pieces.push(piece);
    if (pieces.length === Number(count)) {
      this.#parts.delete(sender);
      return pieces.join('');
    }
    putLast(this.#parts, sender, { number, pieces }, MAX_SENDERS);
    return undefined;
  }
}
