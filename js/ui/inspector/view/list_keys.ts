/**
 * Returns the position that a key moves to in a list box; `undefined` for other keys.
 *
 * @param position the present one; -1 for none
 * @param page the number of items that a page has
 */
export function nextPosition(
  key: string,
  position: number,
  length: number,
  page: number,
): number | undefined {
  const moves: ReadonlyMap<string, number> = new Map([
    ['ArrowUp', position - 1],
    ['ArrowDown', position + 1],
    ['PageUp', position - page],
    ['PageDown', position + page],
    ['Home', 0],
    ['End', length - 1],
  ]);
  const next = moves.get(key);
  return next === undefined || length === 0 ? undefined : Math.max(0, Math.min(length - 1, next));
}
