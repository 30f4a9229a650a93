/** The outbox in one transaction, and the shared states that its mutations write. */
import type { SharedRow } from '../../../core/storage/rows.js';
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { isEqualJson } from '../../../values/json/equal.js';
import type { LocalKey, LocalRange, LocalTransaction } from '../local_store/local_store.js';
import { type CacheKey, isSession, nameOf } from '../records/cache_key.js';
import {
  below,
  mutationsBelow,
  mutationsKey,
  entryKey,
  sentKey,
  sharedKey,
  type StateRecord,
} from '../records/records.js';
import {
  isRefused,
  isUserDeletion,
  type Mutation,
  type NumberedWrite,
  type StoredMutation,
} from '../outbox/mutation.js';
import type { CopyRecords } from './copy_records.js';
import type { AppWrites, MutationMemory } from './mutation_memory.js';
import {
  isSameRecord,
  isUntouched,
  mutationsFrom,
  type SentRecord,
  sentRangesOf,
  storedMutation,
} from './sent_records.js';

interface OutboxRecordsParts extends StateParts {
  readonly copies: CopyRecords;
  readonly states: StateRecords;
  /** Draws a number. */
  readonly draw: () => number;
}

/**
 * The mutations in one transaction. A change of them also renews the outbox version of their session, which tells the
 * memory that they have changed, and updates the writes to the shared states that they change.
 */
export class OutboxRecords {
  readonly #parts: OutboxRecordsParts;
  /** The mutations of the sessions and states whose mutations have changed, by name. */
  readonly #changed = new Map<string, readonly Mutation[]>();
  /** The states among them. */
  readonly #changedStates = new Set<string>();

  constructor(parts: OutboxRecordsParts) {
    this.#parts = parts;
  }

  get changed(): ReadonlyMap<string, readonly Mutation[]> {
    return this.#changed;
  }

  /** Whether the mutations of a state have changed. */
  get hasChangedStates(): boolean {
    return this.#changedStates.size > 0;
  }

  /** The mutations of a session or state, in order. A session without a record has none. */
  async of(key: CacheKey): Promise<readonly Mutation[]> {
    const { memory, copies, sharedOutboxVersion } = this.#parts;
    const name = nameOf(key);
    const changed = this.#changed.get(name);
    if (changed !== undefined) return changed;
    const outboxVersion = isSession(key)
      ? (await copies.get(key))?.outboxVersion
      : sharedOutboxVersion();
    if (outboxVersion === undefined) return [];
    const remembered = memory.mutations(name, outboxVersion);
    if (remembered !== undefined) return remembered;
    const mutations = await this.stored(key);
    memory.remember(name, outboxVersion, mutations);
    return mutations;
  }

  /** The mutations of a session or state as they are stored. The session's record may be damaged. */
  async stored(key: CacheKey): Promise<readonly Mutation[]> {
    const all = await this.#list(below(mutationsKey(this.#parts.ownerName, key)));
    return all.get(nameOf(key)) ?? [];
  }

  /** All mutations below an app or a user, by name of their session or state. */
  below(of: Partial<StateOwner>): Promise<Map<string, readonly Mutation[]>> {
    return this.#list(mutationsBelow(this.#parts.ownerName, of));
  }

