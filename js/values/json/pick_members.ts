import { defineMember } from '../members.js';

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
  if (!text.trimStart().startsWith('{')) throw damaged();
  let missing = wanted.size;
  let at = 0;
  while (missing > 0) {
    const keyStart = text.indexOf('"', at);
    if (keyStart < 0) break;
    const keyEnd = requireEnd(text, keyStart);
    const colon = text.indexOf(':', keyEnd);
    if (colon < 0) throw damaged();
    at = valueEnd(text, colon + 1);
    const key = JSON.parse(text.slice(keyStart, keyEnd)) as string;
    if (!wanted.has(key)) continue;
    defineMember(members, key, JSON.parse(text.slice(colon + 1, at)));
    missing -= 1;
  }
  return members;
}

/** Returns the position of the comma or brace after the value that begins at or after `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = requireEnd(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (depth === 0 && (character === ',' || character === '}')) return at;
    else if (character === '}' || character === ']') depth -= 1;
  }
  throw damaged();
}

function requireEnd(text: string, start: number): number {
  const end = stringEnd(text, start);
  if (end === undefined) throw damaged();
  return end;
}

function damaged(): SyntaxError {
  return new SyntaxError('It is not the JSON of an object.');
}

/**
 * Returns the position after the JSON string whose first quote stands at `start`; `undefined` if the string does
 * not end. It searches for quotes. One pattern for a whole string would overflow the engine's stack in a string of
 * several megabytes.
 */
export function stringEnd(text: string, start: number): number | undefined {
  for (let quote = text.indexOf('"', start + 1); quote > 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return undefined;
}
