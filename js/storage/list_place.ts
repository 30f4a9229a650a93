/** The places of sessions in lists. */

/**
 * The place of a session in lists. It stays one when the session moves or is deleted.
 *
 * @example
 * ```ts
 * import type { ListPlace } from 'adk-session-wasm';
 *
 * const place: ListPlace = { lastUpdateTime: 1700000000000, sessionId: 's1', userId: 'ada' };
 * ```
 */
export interface ListPlace {
  /** Milliseconds since 1970. */
  readonly lastUpdateTime: number;
  /** The id of the session. */
  readonly sessionId: string;
  /** The user of the session. */
  readonly userId: string;
}

/** A part of a list: all of it, or what it has after a place. */
interface ListPart {
  readonly order: 'asc' | 'desc';
  readonly after?: ListPlace | undefined;
}

/** Compares places as a list in this order has them. */
export function comparePlaces(order: 'asc' | 'desc', one: ListPlace, other: ListPlace): number {
  const ascending =
    one.lastUpdateTime - other.lastUpdateTime ||
    compareTexts(one.sessionId, other.sessionId) ||
    compareTexts(one.userId, other.userId);
  return order === 'asc' ? ascending : -ascending;
}

function compareTexts(one: string, other: string): number {
  return Number(one > other) - Number(one < other);
}

/** Sorts sessions, and leaves out those that are not in this part of the list. */
export function sortList<Row extends ListPlace>(
  rows: readonly Row[],
  { order, after }: ListPart,
): Row[] {
  const isIn = (row: Row): boolean => after === undefined || comparePlaces(order, row, after) > 0;
  return rows.filter(isIn).sort((one, other) => comparePlaces(order, one, other));
}