  async #list(range: LocalRange): Promise<Map<string, readonly Mutation[]>> {
    const records = await this.#parts.local.list('outbox', range);
    return mutationsFrom(records as (StoredMutation | SentRecord)[]);
  }

  /** Stores other mutations of one session or state. Only `carryOut` calls it. */
  async change(key: CacheKey, after: readonly Mutation[]): Promise<void> {
    const before = await this.of(key);
    let same = 0;
    while (same < before.length && before[same] === after[same]) same += 1;
    const earlier = new Map(before.slice(same).map((mutation) => [mutation.number, mutation]));
    const later = after.slice(same);
    if (earlier.size + later.length === 0) return;
    const numbers = new Set(later.map(({ number }) => number));
    const removed = [...earlier.values()].filter(({ number }) => !numbers.has(number));
    if (removed.length > 0) await this.#delete(key, removed, before);
    for (const mutation of later) {
      const stored = earlier.get(mutation.number);
      if (stored !== mutation) await this.#put(mutation, stored);
    }
    if (earlier.size > 0 || !later.every(isUntouched)) await this.#putSent(key, before, after);
    this.#changed.set(nameOf(key), after);
    if (isSession(key)) await this.#parts.copies.putOutboxVersion(key, this.#parts.draw);
    else this.#changedStates.add(nameOf(key));
  }

  /** Stores what has happened to the mutations, if that has changed. */
  async #putSent(
    key: CacheKey,
    before: readonly Mutation[],
    after: readonly Mutation[],
  ): Promise<void> {
    const { local, ownerName } = this.#parts;
    const ranges = sentRangesOf(after);
    if (isEqualJson(ranges, sentRangesOf(before))) return;
    const entry = sentKey(ownerName, key);
    if (ranges.length === 0) return local.delete('outbox', entry);
    await local.put('outbox', entry, { name: nameOf(key), ranges } satisfies SentRecord);
  }

  /** Removes all mutations of a session whose record may be damaged. */
  async clear(key: CompositeSessionKey): Promise<void> {
    const mutations = await this.stored(key);
    await this.#delete(key, mutations, mutations);
    this.#changed.set(nameOf(key), []);
  }

  async #put(mutation: Mutation, earlier?: Mutation): Promise<void> {
    const { states } = this.#parts;
    const { write, number, shared } = mutation;
    const { key } = write;
    if (earlier === undefined || !isSameRecord(mutation, earlier)) {
      const entry = [...mutationsKey(this.#parts.ownerName, key), number];
      await this.#parts.local.put('outbox', entry, storedMutation(mutation));
    }
    const isNowRefused = isRefused(mutation);
    const isSame = shared === earlier?.shared && isNowRefused === isRefused(earlier);
    if (isSame) return;
    for (const scope of SHARED_SCOPES) {
      const owner = ownerOf(scope, key);
      const sharedWrite = shared[scope];
      if (sharedWrite === undefined) {
        if (earlier?.shared[scope] !== undefined) await states.deleteWrite(owner, number);
        continue;
      }
      const numbered: NumberedWrite = {
        ...sharedWrite,
        number,
        isRefused: isNowRefused,
        userId: owner.userId,
        isOfDeletedUser: isUserDeletion(mutation),
      };
      await states.putWrite(owner, numbered, earlier === undefined);
    }
  }

  async #delete(
    key: CacheKey,
    removed: readonly Mutation[],
    before: readonly Mutation[],
  ): Promise<void> {
    const { local, ownerName, states } = this.#parts;
    const all = mutationsKey(ownerName, key);
    const keyOf = ({ number }: Mutation): LocalKey => [...all, number];
    const next = before[removed.length];
    // The mutations that leave are mostly the first ones.
    if (removed.every(({ number }, index) => number === before[index]?.number)) {
      const { from, to } = below(all);
      await local.delete('outbox', from, next === undefined ? to : keyOf(next));
    } else {
      for (const mutation of removed) await local.delete('outbox', keyOf(mutation));
    }
    for (const mutation of removed) {
      for (const scope of SHARED_SCOPES) {
        if (mutation.shared[scope] === undefined) continue;
        await states.deleteWrite(ownerOf(scope, key), mutation.number);
      }
    }
  }

  /** Gives the changed mutations to the memory. Called after the commit. */
  remember(): void {
    const { memory, copies, sharedOutboxVersion } = this.#parts;
    for (const [name, mutations] of this.#changed) {
      const outboxVersion = this.#changedStates.has(name)
        ? sharedOutboxVersion()
        : copies.outboxVersionOf(name);
      if (outboxVersion === undefined) memory.forget(name);
      else memory.remember(name, outboxVersion, mutations);
    }
  }
}

interface StateParts {
  readonly local: LocalTransaction;
  readonly ownerName: string;
  readonly memory: MutationMemory;
  /** Returns the outbox version of all states, which changes with their mutations. */
  readonly sharedOutboxVersion: () => number;
}

/**
 * The states of users and apps in one transaction: what the remote has said of them, and what unsent mutations write to
 * them. The writes of each app are listed once.
 */
export class StateRecords {
  readonly #parts: StateParts;
  readonly #writes = new Map<string, Promise<AppWrites>>();
  /** Whether the transaction has changed any writes. */
  hasChangedWrites = false;

  constructor(parts: StateParts) {
    this.#parts = parts;
  }

