import { SessionError } from '../../../values/errors/errors.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import type { Notice } from '../../../values/model/notice.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import type { CacheStoreName, LocalKey, LocalTransaction } from '../local_store/local_store.js';
import {
  localIdOfCopy,
  type OverlaidSession,
  overlaidSessionOf,
} from '../overlay/session_overlay.js';
import { nameOf } from '../records/cache_key.js';
import { CopyRecords } from './copy_records.js';
import { type FirstOwnerValues, OwnerChanges } from './owner_changes.js';
import { foldOf, type MutationMemory } from './mutation_memory.js';
import { OutboxRecords, StateRecords } from './outbox_records.js';
import {
  below,
  entryKey,
  type LossRecord,
  mutationsKey,
  type OwnerRecord,
  type SessionRecord,
  sharedKey,
  VERSION,
} from '../records/records.js';
import { type Mutation } from '../outbox/mutation.js';

/** An entry of the local storage. */
type LocalEntry = readonly [store: CacheStoreName, key: LocalKey, value: unknown];

/** What a transaction has changed. */
export interface Committed {
  /** By name: the sessions and states whose mutations have changed, and what they are now. */
  readonly mutations: ReadonlyMap<string, readonly Mutation[]>;
  /** What is different for readers. The service tells of local writes itself. */
  readonly notices: readonly Notice[];
  /** The last loss of the owner's data. */
  readonly loss: LossRecord | undefined;
}

/**
 * A transaction over the records of one owner: the unit of work of the outbox, the copies and the states. It draws
 * their numbers, and shows a session as a reader sees it: the copy with the outbox over it.
 */
export class CacheTransaction extends OwnerChanges {
  readonly copies: CopyRecords;
  readonly states: StateRecords;
  readonly outbox: OutboxRecords;
  readonly #local: LocalTransaction;
  readonly #ownerName: string;
  readonly #memory: MutationMemory;
  readonly #notices: Notice[] = [];

  private constructor(
    local: LocalTransaction,
    ownerName: string,
    memory: MutationMemory,
    before: OwnerRecord | undefined,
    first: FirstOwnerValues,
  ) {
    super(before, first);
    this.#local = local;
    this.#ownerName = ownerName;
    this.#memory = memory;
    const parts = {
      local,
      ownerName,
      memory,
      sharedOutboxVersion: () => this.owner.sharedOutboxVersion,
    };
    this.copies = new CopyRecords(local, ownerName);
    this.states = new StateRecords(parts);
    const { copies, states } = this;
    this.outbox = new OutboxRecords({ ...parts, copies, states, draw: () => this.nextNumber() });
  }

  /** @param first what the owner's record begins with, if there is none */
  static async begin(
    local: LocalTransaction,
    ownerName: string,
    memory: MutationMemory,
    first: Omit<FirstOwnerValues, 'client'> & { readonly client?: string | undefined },
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
    const sessions = await this.copies.list({});
    const ofSessions = sessions.flatMap(([{ appName, userId }]) => [
      { appName, userId },
      { appName },
    ]);
    const all = [...ofSessions, ...(await this.states.owners())];
    return [...new Map(all.map((owner) => [nameOf(owner), owner])).values()];
  }

  /** Deletes all of a session, also its mutations, without reading the record. */
  async deleteDamaged(key: CompositeSessionKey): Promise<void> {
    await this.outbox.clear(key);
    await this.copies.delete(key);
  }

  /** Returns what a read of a session needs beside the events of its copy and the record of the owner. */
  async entriesOf(key: CompositeSessionKey): Promise<LocalEntry[]> {
    const { appName, userId } = key;
    const owner = this.#ownerName;
    const entries: LocalEntry[] = [];
    const add = async (store: CacheStoreName, entry: LocalKey): Promise<void> => {
      const value = await this.#local.get(store, entry);
      if (value !== undefined) entries.push([store, entry, value]);
    };
    await add('sessions', entryKey(owner, key));
    for (const state of [{ appName }, { appName, userId }]) {
      await add('states', entryKey(owner, state));
    }
    for (const outbox of [mutationsKey(owner, key), sharedKey(owner, appName)]) {
      for (const entry of await this.#local.keys('outbox', below(outbox))) {
        await add('outbox', entry);
      }
    }
    return entries;
  }

  /** A session as a reader sees it. */
  async view(key: CompositeSessionKey): Promise<OverlaidSession | undefined> {
    const [record, deletions] = await Promise.all([
      this.copies.get(key),
      this.states.userDeletions(key),
    ]);
    const mutations = await this.outbox.of(key);
    return this.viewWith(key, record, mutations, deletions);
  }

  viewWith(
    key: CompositeSessionKey,
    record: SessionRecord | undefined,
    mutations: readonly Mutation[],
    deletions: readonly number[],
  ): OverlaidSession | undefined {
    const name = nameOf(key);
    if (mutations.length === 0 || deletions.length > 0 || this.outbox.changed.has(name)) {
      return overlaidSessionOf(record, foldOf(localIdOfCopy(record), mutations, deletions));
    }
    return overlaidSessionOf(record, this.#memory.overlay(name, record, mutations));
  }

  /** Stores the records of sessions and of the owner that have changed. @returns the client that is stored now; `''` if there is none */
  async finish(): Promise<string> {
    if (this.states.hasChangedWrites || this.outbox.hasChangedStates)
      this.renewSharedOutboxVersion();
    await this.copies.store();
    if (!this.isOwnerChanged) return this.client;
    await this.#local.put('states', [this.#ownerName], this.owner);
    return this.owner.client;
  }

  /** Called after the commit. */
  commit(): Committed {
    this.outbox.remember();
    this.states.remember();
    return { mutations: this.outbox.changed, notices: this.#notices, loss: this.owner.loss };
  }
}
