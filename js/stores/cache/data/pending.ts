/** What waits for the remote, and in which order mutations of shared keys are sent. */
import { ownerOf } from '../../../core/storage/scopes.js';
import { isEqualJson } from '../../../values/json/equal.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { type CacheKey, isSession, keyOfName, nameOf } from '../records/cache_key.js';
import {
  attemptsOf,
  eventsOf,
  isRefused,
  isUserDeletion,
  isWaiting,
  type Mutation,
  ownRefusalOf,
  type Refusal,
} from '../outbox/mutation.js';
import { refusalOf, sendableOf } from '../outbox/refusals.js';
import type { PendingChanges, StatusBoard } from '../records/status.js';
import type { LocalData } from './local_data.js';

/** The mutations of one session or state. */
interface Waiting {
  readonly mutations: readonly Mutation[];
  /** Whether one of them was refused, so that others may wait for it. */
  readonly hasRefused: boolean;
  /** The ids of their events. */
  readonly ids: Set<string>;
  /** What the status shows of them. `undefined`: all were acknowledged. */
  readonly changes: PendingChanges | undefined;
}

const NONE: Waiting = { mutations: [], hasRefused: false, ids: new Set(), changes: undefined };

/** What waits for the remote, by session or state, as this tab knows it. */
export class Pending {
  readonly #data: LocalData;
  readonly #board: StatusBoard;
  readonly #waiting = new Map<string, Waiting>();
  readonly #order = new SharedOrder();
  #events = 0;
  #isChanged = false;
  readonly #listeners = new Set<(name: string) => void>();

  constructor(data: LocalData, board: StatusBoard) {
    this.#data = data;
    this.#board = board;
    data.onCommit((committed) => {
      for (const [name, mutations] of committed.mutations) this.#set(name, mutations);
      this.#show();
    });
  }

  /** Calls a function with the name of each session or state whose mutations have changed. */
  onChange(listener: (name: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Reads everything again. */
  async scan(): Promise<void> {
    const all = await this.#data.read((transaction) => transaction.outbox.below({}));
    for (const name of this.names()) if (!all.has(name)) this.#set(name, []);
    for (const [name, mutations] of all) this.#set(name, mutations);
    this.#show();
  }

  /** Reads one session or state again. */
  async refresh(key: CacheKey): Promise<void> {
    this.#set(nameOf(key), await this.#data.mutations(key));
    this.#show();
  }

  clear(): void {
    for (const name of this.names()) this.#set(name, []);
    this.#show();
  }

  mutations(name: string): readonly Mutation[] {
    return this.#of(name).mutations;
  }

  /** The mutations that were not acknowledged, by session or state. */
  waiting(): Mutation[][] {
    return [...this.#waiting.values()].map(({ mutations }) => mutations.filter(isWaiting));
  }

  /** The refused mutations. */
  refused(): Mutation[] {
    return [...this.#waiting.values()].flatMap(({ mutations, hasRefused }) =>
      hasRefused ? mutations.filter(isRefused) : [],
    );
  }

  /** The number of unsent events. */
  get events(): number {
    return this.#events;
  }

  names(): string[] {
    return [...this.#waiting.keys()];
  }

  /** The first mutation of a session or state that can be sent. */
  next(name: string): Mutation | undefined {
    const { mutations, hasRefused } = this.#of(name);
    return hasRefused ? sendableOf(mutations)[0] : mutations.find(isWaiting);
  }

  /**
   * Returns the refusal because of which a mutation is not sent. The remote has refused the mutation itself, or another
   * mutation that must be sent before it. If a deletion of the user must be sent before it, the refusal may be that of
   * a mutation before the deletion.
   */
  refusalOf(name: string, number: number): Refusal | undefined {
    const { appName, userId } = keyOfName(name);
    const ofUser = this.mutations(nameOf({ appName, userId }));
    const deletion = ofUser.findLast((other) => isUserDeletion(other) && other.number <= number);
    return (
      refusalOf(this.mutations(name), number) ?? (deletion && refusalOf(ofUser, deletion.number))
    );
  }

  /**
   * Returns the session or state that has to be sent before a mutation. Mutations that write one shared key are sent
   * one after the other, first those that were sent without an answer. The deletion of a user is sent alone. A session
   * holds up no other one while it waits for the end of a run.
   *
   * @param waits the mutations that wait for the end of a run
   */
  blockerOf(
    mutation: Mutation,
    inFlight: ReadonlyMap<string, unknown>,
    waits: { readonly has: (name: string, mutation: Mutation) => boolean },
  ): string | undefined {
    const { key }: { readonly key: CacheKey } = mutation.write;
    const own = nameOf(key);
    const { appName, userId } = key;
    const user = nameOf({ appName, userId });
    const isOfUser = (other: Mutation): boolean =>
      isUserDeletion(other) && other.number < mutation.number;
    if (own !== user && this.mutations(user).some(isOfUser)) return user;
    const earlier = isUserDeletion(mutation) && this.#earlierOf(mutation, inFlight);
    if (earlier) return earlier;
    const before = this.#order.before(mutation, (other) => {
      const { write, number } = other;
      const name = nameOf(write.key);
      if (name === own) return true;
      const { mutations, hasRefused } = this.#of(name);
      const next = attemptsOf(other) === 0 ? this.next(name) : undefined;
      const isStopped =
        (hasRefused && refusalOf(mutations, number) !== undefined) ||
        (next !== undefined && waits.has(name, next));
      return isStopped && !inFlight.has(name);
    });
    return before && nameOf(before.write.key);
  }

  /** Returns a session of a user with a mutation before this one, or one that is being sent. */
  #earlierOf(
    { write, number }: Mutation,
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

  #set(name: string, mutations: readonly Mutation[]): void {
    const { mutations: before, hasRefused, ids, changes: shown } = this.#of(name);
    if (before.length + mutations.length === 0) return;
    const isAddition = before.every((mutation, index) => mutation === mutations[index]);
    if (!isAddition) for (const mutation of before) this.#order.delete(mutation);
    const all = isAddition && before.length > 0 ? ids : new Set<string>();
    const added = isAddition ? mutations.slice(before.length) : mutations;
    const waiting = added.filter(isWaiting);
    for (const mutation of waiting) {
      for (const { id } of eventsOf(mutation)) all.add(id);
      this.#order.add(mutation);
    }
    const events = mutations.some(isWaiting) ? all.size : undefined;
    let changes = shown;
    if (events !== shown?.events) {
      this.#events += (events ?? 0) - (shown?.events ?? 0);
      this.#isChanged = true;
      changes = events === undefined ? undefined : { key: keyOfName(name), events };
    }
    if (mutations.length === 0) this.#waiting.delete(name);
    else {
      const isAddedRefused = waiting.some(isRefused);
      const isNowRefused = isAddedRefused || (isAddition && hasRefused);
      this.#waiting.set(name, { mutations, hasRefused: isNowRefused, ids: all, changes });
    }
    // The listeners of the status also show refusals, so they are told of this change.
    if (!isEqualJson(refusalsIn(before), refusalsIn(mutations))) this.#isChanged = true;
    for (const listener of this.#listeners) listener(name);
  }

  #show(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#board.setPending(() =>
      [...this.#waiting.values()].flatMap(({ changes }) => changes ?? []),
    );
  }
}

/** The refusals, each with the number of its mutation. */
function refusalsIn(mutations: readonly Mutation[]): (readonly [number, Refusal])[] {
  return mutations.flatMap((mutation) => {
    const refusal = ownRefusalOf(mutation);
    return refusal === undefined ? [] : [[mutation.number, refusal] as const];
  });
}

/** The mutations that write one shared key, or that clear a state. */
class KeyMutations {
  /** Those that were sent without an answer. */
  readonly attempted = new Map<number, Mutation>();
  /** The others, by number. */
  readonly fresh: Mutation[] = [];

