import { SessionError } from '../../errors/errors.js';
import { newEventId } from '../../model/event/create_event.js';
import type { Notice } from '../../model/notice.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { SHARED_SCOPES } from '../../state/scope.js';
import { isRevision } from '../../storage/checked_rows.js';
import type { SharedRow } from '../../storage/rows.js';
import { ownerOf, type StateOwner } from '../../storage/scopes.js';
import type { CacheStoreName, LocalKey, LocalTransaction } from '../local/local_store.js';
import { type NumberedWrite, overlayState } from '../view/shared_overlay.js';
import { birthOfCopy, type SessionView, viewOf } from '../view/session_overlay.js';
import { type CacheKey, isSession, nameOf } from '../records/cache_key.js';
import { CopyEvents } from './copy_events.js';
import { type Beginning, OwnerChanges } from './owner_changes.js';
import { foldOf, type OperationMemory } from './operation_memory.js';
import { SharedWrites } from './shared_writes.js';
import {
  below,
  entryKey,
  type GivenUpRecord,
  isUserDeletion,
  type LossRecord,
  type Operation,
  operationsBelow,
  operationsKey,
  type OwnerRecord,
  type SessionOperation,
  type SessionRecord,
  sharedKey,
  type StateRecord,
  VERSION,
} from '../records/records.js';

/** An entry of the local storage. */
type LocalEntry = readonly [store: CacheStoreName, key: LocalKey, value: unknown];

/** What a transaction has changed. */
export interface Committed {
  /** By name: the sessions and states whose operations have changed, and what they are now. */
  readonly operations: ReadonlyMap<string, readonly Operation[]>;
  /** What is different for readers. The service tells of local writes itself. */
  readonly notices: readonly Notice[];
  /** The last loss of the owner's data. */
  readonly loss: LossRecord | undefined;
}

/** A transaction over the records of one owner. */
export class CacheTransaction extends OwnerChanges {
  readonly #local: LocalTransaction;
  readonly #ownerName: string;
  readonly #memory: OperationMemory;
  readonly #notices: Notice[] = [];
  /** The operations of the sessions and states whose operations have changed. */
  readonly #changed = new Map<string, readonly Operation[]>();
  /** The sessions that were read or changed, with the records that they have now. */
  readonly #records = new Map<string, SessionRecord | undefined>();
  readonly #shared: SharedWrites;
  /** Whether the operations of a state have changed. */
  #isStateChanged = false;

  private constructor(
    local: LocalTransaction,
    ownerName: string,
    memory: OperationMemory,
    before: OwnerRecord | undefined,
    first: Beginning,
  ) {
    super(before, first);
    this.#local = local;
    this.#ownerName = ownerName;
    this.#memory = memory;
    this.#shared = new SharedWrites(local, ownerName, this.#memory, () => this.owner.sharedStamp);
  }

  /** @param first what the owner's record begins with, if there is none */
  static async begin(
    local: LocalTransaction,
    ownerName: string,
    memory: OperationMemory,
    first: Omit<Beginning, 'client'> & { readonly client?: string | undefined },
  ): Promise<CacheTransaction> {
    const owner = (await local.get('states', [ownerName])) as OwnerRecord | undefined;
    if (owner !== undefined && owner.version > VERSION) {
      const message = `The local data has version ${owner.version}, and this package knows ${VERSION}. Reload the page to update it.`;
      throw new SessionError('storage_newer', message, { storage: 'cache' });
    }
    const { client = newEventId(), counter } = first;
    return new CacheTransaction(local, ownerName, memory, owner, { client, counter });
  }

  /** Notifies the watchers after the commit. */
  notify(notice: Notice): void {
    this.#notices.push(notice);
  }

  get hasNotices(): boolean {
    return this.#notices.length > 0;
  }

  /** The users and apps whose sessions or states are here. */
  async owners(): Promise<StateOwner[]> {
    const owners = new Map<string, StateOwner>();
    const add = (owner: StateOwner): void => void owners.set(nameOf(owner), owner);
    for (const [{ appName, userId }] of await this.sessions({})) {
      add({ appName, userId });
      add({ appName });
    }
    for (const key of await this.#local.keys('states', below([this.#ownerName]))) {
      const [, appName, userId] = key as string[];
      if (appName !== undefined) add(userId === undefined ? { appName } : { appName, userId });
    }
    return [...owners.values()];
  }

