import { Turns } from './turns.js';

/**
 * Runs calls in groups, so that many calls need few requests and transactions. Of one name, one group runs after the
 * other. The calls that come before a group begins share its run and its result.
 */
export class Groups<Item, Result = void> {
  readonly turns = new Turns();
  readonly #run: (items: readonly [Item, ...Item[]]) => Promise<Result>;
  /** The groups that have not begun, by name. */
  readonly #waiting = new Map<
    string,
    { readonly items: [Item, ...Item[]]; readonly done: Promise<Result> }
  >();

  constructor(run: (items: readonly [Item, ...Item[]]) => Promise<Result>) {
    this.#run = run;
  }

  call(name: string, item: Item): Promise<Result> {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      waiting.items.push(item);
      return waiting.done;
    }
    const items: [Item, ...Item[]] = [item];
    const done = this.turns.run(name, () => {
      this.#waiting.delete(name);
      return this.#run(items);
    });
    this.#waiting.set(name, { items, done });
    return done;
  }
}
