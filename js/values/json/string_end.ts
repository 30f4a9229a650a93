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
