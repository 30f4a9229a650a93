/** How far a database and its mirror have come, and which keys the last transactions changed. */
import type { MARK } from '../layout.js';

/** The position of a database. It changes in each transaction that writes, while the database has a mirror. */
export interface Mark {
  readonly key: typeof MARK;
  /** A random id. It changes when the content does not follow from the previous content. */
  readonly epoch: string;
  /** Number of transactions of this epoch that have written. */
  readonly seq: number;
  /** The last transactions, including at least those that the mirror may lack. */
  readonly pending: readonly PendingTransaction[];
  /** The content is incomplete, because a restore from the mirror is not finished. */
  readonly isRestoring?: boolean;
}

export interface PendingTransaction {
  readonly seq: number;
  /** The keys that the transaction put or deleted; `undefined` if there were too many to list. */
  readonly touched?: readonly TouchedKeys[] | undefined;
}

/** A key of a store, or all keys from the first to the last. */
export type TouchedKeys = readonly [store: string, first: IDBValidKey, last?: IDBValidKey];

/** A record that was put, or, without `record`, keys that were deleted. */
export interface Change {
  readonly touched: TouchedKeys;
  readonly record?: unknown;
}

/** The position of the mirror. */
export interface Current {
  /** First element of the keys of the current copy's records. */
  readonly set: string;
  readonly epoch: string;
  readonly seq: number;
}

/** Returns the key range over [`first`, `last`], or over one key. */
export function rangeOf([, first, last]: TouchedKeys): IDBKeyRange {
  return last === undefined ? IDBKeyRange.only(first) : IDBKeyRange.bound(first, last);
}

/** Returns the listed transactions after `seq`. */
export function pendingSince({ pending }: Mark, seq: number): PendingTransaction[] {
  return pending.filter((entry) => entry.seq > seq);
}

/** Returns whether the mark lists all keys that were touched after `seq`. */
export function listsAllSince(mark: Mark, seq: number): boolean {
  const listed = pendingSince(mark, seq);
  const isComplete = listed.length === mark.seq - seq;
  return isComplete && listed.every(({ touched }) => touched !== undefined);
}

/** Name of the Web Lock that is held while a database is synchronised with its mirror. */
export function lockOf(name: string): string {
  return `adk-session-wasm:mirror:${name}`;
}