  #keyOf(key: CacheKey): LocalKey {
    return entryKey(this.#ownerName, key);
  }

  async session(key: CompositeSessionKey): Promise<SessionRecord | undefined> {
    const name = nameOf(key);
    if (this.#records.has(name)) return this.#records.get(name);
    const value = await this.#local.get('sessions', this.#keyOf(key));
    const record = value === undefined ? undefined : checkedRecord(value, key);
    if (!this.#records.has(name)) this.#records.set(name, record);
    return this.#records.get(name);
  }

  /** Stores the record of a session. Its stamp changes only with its operations. */
  async putSession(key: CompositeSessionKey, record: SessionRecord): Promise<void> {
    const { stamp } = (await this.session(key)) ?? record;
    await this.#putSession(key, { ...record, stamp });
  }

  async #putSession(key: CompositeSessionKey, record: SessionRecord): Promise<void> {
    this.#records.set(nameOf(key), record);
    await this.#local.put('sessions', this.#keyOf(key), record);
  }

  /** Lists the records of sessions. */
  async sessions(
    of: Partial<StateOwner>,
  ): Promise<(readonly [key: CompositeSessionKey, record: SessionRecord])[]> {
    const range = below(entryKey(this.#ownerName, of));
    const [keys, values] = await Promise.all([
      this.#local.keys('sessions', range),
      this.#local.list('sessions', range),
    ]);
    return keys.map((key, index) => {
      const [, appName, userId, sessionId] = key as string[];
      return [
        { appName: appName!, userId: userId!, sessionId: sessionId! },
        checkedRecord(values[index], { sessionId: sessionId! }),
      ] as const;
    });
  }

  /** Deletes the copy of a session for want of room. The remote has it. */
  async giveUp(key: CompositeSessionKey, { birth, copy }: SessionRecord): Promise<void> {
    await this.deleteSession(key);
    await this.putGivenUp(key, { birth, created: copy?.created ?? null });
  }

  async putGivenUp(key: CompositeSessionKey, record: GivenUpRecord): Promise<void> {
    await this.#local.put('states', this.#keyOf(key), record);
  }

  /** Returns what is known of a session whose copy was given up. */
  async givenUp(key: CompositeSessionKey): Promise<GivenUpRecord | undefined> {
    return (await this.#local.get('states', this.#keyOf(key))) as GivenUpRecord | undefined;
  }

  /** Records that a session has a copy again, or never will. */
  async forgetGivenUp(key: CompositeSessionKey): Promise<void> {
    await this.#local.delete('states', this.#keyOf(key));
  }

  /** Deletes the record and the events of a session. Its operations stay. */
  async deleteSession(key: CompositeSessionKey): Promise<void> {
    this.#records.set(nameOf(key), undefined);
    await this.#local.delete('sessions', this.#keyOf(key));
    await this.events(key).clear();
  }

  /** Deletes all of a session, also its operations, without reading the record. */
  async deleteDamaged(key: CompositeSessionKey): Promise<void> {
    const operations = await this.storedOperations(key);
    await this.#deleteOperations(key, operations, operations);
    this.#changed.set(nameOf(key), []);
    await this.deleteSession(key);
  }

  /** The events of the copy of a session. */
  events(key: CompositeSessionKey): CopyEvents {
    return new CopyEvents(this.#local, this.#keyOf(key));
  }

  /** The operations of a session or state, in order. A session without a record has none. */
  operations(key: CompositeSessionKey): Promise<readonly SessionOperation[]>;
  operations(key: CacheKey): Promise<readonly Operation[]>;
  async operations(key: CacheKey): Promise<readonly Operation[]> {
    const name = nameOf(key);
    const changed = this.#changed.get(name);
    if (changed !== undefined) return changed;
    const stamp = isSession(key) ? (await this.session(key))?.stamp : this.owner.sharedStamp;
    if (stamp === undefined) return [];
    const remembered = this.#memory.operations(name, stamp);
    if (remembered !== undefined) return remembered;
    const operations = await this.storedOperations(key);
    this.#memory.remember(name, stamp, operations);
    return operations;
  }

  /** Returns what a read of a session needs beside the events of its copy and the record of the owner. */
  async entriesOf(key: CompositeSessionKey): Promise<LocalEntry[]> {
    const { appName, userId } = key;
    const entries: LocalEntry[] = [];
    const add = async (store: CacheStoreName, entry: LocalKey): Promise<void> => {
      const value = await this.#local.get(store, entry);
      if (value !== undefined) entries.push([store, entry, value]);
    };
    await add('sessions', this.#keyOf(key));
    for (const owner of [{ appName }, { appName, userId }]) await add('states', this.#keyOf(owner));
    for (const outbox of [
      operationsKey(this.#ownerName, key),
      sharedKey(this.#ownerName, appName),
    ]) {
      for (const entry of await this.#local.keys('outbox', below(outbox)))
        await add('outbox', entry);
    }
    return entries;
  }

  /** The operations of a session or state as they are stored. The session's record may be damaged. */
  async storedOperations(key: CacheKey): Promise<readonly Operation[]> {
    const range = below(operationsKey(this.#ownerName, key));
    return (await this.#local.list('outbox', range)) as readonly Operation[];
  }

  /** All operations below an app or a user, by name of their session or state. */
  async operationsBelow(of: Partial<StateOwner>): Promise<Map<string, Operation[]>> {
    const range = operationsBelow(this.#ownerName, of);
    const byName = new Map<string, Operation[]>();
    for (const operation of (await this.#local.list('outbox', range)) as readonly Operation[]) {
      const name = nameOf(operation.key);
      const others = byName.get(name);
      if (others === undefined) byName.set(name, [operation]);
      else others.push(operation);
    }
    return byName;
  }

  /** Adds, changes or removes operations of one session or state. */
  async changeOperations(
    key: CacheKey,
    {
      put = [],
      removed = [],
    }: { readonly put?: readonly Operation[]; readonly removed?: readonly Operation[] },
  ): Promise<void> {
    const record = isSession(key) ? await this.session(key) : undefined;
    const before = await this.operations(key);
    if (removed.length > 0) await this.#deleteOperations(key, removed, before);
    const last = before.at(-1)?.number ?? 0;
    for (const operation of put) {
      const { number } = operation;
      const isNew = number > last;
      const earlier = isNew ? undefined : before.find((other) => other.number === number);
      await this.#putOperation(operation, earlier);
    }
    const numbers = new Set([...put, ...removed].map(({ number }) => number));
    const isAddition = removed.length === 0 && put.every(({ number }) => number > last);
    const after = isAddition
      ? [...before, ...put]
      : [...before.filter(({ number }) => !numbers.has(number)), ...put].sort(
          (one, other) => one.number - other.number,
        );
    this.#changed.set(nameOf(key), after);
    if (!isSession(key)) this.#isStateChanged = true;
    else if (record !== undefined) {
      await this.#putSession(key, { ...record, stamp: this.tick() });
    }
  }

  async #putOperation(operation: Operation, earlier?: Operation): Promise<void> {
    const { key, number, shared } = operation;
    await this.#local.put('outbox', [...operationsKey(this.#ownerName, key), number], operation);
    const isRefused = operation.refusal !== undefined;
    const isSame = shared === earlier?.shared && isRefused === (earlier.refusal !== undefined);
    if (isSame) return;
    for (const scope of SHARED_SCOPES) {
      const owner = ownerOf(scope, key);
      const write = shared[scope];
      if (write === undefined) {
        if (earlier?.shared[scope] !== undefined) await this.#shared.delete(owner, number);
        continue;
      }
      const numbered: NumberedWrite = {
        ...{ ...write, number, isRefused, userId: owner.userId },
        isOfDeletedUser: isUserDeletion(operation),
      };
      await this.#shared.put(owner, numbered, earlier === undefined);
    }
  }

  async #deleteOperations(
    key: CacheKey,
    removed: readonly Operation[],
    before: readonly Operation[],
  ): Promise<void> {
    const all = operationsKey(this.#ownerName, key);
    const keyOf = ({ number }: Operation): LocalKey => [...all, number];
    const next = before[removed.length];
    // Most that leave are the first ones.
    if (removed.every(({ number }, index) => number === before[index]?.number)) {
      const { from, to } = below(all);
      await this.#local.delete('outbox', from, next === undefined ? to : keyOf(next));
    } else {
      for (const operation of removed) await this.#local.delete('outbox', keyOf(operation));
    }
    for (const operation of removed) {
      for (const scope of SHARED_SCOPES) {
        if (operation.shared[scope] === undefined) continue;
        await this.#shared.delete(ownerOf(scope, key), operation.number);
      }
    }
  }

  async state(owner: StateOwner): Promise<StateRecord | undefined> {
    return (await this.#local.get('states', this.#keyOf(owner))) as StateRecord | undefined;
  }

  async putState(owner: StateOwner, record: StateRecord): Promise<void> {
    await this.#local.put('states', this.#keyOf(owner), record);
  }

  /** A user's or an app's state as a reader sees it. */
  async shownState(owner: StateOwner): Promise<SharedRow | undefined> {
    const [record, writes] = await Promise.all([this.state(owner), this.sharedWrites(owner)]);
    return overlayState(record, writes);
  }

  /** What unsent operations change in a user's or an app's state, in their order. */
  sharedWrites(owner: StateOwner): Promise<NumberedWrite[]> {
    return this.#shared.of(owner);
  }

  /** The numbers of the operations that delete a user. */
  async userDeletions({ appName, userId }: StateOwner): Promise<number[]> {
    const writes = await this.sharedWrites({ appName, userId });
    return writes.filter((write) => write.isOfDeletedUser).map(({ number }) => number);
  }

  /** A session as a reader sees it. */
  async view(key: CompositeSessionKey): Promise<SessionView | undefined> {
    const [record, deletions] = await Promise.all([this.session(key), this.userDeletions(key)]);
    const operations = await this.operations(key);
    return this.viewWith(key, record, operations, deletions);
  }

  viewWith(
    key: CompositeSessionKey,
    record: SessionRecord | undefined,
    operations: readonly Operation[],
    deletions: readonly number[],
  ): SessionView | undefined {
    const name = nameOf(key);
    if (operations.length === 0 || deletions.length > 0 || this.#changed.has(name)) {
      return viewOf(record, foldOf(birthOfCopy(record), operations, deletions));
    }
    return viewOf(record, this.#memory.overlay(name, record, operations));
  }

  /** Stores the owner's record, if it has changed. @returns the client that is stored now; `''` if there is none */
  async finish(): Promise<string> {
    if (this.#shared.isChanged || this.#isStateChanged) this.renewSharedStamp();
    if (!this.isOwnerChanged) return this.client;
    await this.#local.put('states', [this.#ownerName], this.owner);
    return this.owner.client;
  }

  /** Called after the commit. */
  commit(): Committed {
    for (const [name, operations] of this.#changed) {
      const stamp = this.#records.has(name)
        ? this.#records.get(name)?.stamp
        : this.owner.sharedStamp;
      if (stamp === undefined) this.#memory.forget(name);
      else this.#memory.remember(name, stamp, operations);
    }
    this.#shared.remember();
    const { loss } = this.owner;
    return { operations: this.#changed, notices: this.#notices, loss };
  }
}

/** @throws SessionError `corrupt_record` */
function checkedRecord(
  value: unknown,
  { sessionId }: Pick<CompositeSessionKey, 'sessionId'>,
): SessionRecord {
  const { birth, tick } = Object(value) as Partial<SessionRecord>;
  if (isRevision(birth) && isRevision(tick)) return value as SessionRecord;
  const record = `copy of session ${JSON.stringify(sessionId)}`;
  const message = `The ${record} is damaged. Give it up with outbox.drop; it is then fetched again.`;
  throw new SessionError('corrupt_record', message, { record, storage: 'cache' });
}
