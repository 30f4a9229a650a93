import { ownerOf } from '../../../core/storage/scopes.js';
import { nameOf } from '../records/cache_key.js';
import { type Operation } from '../records/records.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';

/** The operations that write one shared key, or that clear a state. */
class KeyOperations {
  /** Those that were sent without an answer. */
  readonly attempted = new Map<number, Operation>();
  /** The others, by number. */
  readonly fresh: Operation[] = [];

  add(operation: Operation): void {
    const { sent, number } = operation;
    if (sent.attempts > 0) this.attempted.set(number, operation);
    else this.fresh.splice(this.#placeOf(number), 0, operation);
  }

  delete({ number }: Operation): void {
    this.attempted.delete(number);
    const place = this.#placeOf(number);
    if (this.fresh[place]?.number === number) this.fresh.splice(place, 1);
  }

  /**
   * Returns the operation that the given one waits for. It is the nearest of those that are sent before the given one.
   * So each operation waits for a different one, and none wakes all the others. Attempted operations are sent first.
   */
  before(operation: Operation, isIgnored: (other: Operation) => boolean): Operation | undefined {
    const { number, sent } = operation;
    const { attempts } = sent;
    if (attempts === 0) {
      for (let place = this.#placeOf(number) - 1; place >= 0; place -= 1) {
        const other = this.fresh[place]!;
        if (!isIgnored(other)) return other;
      }
    }
    for (const other of this.attempted.values()) {
      const isEarlier = attempts === 0 || other.number < number;
      if (isEarlier && !isIgnored(other)) return other;
    }
    return undefined;
  }

  /** Returns the place of the first operation with this number or a higher one. */
  #placeOf(number: number): number {
    let [low, high] = [0, this.fresh.length];
    if (high > 0 && this.fresh[high - 1]!.number < number) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.fresh[middle]!.number < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The order of operations that write the same shared keys: they are sent one after the other. */
export class SharedOrder {
  readonly #lines = new Map<string, KeyOperations>();

  add(operation: Operation): void {
    for (const name of ownLines(operation)) {
      let line = this.#lines.get(name);
      if (line === undefined) this.#lines.set(name, (line = new KeyOperations()));
      line.add(operation);
    }
  }

  delete(operation: Operation): void {
    for (const name of ownLines(operation)) this.#lines.get(name)?.delete(operation);
  }

  /** Returns an operation that has to be sent before another one. */
  before(operation: Operation, isIgnored: (other: Operation) => boolean): Operation | undefined {
    for (const name of foreignLines(operation)) {
      const other = this.#lines.get(name)?.before(operation, isIgnored);
      if (other !== undefined) return other;
    }
    return undefined;
  }
}

/** The lines that an operation stands in: of each key, of all writes of the state, and of the state's deletions. */
function ownLines(operation: Operation): string[] {
  return linesOf(operation).flatMap(({ keys, all, cleared, isCleared }) =>
    isCleared ? [...keys, all, cleared] : [...keys, all],
  );
}

/** The lines whose operations an operation waits for. */
function foreignLines(operation: Operation): string[] {
  return linesOf(operation).flatMap(({ keys, all, cleared, isCleared }) =>
    isCleared ? [all] : [...keys, cleared],
  );
}

/** The names of the lines of each state that an operation writes. */
function linesOf({ write: { key }, shared }: Operation) {
  return SHARED_SCOPES.flatMap((scope) => {
    const change = shared[scope];
    if (change === undefined) return [];
    const state = nameOf(ownerOf(scope, key));
    const keys = change.values.map(([name]) => `key ${state} ${name}`);
    return [
      { keys, all: `all ${state}`, cleared: `cleared ${state}`, isCleared: change.isCleared },
    ];
  });
}
