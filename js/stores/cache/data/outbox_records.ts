import type { CompositeSessionKey } from '../../../values/model/session.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { LocalKey } from '../local_store/local_store.js';
import { type CacheKey, isSession, nameOf } from '../records/cache_key.js';
import {
  below,
  isUserDeletion,
  type Operation,
  operationsBelow,
  operationsKey,
} from '../records/records.js';
import type { NumberedWrite } from '../overlay/shared_overlay.js';
import type { CopyRecords } from './copy_records.js';
import type { StateParts, StateRecords } from './state_records.js';

interface OutboxRecordsParts extends StateParts {
  readonly copies: CopyRecords;
  readonly states: StateRecords;
  /** Draws a number. */
  readonly draw: () => number;
}

/** Operations to store, and others to remove. */
export interface OutboxChange {
  readonly put?: readonly Operation[];
  readonly removed?: readonly Operation[];
}

/**
 * The operations in one transaction. A change of them also renews the stamp of their session, which tells the memory
 * that they have changed, and updates the writes to the shared states that they change.
 */
export class OutboxRecords {
  readonly #parts: OutboxRecordsParts;
  /** The operations of the sessions and states whose operations have changed, by name. */
  readonly #changed = new Map<string, readonly Operation[]>();
  /** The states among them. */
  readonly #changedStates = new Set<string>();

  constructor(parts: OutboxRecordsParts) {
    this.#parts = parts;
  }

  get changed(): ReadonlyMap<string, readonly Operation[]> {
    return this.#changed;
  }

  /** Whether the operations of a state have changed. */
  get hasChangedStates(): boolean {
    return this.#changedStates.size > 0;
  }

  /** The operations of a session or state, in order. A session without a record has none. */
  async of(key: CacheKey): Promise<readonly Operation[]> {
    const { memory, copies, sharedStamp } = this.#parts;
    const name = nameOf(key);
    const changed = this.#changed.get(name);
    if (changed !== undefined) return changed;
    const stamp = isSession(key) ? (await copies.get(key))?.stamp : sharedStamp();
    if (stamp === undefined) return [];
    const remembered = memory.operations(name, stamp);
    if (remembered !== undefined) return remembered;
    const operations = await this.stored(key);
    memory.remember(name, stamp, operations);
    return operations;
  }

  /** The operations of a session or state as they are stored. The session's record may be damaged. */
  async stored(key: CacheKey): Promise<readonly Operation[]> {
    const { local, ownerName } = this.#parts;
    return (await local.list('outbox', below(operationsKey(ownerName, key)))) as Operation[];
  }

  /** All operations below an app or a user, by name of their session or state. */
  async below(of: Partial<StateOwner>): Promise<Map<string, Operation[]>> {
    const { local, ownerName } = this.#parts;
    const all = (await local.list('outbox', operationsBelow(ownerName, of))) as Operation[];
    const byName = new Map<string, Operation[]>();
    for (const operation of all) {
      const name = nameOf(operation.write.key);
      const others = byName.get(name);
      if (others === undefined) byName.set(name, [operation]);
      else others.push(operation);
    }
    return byName;
  }

  /** Adds, changes or removes operations of one session or state. */
  async change(key: CacheKey, { put = [], removed = [] }: OutboxChange): Promise<void> {
    const before = await this.of(key);
    if (removed.length > 0) await this.#delete(key, removed, before);
    const last = before.at(-1)?.number ?? 0;
    for (const operation of put) {
      const { number } = operation;
      const isNew = number > last;
      const earlier = isNew ? undefined : before.find((other) => other.number === number);
      await this.#put(operation, earlier);
    }
    const numbers = new Set([...put, ...removed].map(({ number }) => number));
    const isAddition = removed.length === 0 && put.every(({ number }) => number > last);
    const after = isAddition
      ? [...before, ...put]
      : [...before.filter(({ number }) => !numbers.has(number)), ...put].sort(
          (one, other) => one.number - other.number,
        );
    this.#changed.set(nameOf(key), after);
    if (isSession(key)) await this.#parts.copies.putStamp(key, this.#parts.draw);
    else this.#changedStates.add(nameOf(key));
  }

  /** Removes all operations of a session whose record may be damaged. */
  async clear(key: CompositeSessionKey): Promise<void> {
    const operations = await this.stored(key);
    await this.#delete(key, operations, operations);
    this.#changed.set(nameOf(key), []);
  }

  async #put(operation: Operation, earlier?: Operation): Promise<void> {
    const { local, ownerName, states } = this.#parts;
    const { write, number, shared } = operation;
    const { key } = write;
    await local.put('outbox', [...operationsKey(ownerName, key), number], operation);
    const isRefused = operation.refusal !== undefined;
    const isSame = shared === earlier?.shared && isRefused === (earlier.refusal !== undefined);
    if (isSame) return;
    for (const scope of SHARED_SCOPES) {
      const owner = ownerOf(scope, key);
      const sharedWrite = shared[scope];
      if (sharedWrite === undefined) {
        if (earlier?.shared[scope] !== undefined) await states.deleteWrite(owner, number);
        continue;
      }
      const numbered: NumberedWrite = {
        ...{ ...sharedWrite, number, isRefused, userId: owner.userId },
        isOfDeletedUser: isUserDeletion(operation),
      };
      await states.putWrite(owner, numbered, earlier === undefined);
    }
  }

  async #delete(
    key: CacheKey,
    removed: readonly Operation[],
    before: readonly Operation[],
  ): Promise<void> {
    const { local, ownerName, states } = this.#parts;
    const all = operationsKey(ownerName, key);
    const keyOf = ({ number }: Operation): LocalKey => [...all, number];
    const next = before[removed.length];
    // The operations that leave are mostly the first ones.
    if (removed.every(({ number }, index) => number === before[index]?.number)) {
      const { from, to } = below(all);
      await local.delete('outbox', from, next === undefined ? to : keyOf(next));
    } else {
      for (const operation of removed) await local.delete('outbox', keyOf(operation));
    }
    for (const operation of removed) {
      for (const scope of SHARED_SCOPES) {
        if (operation.shared[scope] === undefined) continue;
        await states.deleteWrite(ownerOf(scope, key), operation.number);
      }
    }
  }

  /** Gives the changed operations to the memory. Called after the commit. */
  remember(): void {
    const { memory, copies, sharedStamp } = this.#parts;
    for (const [name, operations] of this.#changed) {
      const stamp = this.#changedStates.has(name) ? sharedStamp() : copies.stampOf(name);
      if (stamp === undefined) memory.forget(name);
      else memory.remember(name, stamp, operations);
    }
  }
}
