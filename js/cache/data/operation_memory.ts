import { SessionOverlay } from '../view/session_overlay.js';
import type { Operation, OwnerRecord, SessionRecord } from '../records/records.js';
import type { NumberedWrite } from '../view/shared_overlay.js';

/** The most sessions whose operations are remembered. */
const MOST = 5000;

interface Remembered {
  readonly client: string;
  readonly stamp: number;
  readonly operations: readonly Operation[];
}

interface SharedMemory {
  readonly client: string;
  readonly stamp: number;
  readonly writes: Promise<readonly NumberedWrite[]>;
}

interface Folded {
  readonly client: string;
  readonly shape: number;
  readonly birth: number | undefined;
  readonly hasCopy: boolean;
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

  operations(
    client: string,
    name: string,
    { stamp }: SessionRecord,
  ): readonly Operation[] | undefined {
    const remembered = this.#operations.get(name);
    const isValid = remembered?.stamp === stamp && remembered.client === client;
    return isValid ? remembered.operations : undefined;
  }

  remember(client: string, name: string, stamp: number, operations: readonly Operation[]): void {
    if (this.#operations.size >= MOST) this.clear();
    this.#operations.set(name, { client, stamp, operations });
  }

  sharedWrites(
    { client, sharedStamp }: OwnerRecord,
    appName: string,
  ): Promise<readonly NumberedWrite[]> | undefined {
    const remembered = this.#shared.get(appName);
    const isValid = remembered?.stamp === sharedStamp && remembered.client === client;
    return isValid ? remembered.writes : undefined;
  }

  rememberShared(
    { client, sharedStamp: stamp }: OwnerRecord,
    appName: string,
    writes: Promise<readonly NumberedWrite[]>,
  ): void {
    this.#shared.set(appName, { client, stamp, writes });
  }

  /** Returns the fold of operations that are stored. */
  overlay(
    client: string,
    name: string,
    record: SessionRecord | undefined,
    operations: readonly Operation[],
  ): SessionOverlay {
    const hasCopy = record?.copy !== undefined;
    const head = { client, shape: record?.shape ?? 0, birth: record?.birth, hasCopy };
    const folded = this.#folds.get(name);
    const isValid =
      folded?.client === client &&
      folded.shape === head.shape &&
      folded.birth === head.birth &&
      folded.hasCopy === hasCopy;
    const overlay = isValid ? folded.overlay : new SessionOverlay(record);
    for (const operation of operations.slice(firstAfter(operations, overlay.number))) {
      overlay.add(operation);
    }
    if (this.#folds.size >= MOST) this.#folds.clear();
    this.#folds.set(name, { ...head, overlay });
    return overlay;
  }

  forget(name: string): void {
    this.#operations.delete(name);
    this.#folds.delete(name);
  }

  clear(): void {
    this.#operations.clear();
    this.#folds.clear();
    this.#shared.clear();
  }
}

/**
 * Folds operations without remembering the fold.
 *
 * @param deletions the numbers of those that delete the user, and with it the session
 */
export function foldOf(
  record: SessionRecord | undefined,
  operations: readonly Operation[],
  deletions: readonly number[] = [],
): SessionOverlay {
  const overlay = new SessionOverlay(record);
  const rest = [...deletions];
  const deleteUpTo = (number: number): void => {
    while (rest[0]! < number) overlay.deleteUser(rest.shift()!);
  };
  for (const operation of operations) {
    deleteUpTo(operation.number);
    overlay.add(operation);
  }
  deleteUpTo(Infinity);
  return overlay;
}

function firstAfter(operations: readonly Operation[], number: number): number {
  let index = operations.length;
  while (index > 0 && operations[index - 1]!.number > number) index -= 1;
  return index;
}
