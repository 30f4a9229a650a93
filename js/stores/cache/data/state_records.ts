import type { SharedRow } from '../../../core/storage/rows.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import type { LocalKey, LocalTransaction } from '../local_store/local_store.js';
import { below, entryKey, sharedKey, type StateRecord } from '../records/records.js';
import { type NumberedWrite, overlayState } from '../overlay/shared_overlay.js';
import type { OperationMemory } from './operation_memory.js';

type NumberedWrites = readonly NumberedWrite[];

export interface StateParts {
  readonly local: LocalTransaction;
  readonly ownerName: string;
  readonly memory: OperationMemory;
  /** Returns the stamp of all states, which changes with their operations. */
  readonly sharedStamp: () => number;
}

/**
 * The states of users and apps in one transaction: what the remote has said of them, and what unsent operations write to
 * them. The writes of each app are listed once.
 */
export class StateRecords {
  readonly #parts: StateParts;
  readonly #writes = new Map<string, Promise<NumberedWrites>>();
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
    return overlayState(record, writes);
  }

  /** What unsent operations write to one state, in their order. */
  async writes({ appName, userId }: StateOwner): Promise<NumberedWrite[]> {
    return (await this.#ofApp(appName)).filter((write) => write.userId === userId);
  }

  /** The numbers of the operations that delete a user. */
  async userDeletions({ appName, userId }: StateOwner): Promise<number[]> {
    const writes = await this.writes({ appName, userId });
    return writes.filter((write) => write.isOfDeletedUser).map(({ number }) => number);
  }

  /** @param isNew whether the state has no write with this number */
  async putWrite(
    { appName, userId }: StateOwner,
    write: NumberedWrite,
    isNew: boolean,
  ): Promise<void> {
    const { number } = write;
    this.#change(appName, (writes) =>
      isNew
        ? inOrder(writes, write)
        : writes.map((other) => (isOf(other, number, userId) ? write : other)),
    );
    await this.#parts.local.put('outbox', this.#writeKey({ appName, userId }, number), write);
  }

  async deleteWrite({ appName, userId }: StateOwner, number: number): Promise<void> {
    this.#change(appName, (writes) => {
      const index = writes.findIndex((write) => isOf(write, number, userId));
      return index < 0 ? writes : [...writes.slice(0, index), ...writes.slice(index + 1)];
    });
    await this.#parts.local.delete('outbox', this.#writeKey({ appName, userId }, number));
  }

  /** Gives the writes to the memory. Called after the commit. */
  remember(): void {
    for (const [appName, writes] of this.#writes) {
      this.#parts.memory.rememberShared(appName, this.#parts.sharedStamp(), writes);
    }
  }

  /** Applies a change to the listed writes of an app, so that they need not be listed again. */
  #change(appName: string, change: (writes: NumberedWrites) => NumberedWrites): void {
    const writes = this.#ofApp(appName).then(change);
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

  #ofApp(appName: string): Promise<NumberedWrites> {
    let writes =
      this.#writes.get(appName) ??
      this.#parts.memory.sharedWrites(appName, this.#parts.sharedStamp());
    if (writes === undefined) {
      const range = below(sharedKey(this.#parts.ownerName, appName));
      writes = this.#parts.local.list('outbox', range) as Promise<NumberedWrites>;
    }
    this.#writes.set(appName, writes);
    return writes;
  }
}

/** Adds a write. Only what was lost and is stored again has a lower number than others. */
function inOrder(writes: NumberedWrites, write: NumberedWrite): NumberedWrites {
  const all = [...writes, write];
  const isLast = writes.every(({ number }) => number < write.number);
  return isLast ? all : all.sort((one, other) => one.number - other.number);
}

function isOf(write: NumberedWrite, number: number, userId: string | undefined): boolean {
  return write.number === number && write.userId === userId;
}
