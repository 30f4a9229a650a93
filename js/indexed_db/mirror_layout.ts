/** What the mirror keeps in the database itself, and what it has in its own. */

/** The store of the mark, and its key there. */
export const META = 'meta';
export const MARK = 'mirror';

/** How far a database has come. It changes in each transaction that writes, as long as there is a mirror. */
export interface Mark {
  readonly key: typeof MARK;
  /** Begins anew when the content does not follow from the content before. */
  readonly epoch: string;
  /** How many transactions of this epoch have written. */
  readonly seq: number;
  /** The last transactions, at least those that the mirror may not have. */
  readonly pending: readonly Pending[];
  /** The content is incomplete: it is being restored from the mirror. */
  readonly isRestoring?: boolean;
}

export interface Pending {
  readonly seq: number;
  /** What the transaction put or deleted; `undefined`: too much to be listed. */
  readonly touched?: readonly Touched[] | undefined;
}

/** A key of a store, or all keys from the first to the last. */
export type Touched = readonly [store: string, first: IDBValidKey, last?: IDBValidKey];

/** A record that was put, or what was deleted. */
export interface Change {
  readonly touched: Touched;
  readonly record?: unknown;
}

/** How far the mirror has come. */
export interface Current {
  /** Its records' keys begin with this. */
  readonly set: string;
  readonly epoch: string;
  readonly seq: number;
}

/** A range over [`first`, `last`], or over one key. */
export function rangeOf([, first, last]: Touched): IDBKeyRange {
  return last === undefined ? IDBKeyRange.only(first) : IDBKeyRange.bound(first, last);
}

/** What was touched after `seq`; `undefined` where the mark does not tell. */
export function touchedSince({ seq: end, pending }: Mark, seq: number): Touched[] | undefined {
  const missing = pending.filter((entry) => entry.seq > seq);
  if (missing.length !== end - seq) return undefined;
  const all: Touched[] = [];
  for (const { touched } of missing) {
    if (touched === undefined) return undefined;
    all.push(...touched);
  }
  return all;
}

/** The lock under which a database and its mirror are brought together. */
export function lockOf(name: string): string {
  return `adk-session-wasm:mirror:${name}`;
}