  async get(owner: StateOwner): Promise<StateRecord | undefined> {
    return (await this.#parts.local.get('states', this.#recordKey(owner))) as
      StateRecord | undefined;
  }

  async put(owner: StateOwner, record: StateRecord): Promise<void> {
    await this.#parts.local.put('states', this.#recordKey(owner), record);
  }

  /** The users and apps of which anything is recorded. */
  async owners(): Promise<StateOwner[]> {
    const keys = await this.#parts.local.keys('states', below([this.#parts.ownerName]));
    return keys.flatMap((key): StateOwner[] => {
      const [, appName, userId] = key as readonly (string | undefined)[];
      if (appName === undefined) return [];
      return [userId === undefined ? { appName } : { appName, userId }];
    });
  }

  /** A user's or an app's state as a reader sees it. */
  async shown(owner: StateOwner): Promise<SharedRow | undefined> {
    const [record, writes] = await Promise.all([this.get(owner), this.writes(owner)]);
    return this.#parts.memory.shown(nameOf(owner), record, writes);
  }

  /** What unsent mutations write to one state, in their order. */
  async writes({ appName, userId }: StateOwner): Promise<readonly NumberedWrite[]> {
    return (await this.#ofApp(appName)).get(userId) ?? [];
  }

  /** The numbers of the mutations that delete a user, and that were not refused. */
  async userDeletions({ appName, userId }: StateOwner): Promise<number[]> {
    const writes = await this.writes({ appName, userId });
    const deletions = writes.filter((write) => write.isOfDeletedUser && !write.isRefused);
    return deletions.map(({ number }) => number);
  }

  /** @param isNew whether the state has no write with this number */
  async putWrite(owner: StateOwner, write: NumberedWrite, isNew: boolean): Promise<void> {
    const { number } = write;
    this.#change(owner, (writes) =>
      isNew
        ? inOrder(writes, write)
        : writes.map((other) => (other.number === number ? write : other)),
    );
    await this.#parts.local.put('outbox', this.#writeKey(owner, number), write);
  }

  async deleteWrite(owner: StateOwner, number: number): Promise<void> {
    this.#change(owner, (writes) => {
      const index = writes.findIndex((write) => write.number === number);
      return index < 0 ? writes : writes.slice(0, index).concat(writes.slice(index + 1));
    });
    await this.#parts.local.delete('outbox', this.#writeKey(owner, number));
  }

  /** Gives the writes to the memory. Called after the commit. */
  remember(): void {
    for (const [appName, writes] of this.#writes) {
      this.#parts.memory.rememberShared(appName, this.#parts.sharedOutboxVersion(), writes);
    }
  }

  /** Applies a change to the listed writes of a state, so that they need not be listed again. */
  #change(
    { appName, userId }: StateOwner,
    change: (writes: readonly NumberedWrite[]) => readonly NumberedWrite[],
  ): void {
    const writes = this.#ofApp(appName).then((all) => {
      const changed = change(all.get(userId) ?? []);
      const next = new Map(all);
      if (changed.length > 0) next.set(userId, changed);
      else next.delete(userId);
      return next;
    });
    // Avoids an unhandled rejection. If the list fails, the transaction fails as well.
    writes.catch(() => undefined);
    this.#writes.set(appName, writes);
    this.hasChangedWrites = true;
  }

  #recordKey(owner: StateOwner): LocalKey {
    return entryKey(this.#parts.ownerName, owner);
  }

  #writeKey({ appName, userId }: StateOwner, number: number): LocalKey {
    return [...sharedKey(this.#parts.ownerName, appName), userId ?? '', number];
  }

  #ofApp(appName: string): Promise<AppWrites> {
    const writes =
      this.#writes.get(appName) ??
      this.#parts.memory.sharedWrites(appName, this.#parts.sharedOutboxVersion()) ??
      this.#list(appName);
    this.#writes.set(appName, writes);
    return writes;
  }

  async #list(appName: string): Promise<AppWrites> {
    const range = below(sharedKey(this.#parts.ownerName, appName));
    const all = (await this.#parts.local.list('outbox', range)) as readonly NumberedWrite[];
    const writes = new Map<string | undefined, NumberedWrite[]>();
    for (const write of all) {
      const others = writes.get(write.userId);
      if (others === undefined) writes.set(write.userId, [write]);
      else others.push(write);
    }
    return writes;
  }
}

/** Adds a write. Only what was lost and is stored again has a lower number than others. */
function inOrder(writes: readonly NumberedWrite[], write: NumberedWrite): NumberedWrite[] {
  const all = [...writes, write];
  const isLast = (writes.at(-1)?.number ?? 0) < write.number;
  return isLast ? all : all.sort((one, other) => one.number - other.number);
}
