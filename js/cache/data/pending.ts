import { type CacheKey, isSession, keyOfName, nameOf } from '../records/cache_key.js';
import type { LocalData } from './local_data.js';
import type { Operation, Refusal } from '../records/records.js';
import type { PendingChanges, StatusBoard } from '../records/status.js';
import { isOverlapping } from '../records/shared_order.js';

export interface PendingParts {
  readonly data: LocalData;
  readonly board: StatusBoard;
}

/** What waits for the remote, by session or state, as this tab knows it. */
export class Pending {
  readonly #parts: PendingParts;
  readonly #operations = new Map<string, readonly Operation[]>();
  readonly #counts = new Map<string, PendingChanges>();
  #isChanged = false;
  readonly #listeners = new Set<(name: string) => void>();
  /** The names of those that write shared keys. */
  readonly #shared = new Set<string>();

  constructor(parts: PendingParts) {
    this.#parts = parts;
    parts.data.onOperations((changed) => {
      for (const [name, operations] of changed) this.#set(name, operations);
      this.#show();
    });
  }

  /** Calls a function with the name of each session or state whose operations have changed. */
  onChange(listener: (name: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Reads everything again. */
  async scan(): Promise<void> {
    const all = await this.#parts.data.read((transaction) => transaction.operationsBelow({}));
    for (const name of [...this.#operations.keys()]) if (!all.has(name)) this.#set(name, []);
    for (const [name, operations] of all) this.#set(name, operations);
    this.#show();
  }

  /** Reads one session or state again. */
  async refresh(key: CacheKey): Promise<void> {
    this.#set(nameOf(key), await this.#parts.data.operations(key));
    this.#show();
  }

  clear(): void {
    for (const name of [...this.#operations.keys()]) this.#set(name, []);
    this.#show();
  }

  operations(name: string): readonly Operation[] {
    return this.#operations.get(name) ?? [];
  }

  names(): string[] {
    return [...this.#operations.keys()];
  }

  /** The first operation of a session or state that can be sent, unless an earlier one was refused. */
  next(name: string): Operation | undefined {
    const first = this.operations(name).find(({ landed }) => landed === undefined);
    return first?.refusal === undefined ? first : undefined;
  }

  refusalOf(name: string, number: number): Refusal | undefined {
    const operations = this.operations(name);
    return operations.find((other) => other.refusal !== undefined && other.number <= number)
      ?.refusal;
  }

  /**
   * Whether an operation has to wait for another session's or state's. Those that write one shared key are sent one after
   * the other, first those that were sent without an answer.
   */
  waits(operation: Operation, inFlight: ReadonlyMap<string, unknown>): boolean {
    const own = nameOf(operation.key);
    const { appName, userId } = operation.key;
    const user = nameOf({ appName, userId });
    // The deletion of a user is sent alone.
    for (const other of this.#operations.get(user) ?? []) {
      if (other.what === 'user' && other.number < operation.number && own !== user) return true;
    }
    if (operation.what === 'user' && this.#hasEarlier(operation, inFlight)) return true;
    if (Object.keys(operation.shared).length === 0) return false;
    for (const name of this.#shared) {
      if (name === own) continue;
      const others = this.operations(name);
      if (others.some(({ refusal }) => refusal !== undefined) && !inFlight.has(name)) continue;
      for (const other of others) {
        if (!isOverlapping(operation, other) || other.landed !== undefined) continue;
        const isFirst =
          other.attempts > 0 !== operation.attempts > 0
            ? other.attempts > 0
            : other.number < operation.number;
        if (isFirst || inFlight.has(name)) return true;
      }
    }
    return false;
  }

  /** Whether a user has sessions with operations before this one, or any that is being sent. */
  #hasEarlier({ key, number }: Operation, inFlight: ReadonlyMap<string, unknown>): boolean {
    for (const [name, operations] of this.#operations) {
      const other = keyOfName(name);
      if (!isSession(other) || other.appName !== key.appName || other.userId !== key.userId)
        continue;
      if (inFlight.has(name)) return true;
      const isBlocked = operations.some(({ refusal }) => refusal !== undefined);
      const first = operations.find(({ landed }) => landed === undefined);
      if (!isBlocked && first !== undefined && first.number < number) return true;
    }
    return false;
  }

  #set(name: string, all: readonly Operation[]): void {
    if (all.length === 0) {
      if (!this.#operations.delete(name)) return;
      this.#count(name, undefined);
      this.#shared.delete(name);
    } else {
      this.#operations.set(name, all);
      const operations = all.filter(({ landed }) => landed === undefined);
      const ids = new Set<string>();
      for (const { event, creation } of operations) {
        if (event !== undefined) ids.add(event.id);
        for (const { id } of creation?.events ?? []) ids.add(id);
      }
      this.#count(name, operations.length === 0 ? undefined : ids.size);
      if (operations.some(({ shared }) => Object.keys(shared).length > 0)) this.#shared.add(name);
      else this.#shared.delete(name);
    }
    for (const listener of this.#listeners) listener(name);
  }

  #count(name: string, events: number | undefined): void {
    if (this.#counts.get(name)?.events === events) return;
    this.#isChanged = true;
    if (events === undefined) this.#counts.delete(name);
    else this.#counts.set(name, { key: keyOfName(name), events });
  }

  #show(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#parts.board.setPending([...this.#counts.values()]);
  }
}
