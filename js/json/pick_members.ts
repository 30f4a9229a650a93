import { defineMember } from '../members/member.js';

const BACKSLASH = 0x5c;

/**
 * Parses only the wanted members of a JSON object. It skips the other values without parsing them,
 * and stops after the last wanted one.
 *
 * @param text the JSON of an object, with any white space
 * @throws SyntaxError if the text is not an object or ends too early, or a wanted member is damaged.
 *   Other damage goes unnoticed.
 */
export function pickMembers(text: string, wanted: ReadonlySet<string>): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  if (!text.trimStart().startsWith('{')) throw new SyntaxError('It is not an object.');
  let missing = wanted.size;
  let at = 0;
  while (missing > 0) {
    const keyStart = text.indexOf('"', at);
    if (keyStart < 0) break;
    const keyEnd = stringEnd(text, keyStart);
    const valueStart = text.indexOf(':', keyEnd) + 1;
    at = valueEnd(text, Math.max(valueStart, keyEnd));
    const key = JSON.parse(text.slice(keyStart, keyEnd)) as string;
    if (!wanted.has(key)) continue;
    defineMember(members, key, JSON.parse(text.slice(valueStart, at)));
    missing -= 1;
  }
  return members;
}

/** Returns the position after the string whose first quote stands at `start`. */
function stringEnd(text: string, start: number): number {
  for (let quote = start; ;) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) throw cutOff();
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Returns the position of the comma or brace after the value that begins at or after `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length;) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = stringEnd(text, at);
        continue;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (depth === 0) return at;
        depth -= 1;
        break;
      case 0x2c: // ,
        if (depth === 0) return at;
    }
    at += 1;
  }
  throw cutOff();
}

function cutOff(): SyntaxError {
  return new SyntaxError('It is cut off.');
}
