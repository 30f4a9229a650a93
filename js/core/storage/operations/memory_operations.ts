import type { StorageOperation } from '../../../values/model/diagnostic.js';
import {
  type AppliedOperation,
  KEPT_MS,
  MOST_CLIENTS,
  refuseApplied,
  UNKNOWN,
} from './applied_operations.js';
import type { StorageKey } from '../rows.js';
import { sessionName } from '../../../values/model/values/session_name.js';

interface TimedOperation extends AppliedOperation {
  readonly time: number;
}

/**
 * The last operation of each client, in memory. Memory answers in the same tick, so nothing comes between the check
 * and the write.
 */
export class MemoryOperations {
  readonly #clock: () => number;
  /** By session or owner of a state, then by client; the one that was last written comes last in both. */
  readonly #applied = new Map<string, Map<string, TimedOperation>>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Runs a write that was not applied before, and keeps its operation.
   *
   * @param createdOf returns the revision at which the session was created, from the result; `undefined`: the write
   *   was not applied
   */
  run<T>(
    key: StorageKey,
    operation: StorageOperation | undefined,
    write: () => T,
    createdOf: (result: T) => number | undefined,
  ): T {
    if (operation === undefined) return write();
    const name = sessionName(key);
    const earlier = this.#applied.get(name)?.get(operation.client);
    refuseApplied(operation, earlier);
    const result = write();
    const created = createdOf(result);
    if (created === undefined) return result;
    const known = created === UNKNOWN ? (earlier?.created ?? UNKNOWN) : created;
    this.#keep(name, operation, known);
    return result;
  }

  #keep(name: string, { client, number }: StorageOperation, created: number): void {
    const time = this.#clock();
    const clients = this.#applied.get(name) ?? new Map<string, TimedOperation>();
    this.#applied.delete(name);
    this.#applied.set(name, clients);
    clients.delete(client);
    clients.set(client, { number, created, time });
    const [oldest] = clients.keys();
    if (clients.size > MOST_CLIENTS) clients.delete(oldest!);
    for (const [name, clients] of this.#applied) {
      for (const [client, kept] of clients) {
        if (kept.time >= time - KEPT_MS) break;
        clients.delete(client);
      }
      if (clients.size > 0) break;
      this.#applied.delete(name);
    }
  }
}
