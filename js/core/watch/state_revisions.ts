import { putLast } from '../../values/bounded_map.js';
import type { SharedScope } from '../../values/state/scope.js';
import { ownerOf, type StateOwner } from '../storage/scopes.js';

/** The most owners of shared states whose last written revision is remembered. */
const MAX_OWNERS = 10_000;

/** A shared state that was written. */
export interface WrittenState extends StateOwner {
  readonly scope: SharedScope;
  /** 0 if it was deleted. */
  readonly revision: number;
}

/**
 * The revisions at which shared states were last written: by the services of this realm, and by other processes that tell
 * it. Whoever asks the storage for changes knows by them what was told already.
 */
export class StateRevisions {
  readonly #revisions = new Map<string, number>();

  /** Notes a write of this realm. */
  note(state: WrittenState): void {
    putLast(this.#revisions, stateKey(state.scope, state), state.revision, MAX_OWNERS);
  }

  /** Notes a write of another process, unless a later one is known: its text may come after a write of this realm. */
  noteOther(state: WrittenState): void {
    const last = this.of(state.scope, state) ?? 0;
    if (state.revision === 0 || state.revision > last) this.note(state);
  }

  /** Returns the revision at which a state was last written; `undefined` if that is not known. */
  of(scope: SharedScope, owner: StateOwner): number | undefined {
    return this.#revisions.get(stateKey(scope, owner));
  }
}

/** A key as JSON, so that no character in an id can produce another id's key. */
export function stateKey(scope: SharedScope, names: StateOwner): string {
  const { appName, userId } = ownerOf(scope, names);
  return JSON.stringify([scope, appName, userId]);
}
