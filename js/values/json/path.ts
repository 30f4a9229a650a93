/** One step into a value: a member's key or an element's index. */
export type PathSegment = string | number;

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/**
 * Formats a path as JavaScript would write it: `cart.items[3].price`, `["user:cart"].total`.
 *
 * @param segments from the outermost inwards
 * @returns `''` for the value itself
 */
export function formatPath(segments: readonly PathSegment[]): string {
  const pieces: string[] = [];
  for (const segment of segments) {
    if (typeof segment === 'number') pieces.push(`[${segment}]`);
    else if (!IDENTIFIER.test(segment)) pieces.push(`[${JSON.stringify(segment)}]`);
    else pieces.push(pieces.length === 0 ? segment : `.${segment}`);
  }
  return pieces.join('');
}
