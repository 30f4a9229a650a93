import { ownerOf } from '../../../core/storage/scopes.js';
import { isEqualJson } from '../../../values/json/equal.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { type CacheKey, isSession, keyOfName, nameOf } from '../records/cache_key.js';
import { eventsOf, isUserDeletion, isWaiting, type Operation, type Refusal } from '../records/records.js';
import { refusalOf, sendableOf } from '../records/refusals.js';
import type { PendingChanges, StatusBoard } from '../records/status.js';
import type { LocalData } from './local_data.js';

/** The operations of one session or state. */
interface Waiting {
  readonly operations: readonly Operation[];
  /** Whether one of them was refused, so that others may wait for it. */
  readonly isRefused: boolean;
  /** The ids of their events. */
  readonly ids: Set<string>;
  /** What the status shows of them. `undefined`: all have arrived. */
  readonly changes: PendingChanges | undefined;
}

const NONE: Waiting = { operations: [], isRefused: false, ids: new Set(), changes: undefined };

/** What waits for the remote, by session or state, as this tab knows it. */
export class Pending {
  readonly #data: LocalData;
  readonly #board: StatusBoard;
  readonly #waiting = new Map<string, Waiting>();
  readonly #order = new SharedOrder();
  #isChanged = false;
  readonly #listeners = new Set<(name: string) => void>();

  constructor(data: LocalData, board: StatusBoard) {
    this.#data = data;
    this.#board = board;
    data.onCommit((committed) => {
      for (const [name, operations] of committed.operations) this.#set(name, operations);
      this.#show();
    });
  }

  /** Calls a function with the name of each session or state whose operations have changed. */
  onChange(listener: (name: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Reads everything again. */
  async scan(): Promise<void> {
    const all = await this.#data.read((transaction) => transaction.outbox.below({}));
    for (const name of this.names()) if (!all.has(name)) this.#set(name, []);
    for (const [name, operations] of all) this.#set(name, operations);
    this.#show();
  }

  /** Reads one session or state again. */
  async refresh(key: CacheKey): Promise<void> {
    this.#set(nameOf(key), await this.#data.operations(key));
    this.#show();
  }

  clear(): void {
    for (const name of this.names()) this.#set(name, []);
    this.#show();
  }

  operations(name: string): readonly Operation[] {
    return this.#of(name).operations;
  }

  /** The operations that have not arrived, by session or state. */
  waiting(): Operation[][] {
    return [...this.#waiting.values()].map(({ operations }) => operations.filter(isWaiting));
  }

  names(): string[] {
    return [...this.#waiting.keys()];
  }

  /** The first operation of a session or state that can be sent. */
  next(name: string): Operation | undefined {
    const { operations, isRefused } = this.#of(name);
    return isRefused ? sendableOf(operations)[0] : operations.find(isWaiting);
  }

  /**
   * Returns why an operation is not sent: the refusal of it, of one for which it waits, or of one for which its user's
   * deletion waits.
   */
  refusalOf(name: string, number: number): Refusal | undefined {
    const { appName, userId } = keyOfName(name);
    const ofUser = this.operations(nameOf({ appName, userId }));
    const deletion = ofUser.findLast((other) => isUserDeletion(other) && other.number <= number);
    return (
      refusalOf(this.operations(name), number) ?? (deletion && refusalOf(ofUser, deletion.number))
    );
  }

  /**
   * Returns the session or state that has to be sent before an operation. Operations that write one shared key are sent
   * one after the other, first those that were sent without an answer. The deletion of a user is sent alone. A session
   * holds up no other one while it waits for the end of a run.
   *
   * @param waits the operations that wait for the end of a run
   */
  blockerOf(
    operation: Operation,
    inFlight: ReadonlyMap<string, unknown>,
    waits: { readonly has: (name: string, operation: Operation) => boolean },
  ): string | undefined {
    const { key }: { readonly key: CacheKey } = operation.write;
    const own = nameOf(key);
    const { appName, userId } = key;
    const user = nameOf({ appName, userId });
    const isOfUser = (other: Operation): boolean =>
      isUserDeletion(other) && other.number < operation.number;
    if (own !== user && this.operations(user).some(isOfUser)) return user;
    const earlier = isUserDeletion(operation) && this.#earlierOf(operation, inFlight);
    if (earlier) return earlier;
    const before = this.#order.before(operation, ({ write, sent, number }) => {
      const name = nameOf(write.key);
      if (name === own) return true;
      const { operations, isRefused } = this.#of(name);
      const next = sent.attempts === 0 ? this.next(name) : undefined;
      const isStopped =
        (isRefused && refusalOf(operations, number) !== undefined) ||
        (next !== undefined && waits.has(name, next));
      return isStopped && !inFlight.has(name);
    });
    return before && nameOf(before.write.key);
  }

  /** Returns a session of a user with an operation before this one, or one that is being sent. */
  #earlierOf(
    { write, number }: Operation,
    inFlight: ReadonlyMap<string, unknown>,
  ): string | undefined {
    const { appName, userId }: CacheKey = write.key;
    for (const name of this.names()) {
      const other = keyOfName(name);
      if (!isSession(other) || other.appName !== appName || other.userId !== userId) continue;
      const next = this.next(name);
      const isEarlier = next !== undefined && next.number < number;
      if (isEarlier || inFlight.has(name)) return name;
    }
    return undefined;
  }

  #of(name: string): Waiting {
    return this.#waiting.get(name) ?? NONE;
  }

  #set(name: string, operations: readonly Operation[]): void {
    const { operations: before, isRefused, ids, changes: shown } = this.#of(name);
    if (before.length + operations.length === 0) return;
    const isAddition = before.every((operation, index) => operation === operations[index]);
    if (!isAddition) for (const operation of before) this.#order.delete(operation);
    const all = isAddition && before.length > 0 ? ids : new Set<string>();
    const added = isAddition ? operations.slice(before.length) : operations;
    const waiting = added.filter(isWaiting);
    for (const operation of waiting) {
      for (const { id } of eventsOf(operation)) all.add(id);
      this.#order.add(operation);
    }
    const events = operations.some(isWaiting) ? all.size : undefined;
    let changes = shown;
    if (events !== shown?.events) {
      this.#isChanged = true;
      changes = events === undefined ? undefined : { key: keyOfName(name), events };
    }
    if (operations.length === 0) this.#waiting.delete(name);
    else {
      const isAddedRefused = waiting.some(({ refusal }) => refusal !== undefined);
      const isNowRefused = isAddedRefused || (isAddition && isRefused);
      this.#waiting.set(name, { operations, isRefused: isNowRefused, ids: all, changes });
    }
    // The listeners of the status also show refusals, so they are told of this change.
    if (!isEqualJson(refusalsIn(before), refusalsIn(operations))) this.#isChanged = true;
    for (const listener of this.#listeners) listener(name);
  }

  #show(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#board.setPending([...this.#waiting.values()].flatMap(({ changes }) => changes ?? []));
  }
}

/** The refusals, each with the number of its operation. */
function refusalsIn(operations: readonly Operation[]): (readonly [number, Refusal])[] {
  return operations.flatMap(({ number, refusal }) => (refusal ? [[number, refusal] as const] : []));
}

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
class SharedOrder {
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
