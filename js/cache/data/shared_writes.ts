import type { StateOwner } from '../../storage/scopes.js';
import type { LocalKey, LocalTransaction } from '../local/local_store.js';
import { below, sharedKey } from '../records/records.js';
import type { NumberedWrite } from '../view/shared_overlay.js';
import type { OperationMemory } from './operation_memory.js';

type Writes = readonly NumberedWrite[];

/**
 * The writes of unsent operations to the states of apps and users, as one transaction sees them. The writes of each app
 * are listed once.
 */
export class SharedWrites {
  readonly #local: LocalTransaction;
  readonly #ownerName: string;
  readonly #memory: OperationMemory;
  readonly #stamp: () => number;
  readonly #writes = new Map<string, Promise<Writes>>();
  /** Whether the transaction has changed any of these writes. */
  isChanged = false;

  /** @param stamp returns the stamp in the owner's record */
  constructor(
    local: LocalTransaction,
    ownerName: string,
    memory: OperationMemory,
    stamp: () => number,
  ) {
    this.#local = local;
    this.#ownerName = ownerName;
    this.#memory = memory;
    this.#stamp = stamp;
  }

  /** Returns the writes to one state, in their order. */
  async of({ appName, userId }: StateOwner): Promise<NumberedWrite[]> {
    return (await this.#ofApp(appName)).filter((write) => write.userId === userId);
  }

  /** @param isNew whether the state has no write with this number */
  async put({ appName, userId }: StateOwner, write: NumberedWrite, isNew: boolean): Promise<void> {
    const { number } = write;
    this.#change(appName, (writes) =>
      isNew
        ? inOrder(writes, write)
        : writes.map((other) => (isOf(other, number, userId) ? write : other)),
    );
    await this.#local.put('outbox', this.#keyOf({ appName, userId }, number), write);
  }

  async delete({ appName, userId }: StateOwner, number: number): Promise<void> {
    this.#change(appName, (writes) => {
      const index = writes.findIndex((write) => isOf(write, number, userId));
      return index < 0 ? writes : [...writes.slice(0, index), ...writes.slice(index + 1)];
    });
    await this.#local.delete('outbox', this.#keyOf({ appName, userId }, number));
  }

  /** Gives the writes to the memory. Called after the commit. */
  remember(): void {
    for (const [appName, writes] of this.#writes) {
      this.#memory.rememberShared(appName, this.#stamp(), writes);
    }
  }

  /** Applies a change to the listed writes of an app, so that they need not be listed again. */
  #change(appName: string, change: (writes: Writes) => Writes): void {
    const writes = this.#ofApp(appName).then(change);
    // Avoids an unhandled rejection. If the list fails, the transaction fails as well.
    writes.catch(() => undefined);
    this.#writes.set(appName, writes);
    this.isChanged = true;
  }

  #keyOf({ appName, userId }: StateOwner, number: number): LocalKey {
    return [...sharedKey(this.#ownerName, appName), userId ?? '', number];
  }

  #ofApp(appName: string): Promise<Writes> {
    let writes = this.#writes.get(appName) ?? this.#memory.sharedWrites(appName, this.#stamp());
    if (writes === undefined) {
      const range = below(sharedKey(this.#ownerName, appName));
      writes = this.#local.list('outbox', range) as Promise<Writes>;
    }
    this.#writes.set(appName, writes);
    return writes;
  }
}

/** Adds a write. Only what was lost and is stored again has a lower number than others. */
function inOrder(writes: Writes, write: NumberedWrite): Writes {
  const all = [...writes, write];
  const isLast = writes.every(({ number }) => number < write.number);
  return isLast ? all : all.sort((one, other) => one.number - other.number);
}

function isOf(write: NumberedWrite, number: number, userId: string | undefined): boolean {
  return write.number === number && write.userId === userId;
}
