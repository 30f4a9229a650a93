/** The mutations that are remembered between transactions, and their folds. */
import { localIdOfCopy, SessionOverlay } from '../overlay/session_overlay.js';
import type { SharedRow } from '../../../core/storage/rows.js';
import type { SessionRecord, StateRecord } from '../records/records.js';
import type { Mutation, NumberedWrite } from '../outbox/mutation.js';
import { NO_STATE, overlayState } from '../overlay/shared_overlay.js';

/** The most sessions and states whose mutations are remembered. */
const MOST = 5000;

interface Remembered {
  readonly outboxVersion: number;
  readonly mutations: readonly Mutation[];
}

/** What unsent mutations write to the states of an app and of its users: by user, in the order of their numbers. */
export type AppWrites = ReadonlyMap<string | undefined, readonly NumberedWrite[]>;

interface SharedMemory {
  readonly outboxVersion: number;
  readonly writes: Promise<AppWrites>;
}

interface Folded {
  /** The session under the mutations; see {@link localIdOfCopy}. */
  readonly copyId: number | undefined;
  readonly mutations: readonly Mutation[];
  readonly overlay: SessionOverlay;
}

interface Shown {
  readonly record: StateRecord | undefined;
  readonly writes: readonly NumberedWrite[];
  readonly row: SharedRow | undefined;
}

/**
 * Remembers mutations, their folds and their writes to shared states. So a write does not read all waiting mutations.
 * The outbox versions in the records of the session and of the owner tell whether the stored mutations are still the
 * same.
 */
export class MutationMemory {
  readonly #mutations = new Map<string, Remembered>();
  readonly #folds = new Map<string, Folded>();
  /** By app: the writes of unsent mutations to the states of the app and of its users. */
  readonly #shared = new Map<string, SharedMemory>();

  /** By user or app: its state as a reader last saw it. */
  readonly #shown = new Map<string, Shown>();

  mutations(name: string, outboxVersion: number): readonly Mutation[] | undefined {
    const remembered = this.#mutations.get(name);
    return remembered?.outboxVersion === outboxVersion ? remembered.mutations : undefined;
  }

  remember(name: string, outboxVersion: number, mutations: readonly Mutation[]): void {
    if (this.#mutations.size >= MOST) this.#clear();
    this.#mutations.set(name, { outboxVersion, mutations });
  }

  sharedWrites(appName: string, outboxVersion: number): Promise<AppWrites> | undefined {
    const remembered = this.#shared.get(appName);
    return remembered?.outboxVersion === outboxVersion ? remembered.writes : undefined;
  }

  rememberShared(appName: string, outboxVersion: number, writes: Promise<AppWrites>): void {
    this.#shared.set(appName, { outboxVersion, writes });
  }

  /**
   * Returns a state as a reader sees it. If the state under the first writes is remembered, only the others are added to
   * it.
   */
  shown(
    name: string,
    record: StateRecord | undefined,
    writes: readonly NumberedWrite[],
  ): SharedRow | undefined {
    const { row: before, ...shown } = this.#shown.get(name) ?? NOT_SHOWN;
    const isBeginning =
      before !== undefined &&
      shown.record?.state === record?.state &&
      shown.record?.localVersion === record?.localVersion &&
      shown.writes.every((write, index) => write === writes[index]);
    const row = isBeginning
      ? overlayState(
          { ...NO_STATE, state: before.state, localVersion: before.revision },
          writes.slice(shown.writes.length),
        )
      : overlayState(record, writes);
    if (this.#shown.size >= MOST) this.#shown.clear();
    if (writes.length === 0) this.#shown.delete(name);
    else this.#shown.set(name, { record, writes, row });
    return row;
  }

  /**
   * Returns the fold of stored mutations. If the fold of the first ones is remembered, only the others are added to
   * it.
   */
  overlay(
    name: string,
    record: SessionRecord | undefined,
    mutations: readonly Mutation[],
  ): SessionOverlay {
    const copyId = localIdOfCopy(record);
    const folded = this.#folds.get(name);
    const before = folded?.mutations ?? [];
    const isBeginning =
      folded !== undefined &&
      folded.copyId === copyId &&
      before.every((mutation, index) => mutation === mutations[index]);
    const overlay = isBeginning ? folded.overlay : new SessionOverlay(copyId);
    const first = isBeginning ? before.length : 0;
    for (const mutation of mutations.slice(first)) overlay.add(mutation);
    if (this.#folds.size >= MOST) this.#folds.clear();
    this.#folds.set(name, { copyId, mutations, overlay });
    return overlay;
  }

  forget(name: string): void {
    this.#mutations.delete(name);
    this.#folds.delete(name);
  }

  #clear(): void {
    this.#mutations.clear();
    this.#folds.clear();
    this.#shared.clear();
    this.#shown.clear();
  }
}

const NOT_SHOWN: Shown = { record: undefined, writes: [], row: undefined };

/**
 * Folds mutations without remembering the fold.
 *
 * @param copyId the session under them; see {@link localIdOfCopy}
 * @param deletions the numbers of those that delete the user, and with it the session
 */
export function foldOf(
  copyId: number | undefined,
  mutations: readonly Mutation[],
  deletions: readonly number[] = [],
): SessionOverlay {
  const overlay = new SessionOverlay(copyId);
  const rest = [...deletions];
  const deleteUpTo = (number: number): void => {
    for (let [first] = rest; first !== undefined && first < number; [first] = rest) {
      overlay.deleteUser(first);
      rest.shift();
    }
  };
  for (const mutation of mutations) {
    deleteUpTo(mutation.number);
    overlay.add(mutation);
  }
  deleteUpTo(Infinity);
  return overlay;
}
