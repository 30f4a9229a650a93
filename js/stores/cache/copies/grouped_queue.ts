import { KeyedQueue } from '../../../core/call/scheduling.js';

/**
 * A queue whose calls run in groups, so that many calls need few requests and transactions: the calls that come before
 * a group begins share its run and its result.
 */
export class GroupedQueue<Item, Result = void> extends KeyedQueue {
  readonly #run: (items: readonly [Item, ...Item[]]) => Promise<Result>;
  /** The groups that have not begun, by name. */
  readonly #waiting = new Map<
    string,
    { readonly items: [Item, ...Item[]]; readonly done: Promise<Result> }
  >();

  constructor(run: (items: readonly [Item, ...Item[]]) => Promise<Result>) {
    super();
    this.#run = run;
  }

  /** Runs a call in the next group of its name. */
  call(name: string, item: Item): Promise<Result> {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      waiting.items.push(item);
      return waiting.done;
    }
    const items: [Item, ...Item[]] = [item];
    const done = this.run(name, () => {
      this.#waiting.delete(name);
      return this.#run(items);
    });
    this.#waiting.set(name, { items, done });
    return done;
  }
}

/** Runs work on all items, on at most `most` at once. Rejects with the first failure, when all have settled. */
export async function forEachOf<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
