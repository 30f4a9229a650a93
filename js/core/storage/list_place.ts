/** The places of sessions in lists. */

/** The time that a list is ordered by. */
export type ListTime = 'lastUpdateTime' | 'createTime';

/**
 * The place of a session in lists that are ordered by one of its times. It stays one when the session moves or is
 * deleted.
 */
export interface TimedPlace extends Readonly<Partial<Record<ListTime, number | undefined>>> {
  /** When the session was last updated, in milliseconds since 1970. Given if the list is ordered by it. */
  readonly lastUpdateTime?: number | undefined;
  /** When the session was created, in milliseconds since 1970. Given if the list is ordered by it. */
  readonly createTime?: number | undefined;
  /** The id of the session. */
  readonly sessionId: string;
  /** The user of the session. */
  readonly userId: string;
}

/** A part of a list: all of it, or what it has after a place. */
interface ListPart {
  readonly order: 'asc' | 'desc';
  readonly orderBy?: ListTime | undefined;
  readonly after?: TimedPlace | undefined;
}

/** Compares places as a list in this order has them. */
function comparePlaces(
  order: 'asc' | 'desc',
  one: TimedPlace,
  other: TimedPlace,
  orderBy: ListTime = 'lastUpdateTime',
): number {
  const ascending =
    (one[orderBy] ?? 0) - (other[orderBy] ?? 0) ||
    compareValues(one.sessionId, other.sessionId) ||
    compareValues(one.userId, other.userId);
  return order === 'asc' ? ascending : -ascending;
}

/** Compares as `<` and `>` do. */
export function compareValues<T extends string | number>(one: T, other: T): number {
  return Number(one > other) - Number(one < other);
}

/** Sorts sessions, and leaves out those that are not in this part of the list. */
export function sortList<Row extends TimedPlace>(rows: readonly Row[], part: ListPart): Row[] {
  const { order, orderBy, after } = part;
  const compare = (one: TimedPlace, other: TimedPlace): number =>
    comparePlaces(order, one, other, orderBy);
  return rows.filter((row) => after === undefined || compare(row, after) > 0).sort(compare);
}
