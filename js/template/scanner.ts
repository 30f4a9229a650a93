/**
 * The one place where templates meet the scanner, which is Rust: see `src/instruction/scan.rs`.
 *
 * It answers with numbers only, and the names are sliced here: six numbers cost less to carry over
 * than one string.
 */

import { scanTemplate } from '../wasm/core.js';

/**
 * One `{name}` that is printed with a value, as a template shows it to its users.
 *
 * @example
 * ```ts
 * import { type Placeholder, Template } from 'adk-session-wasm';
 *
 * const [placeholder]: readonly Placeholder[] = new Template('Hi { user:name? }').placeholders;
 * // { name: 'user:name', kind: 'state', optional: true, start: 3, end: 17 }
 * ```
 */
export interface Placeholder {
  /** The state's key with its prefix, or `artifact.` and a file name. */
  readonly name: string;
  readonly kind: 'state' | 'artifact';
  /** Whether it ends with `?`: prints nothing if there is no value. */
  readonly optional: boolean;
  /** Where its `{` stands, in UTF-16 code units from 0. */
  readonly start: number;
  /** Behind its `}`. */
  readonly end: number;
}

/** A placeholder that is to be printed. */
export interface Slot {
  /** A state key, or a file name without `artifact.`. */
  readonly name: string;
  readonly isArtifact: boolean;
  readonly isOptional: boolean;
  readonly start: number;
  readonly end: number;
  /** Among all placeholders that the scanner found, escaped ones too. */
  readonly index: number;
}

/** A template taken apart: `texts[0]`, the value of `slots[0]`, `texts[1]`, … */
export interface ScannedTemplate {
  /** One more than there are slots. */
  readonly texts: readonly string[];
  readonly slots: readonly Slot[];
  /** The first slot that is one, if any. */
  readonly artifact: Slot | undefined;
}

/** Numbers per placeholder: start, end, start and end of the name, flags, backslashes before it. */
const STRIDE = 6;
const OPTIONAL = 1;
const ARTIFACT = 2;

/** Takes a template apart, backslashes already halved and escaped placeholders part of the text. */
export function scan(text: string): ScannedTemplate {
  const found = scanTemplate(text);
  const texts: string[] = [];
  const slots: Slot[] = [];
  let literal = '';
  let printed = 0;
  const at = (index: number): number => found[index] ?? 0;
  for (let index = 0; index * STRIDE < found.length; index += 1) {
    const first = index * STRIDE;
    const start = at(first);
    const end = at(first + 1);
    const backslashes = at(first + 5);
    // ⌊n/2⌋ of n backslashes are printed.
    literal += text.slice(printed, start - ((backslashes + 1) >> 1));
    printed = end;
    if (backslashes % 2 === 1) {
      literal += text.slice(start, end);
      continue;
    }
    const flags = at(first + 4);
    texts.push(literal);
    literal = '';
    slots.push({
      name: text.slice(at(first + 2), at(first + 3)),
      isArtifact: (flags & ARTIFACT) !== 0,
      isOptional: (flags & OPTIONAL) !== 0,
      start,
      end,
      index,
    });
  }
  texts.push(literal + text.slice(printed));
  return { texts, slots, artifact: slots.find((slot) => slot.isArtifact) };
}
