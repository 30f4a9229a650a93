/**
 * Calls the template scanner, which is in Rust: see `src/core/template/scan.rs`.
 *
 * The scanner returns only numbers, and the names are sliced here. Returning six numbers costs less
 * than returning one string.
 */

import { scanTemplate } from '../../core/wasm/all.js';

/**
 * A placeholder `{name}` that is printed with a value, as `Template.placeholders` lists it.
 */
export interface Placeholder {
  /** The state's key with its prefix, or `artifact.` and a file name. */
  readonly name: string;
  /** Whether it prints a state value or an artifact. */
  readonly kind: 'state' | 'artifact';
  /** Whether it ends with `?`, so that it prints nothing if there is no value. */
  readonly optional: boolean;
  /** The offset of its `{`, in UTF-16 code units from 0. */
  readonly start: number;
  /** The offset after its `}`. */
  readonly end: number;
}

/** A placeholder that is printed with a value; escaped ones are not. */
export interface PrintedPlaceholder {
  /** A state key, or a file name without `artifact.`. */
  readonly name: string;
  readonly isArtifact: boolean;
  readonly isOptional: boolean;
  readonly start: number;
  readonly end: number;
  /** Its index among all placeholders that the scanner found, including escaped ones. */
  readonly index: number;
}

/** A parsed template: `texts[0]`, the value of `slots[0]`, `texts[1]`, … */
export interface ScannedTemplate {
  /** One more than `slots`. */
  readonly texts: readonly string[];
  readonly slots: readonly PrintedPlaceholder[];
  /** The first artifact slot, if any. */
  readonly artifact: PrintedPlaceholder | undefined;
}

/** Numbers per placeholder: start, end, start and end of the name, flags, backslashes before it. */
const NUMBERS_PER_PLACEHOLDER = 6;
const OPTIONAL_FLAG = 1;
const ARTIFACT_FLAG = 2;

/** Returns a template that prints `text` unchanged. */
export function escapeTemplate(text: string): string {
  const positions = scanTemplate(text);
  let escaped = '';
  let copiedTo = 0;
  for (let first = 0; first < positions.length; first += NUMBERS_PER_PLACEHOLDER) {
    const [start = 0, , , , , backslashes = 0] = positions.subarray(first);
    // Those before a placeholder are halved when it is printed, and one more escapes it.
    escaped += text.slice(copiedTo, start) + '\\'.repeat(backslashes + 1);
    copiedTo = start;
  }
  return escaped + text.slice(copiedTo);
}

/**
 * Parses a template. In the texts, backslashes are halved already and escaped placeholders are
 * literal.
 */
export function scan(text: string): ScannedTemplate {
  const positions = scanTemplate(text);
  const texts: string[] = [];
  const slots: PrintedPlaceholder[] = [];
  let literal = '';
  let copiedTo = 0;
  const numberAt = (index: number): number => positions[index] ?? 0;
  for (let index = 0; index * NUMBERS_PER_PLACEHOLDER < positions.length; index += 1) {
    const first = index * NUMBERS_PER_PLACEHOLDER;
    const start = numberAt(first);
    const end = numberAt(first + 1);
    const backslashes = numberAt(first + 5);
    // ⌊n/2⌋ of n backslashes are printed.
    literal += text.slice(copiedTo, start - ((backslashes + 1) >> 1));
    copiedTo = end;
    if (backslashes % 2 === 1) {
      literal += text.slice(start, end);
      continue;
    }
    const flags = numberAt(first + 4);
    texts.push(literal);
    literal = '';
    slots.push({
      name: text.slice(numberAt(first + 2), numberAt(first + 3)),
      isArtifact: (flags & ARTIFACT_FLAG) !== 0,
      isOptional: (flags & OPTIONAL_FLAG) !== 0,
      start,
      end,
      index,
    });
  }
  texts.push(literal + text.slice(copiedTo));
  return { texts, slots, artifact: slots.find((slot) => slot.isArtifact) };
}
