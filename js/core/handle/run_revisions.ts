import { putLast } from '../../values/members/bounded_map.js';
import type { CompositeSessionKey } from '../../values/model/session.js';

/** The most runs that are remembered. */
const MOST_RUNS = 1000;

/** An event by its invocation. */
interface OfInvocation {
  readonly invocationId: string;
}

/**
 * The runs of a storage: up to which revision each was neither sealed nor undone. Appends of a run are refused behind its end
 * from there, whatever handle they go through. A run that has fallen out, and an invocation that is no run, are checked by
 * the handle alone.
 *
 * A run of an earlier session with the same id stays. Its revision is lower than the one that created the session.
 */
export class RunRevisions {
  readonly #revisions = new Map<string, number>();

  /** Begins a run, or begins it again, at the revision of its message. */
  begin(key: CompositeSessionKey, invocationId: string, revision: number): void {
    putLast(this.#revisions, nameOf(key, invocationId), revision, MOST_RUNS);
  }

  /** Returns the revision of the run that events belong to, the lowest of several; `undefined` if none belongs to a run. */
  of(key: CompositeSessionKey, events: readonly OfInvocation[]): number | undefined {
    if (this.#revisions.size === 0) return undefined;
    let lowest: number | undefined;
    for (const { invocationId } of events) {
      const revision = this.#revisions.get(nameOf(key, invocationId));
      if (revision !== undefined && !(revision > lowest!)) lowest = revision;
    }
    return lowest;
  }

  /**
   * Notes that events were stored, so that their runs had not ended before.
   *
   * @param created the revision that created the session
   */
  advance(
    key: CompositeSessionKey,
    events: readonly OfInvocation[],
    { created, revision }: { readonly created: number; readonly revision: number },
  ): void {
    for (const { invocationId } of events) {
      const name = nameOf(key, invocationId);
      const known = this.#revisions.get(name);
      if (known !== undefined && known >= created) {
        putLast(this.#revisions, name, Math.max(known, revision), MOST_RUNS);
      }
    }
  }
}

/** Other sessions and invocations have other names. The lengths take less time than JSON. */
function nameOf({ appName, userId, sessionId }: CompositeSessionKey, invocation: string): string {
  return `${appName.length},${userId.length},${invocation.length},${appName}${userId}${invocation}${sessionId}`;
}
