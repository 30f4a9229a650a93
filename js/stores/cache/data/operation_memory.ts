import { birthOfCopy, SessionOverlay } from '../overlay/session_overlay.js';
import type { Operation, SessionRecord } from '../records/records.js';
import type { NumberedWrite } from '../overlay/shared_overlay.js';

/** The most sessions and states whose operations are remembered. */
const MOST = 5000;

interface Remembered {
  readonly stamp: number;
  readonly operations: readonly Operation[];
}

interface SharedMemory {
  readonly stamp: number;
  readonly writes: Promise<readonly NumberedWrite[]>;
}

interface Folded {
  /** The session under the operations; see {@link birthOfCopy}. */
  readonly base: number | undefined;
  readonly operations: readonly Operation[];
  readonly overlay: SessionOverlay;
}

/**
 * Remembers operations, their folds and their writes to shared states. So a write does not read all waiting operations.
 * The stamps in the records of the session and of the owner tell whether the stored operations are still the same.
 */
export class OperationMemory {
  readonly #operations = new Map<string, Remembered>();
  readonly #folds = new Map<string, Folded>();
  /** By app: the writes of unsent operations to the states of the app and of its users. */
  readonly #shared = new Map<string, SharedMemory>();

  operations(name: string, stamp: number): readonly Operation[] | undefined {
    const remembered = this.#operations.get(name);
    return remembered?.stamp === stamp ? remembered.operations : undefined;
  }

  remember(name: string, stamp: number, operations: readonly Operation[]): void {
    if (this.#operations.size >= MOST) this.#clear();
    this.#operations.set(name, { stamp, operations });
  }

  sharedWrites(appName: string, stamp: number): Promise<readonly NumberedWrite[]> | undefined {
    const remembered = this.#shared.get(appName);
    return remembered?.stamp === stamp ? remembered.writes : undefined;
  }

  rememberShared(appName: string, stamp: number, writes: Promise<readonly NumberedWrite[]>): void {
    this.#shared.set(appName, { stamp, writes });
  }

  /**
   * Returns the fold of stored operations. If the fold of the first ones is remembered, only the others are added to
   * it.
   */
  overlay(
    name: string,
    record: SessionRecord | undefined,
    operations: readonly Operation[],
  ): SessionOverlay {
    const base = birthOfCopy(record);
    const folded = this.#folds.get(name);
    const before = folded?.operations ?? [];
    const isBeginning =
      folded !== undefined &&
      folded.base === base &&
      before.every((operation, index) => operation === operations[index]);
    const overlay = isBeginning ? folded.overlay : new SessionOverlay(base);
    const first = isBeginning ? before.length : 0;
    for (const operation of operations.slice(first)) overlay.add(operation);
    if (this.#folds.size >= MOST) this.#folds.clear();
    this.#folds.set(name, { base, operations, overlay });
    return overlay;
  }

  forget(name: string): void {
    this.#operations.delete(name);
    this.#folds.delete(name);
  }

  #clear(): void {
    this.#operations.clear();
    this.#folds.clear();
    this.#shared.clear();
  }
}

/**
 * Folds operations without remembering the fold.
 *
 * @param base the session under them; see {@link birthOfCopy}
 * @param deletions the numbers of those that delete the user, and with it the session
 */
export function foldOf(
  base: number | undefined,
  operations: readonly Operation[],
  deletions: readonly number[] = [],
): SessionOverlay {
  const overlay = new SessionOverlay(base);
  const rest = [...deletions];
  const deleteUpTo = (number: number): void => {
    for (let [first] = rest; first !== undefined && first < number; [first] = rest) {
      overlay.deleteUser(first);
      rest.shift();
    }
  };
  for (const operation of operations) {
    deleteUpTo(operation.number);
    overlay.add(operation);
  }
  deleteUpTo(Infinity);
  return overlay;
}