  add(mutation: Mutation): void {
    const { number } = mutation;
    if (attemptsOf(mutation) > 0) this.attempted.set(number, mutation);
    else this.fresh.splice(this.#placeOf(number), 0, mutation);
  }

  delete({ number }: Mutation): void {
    this.attempted.delete(number);
    const place = this.#placeOf(number);
    if (this.fresh[place]?.number === number) this.fresh.splice(place, 1);
  }

  /**
   * Returns the mutation that the given one waits for. It is the nearest of those that are sent before the given one.
   * So each mutation waits for a different one, and none wakes all the others. Attempted mutations are sent first.
   */
  before(mutation: Mutation, isIgnored: (other: Mutation) => boolean): Mutation | undefined {
    const { number } = mutation;
    const attempts = attemptsOf(mutation);
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

  /** Returns the place of the first mutation with this number or a higher one. */
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

/** The order of mutations that write the same shared keys: they are sent one after the other. */
class SharedOrder {
  readonly #lines = new Map<string, KeyMutations>();

  add(mutation: Mutation): void {
    for (const name of ownLines(mutation)) {
      let line = this.#lines.get(name);
      if (line === undefined) this.#lines.set(name, (line = new KeyMutations()));
      line.add(mutation);
    }
  }

  delete(mutation: Mutation): void {
    for (const name of ownLines(mutation)) this.#lines.get(name)?.delete(mutation);
  }

  /** Returns a mutation that has to be sent before another one. */
  before(mutation: Mutation, isIgnored: (other: Mutation) => boolean): Mutation | undefined {
    for (const name of foreignLines(mutation)) {
      const other = this.#lines.get(name)?.before(mutation, isIgnored);
      if (other !== undefined) return other;
    }
    return undefined;
  }
}

/** The lines in which a mutation waits: of each key, of all writes of the state, and of the state's deletions. */
function ownLines(mutation: Mutation): string[] {
  return linesOf(mutation).flatMap(({ keys, all, cleared, isCleared }) =>
    isCleared ? [...keys, all, cleared] : [...keys, all],
  );
}

/** The lines whose mutations a mutation waits for. */
function foreignLines(mutation: Mutation): string[] {
  return linesOf(mutation).flatMap(({ keys, all, cleared, isCleared }) =>
    isCleared ? [all] : [...keys, cleared],
  );
}

/** The names of the lines of each state that a mutation writes. */
function linesOf({ write: { key }, shared }: Mutation) {
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
