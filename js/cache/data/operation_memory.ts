import { SessionOverlay } from '../view/session_overlay.js';
import type { Operation, SessionRecord } from '../records/records.js';

/** The most sessions whose operations are remembered. */
const MOST = 5000;

interface Remembered {
  readonly client: string;
  readonly stamp: number;
  readonly operations: readonly Operation[];
}

interface Folded {
  readonly client: string;
  readonly shape: number;
  readonly birth: number | undefined;
  readonly hasCopy: boolean;
  readonly deletions: number;
  readonly overlay: SessionOverlay;
}

/**
 * Remembers the operations of sessions and their folds, so that a write does not read all that wait in its session. The
 * session's record tells whether they are still those that are stored.
 */
export class OperationMemory {
  readonly #operations = new Map<string, Remembered>();
  readonly #folds = new Map<string, Folded>();

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

  /**
   * Returns the fold of operations that are stored.
   *
   * @param deletions those of the user, which delete the session too
   */
  overlay(
    client: string,
    name: string,
    record: SessionRecord | undefined,
    operations: readonly Operation[],
    deletions: readonly Operation[],
  ): SessionOverlay {
    const hasCopy = record?.copy !== undefined;
    const head = { client, shape: record?.shape ?? 0, birth: record?.birth, hasCopy };
    const folded = this.#folds.get(name);
    const isValid =
      folded?.client === client &&
      folded.shape === head.shape &&
      folded.birth === head.birth &&
      folded.hasCopy === hasCopy &&
      folded.deletions === 0 &&
      deletions.length === 0;
    const overlay = isValid ? folded.overlay : new SessionOverlay(record);
    const all = deletions.length === 0 ? operations : inOrder([...operations, ...deletions]);
    for (let index = firstAfter(all, overlay.number); index < all.length; index += 1) {
      overlay.add(all[index]!);
    }
    if (this.#folds.size >= MOST) this.#folds.clear();
    this.#folds.set(name, { ...head, deletions: deletions.length, overlay });
    return overlay;
  }

  forget(name: string): void {
    this.#operations.delete(name);
    this.#folds.delete(name);
  }

  clear(): void {
    this.#operations.clear();
    this.#folds.clear();
  }
}

/** Folds operations without remembering the fold. */
export function foldOf(
  record: SessionRecord | undefined,
  operations: readonly Operation[],
  deletions: readonly Operation[],
): SessionOverlay {
  const overlay = new SessionOverlay(record);
  for (const operation of inOrder([...operations, ...deletions])) overlay.add(operation);
  return overlay;
}

function inOrder(operations: readonly Operation[]): Operation[] {
  return [...operations].sort((one, other) => one.number - other.number);
}

function firstAfter(operations: readonly Operation[], number: number): number {
  let index = operations.length;
  while (index > 0 && operations[index - 1]!.number > number) index -= 1;
  return index;
}
