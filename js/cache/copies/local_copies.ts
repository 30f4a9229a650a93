import { isSessionError } from '../../errors/errors.js';
import { parseLabels } from '../../model/description.js';
import type { EventSnapshot } from '../../model/event/snapshot.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { replaceEnd } from '../../service/replace_end.js';
import type { StateShape } from '../../state/state_shape.js';
import type { CreatedSession } from '../../storage/session_store.js';
import type { StateOwner } from '../../storage/scopes.js';
import {
  type Appended,
  APPENDED,
  type SharedRevisions,
  STALE_POLICIES,
} from '../../wasm/protocol.js';
import { type CopyHead, LocalCopyReader } from './local_copy_reader.js';
import {
  type Base,
  type FirstBase,
  firstBaseOf,
  firstBaseText,
  staleBase,
} from '../records/session_record.js';

/** A copy to create, as the remote has the session. */
export interface NewCopy {
  readonly events: readonly EventSnapshot[];
  /** Returns a JSON object: the delta that turns the state after the events into the remote's. */
  readonly delta: () => string;
  readonly title: string;
  readonly labels: string;
  readonly lastUpdateTime: number;
  readonly base: FirstBase;
}

/** A new copy, as its storage returns it, and the base to write for it. */
export interface MadeCopy {
  readonly created: CreatedSession;
  readonly base: Base;
}

/** The new end of a copy, and the local revision after which it begins. */
export interface Replacement {
  readonly truncateAfter: number;
  readonly expectedRevision: number;
  readonly events: readonly EventSnapshot[];
  readonly delta: string;
}

/** Makes, changes and deletes the local copies of one owner. */
export class LocalCopies extends LocalCopyReader {
  /** Returns `undefined` if there is a copy already. */
  async create(key: CompositeSessionKey, copy: NewCopy): Promise<MadeCopy | undefined> {
    const { events, delta, title, labels, lastUpdateTime } = copy;
    const initialState = firstBaseText(copy.base, events.length);
    const request = {
      state: '{}',
      events,
      delta: delta(),
      lastUpdateTime,
      description: { title, labels, initialState },
      now: this.clock(),
      sharesState: false,
    };
    const created = await this.at(key, (store, key) => store.create({ key, ...request }, true));
    return created && { created, base: firstBaseOf(initialState, created[0]) };
  }

  /**
   * Replaces the end of a copy, and writes its new base. It first marks the present base as stale, for two reasons. After
   * a crash in between, the cache fetches the whole copy. And another tab can no longer write a base that was computed
   * from the present one: that base would not fit the new revisions.
   *
   * @param bases the present base as it was read, `undefined` if the session was created here; and the new base, whose
   *   `local` this function sets
   * @param unsentCount how many of the new events, at the end, are unsent
   * @param isCurrent asked last before the copy changes: whether what was computed still holds
   * @returns whether the new base was recorded; `undefined` if nothing was replaced, because another tab was first
   */
  async replaceWithBase(
    key: CompositeSessionKey,
    replacement: Replacement,
    { present, next }: { readonly present: Base | undefined; readonly next: Base },
    unsentCount: number,
    isCurrent: () => boolean = () => true,
  ): Promise<boolean | undefined> {
    const records = this.records;
    // Without a base, a crash would leave the remote's events in a copy that looks as if it were created here.
    const stale = staleBase(present ?? { ...next, local: 0 });
    if (!(await records.writeBase(key, stale, present))) return undefined;
    const replaced = isCurrent() ? await this.replace(key, replacement) : undefined;
    if (replaced === undefined) {
      // The copy did not change, so its base is right again.
      if (present !== undefined) await records.writeBase(key, present, stale);
      return undefined;
    }
    const local = confirmedIn(replaced, replacement.events.length, unsentCount);
    const isWritten = await records.writeBase(key, { ...next, local }, stale);
    if (!isWritten) await records.markStale(key);
    return isWritten;
  }

  /** Replaces the end of a copy, and notifies watchers. Returns `undefined` if the copy is gone or has another revision. */
  async replace(key: CompositeSessionKey, replacement: Replacement): Promise<Appended | undefined> {
    const request = {
      key: this.keyOf(key),
      policy: STALE_POLICIES.append,
      position: { created: -1, revision: 0, lastEventId: undefined },
      ...replacement,
    };
    try {
      return await replaceEnd(this.core, request);
    } catch (error) {
      if (isSessionError(error, 'stale_session') || isSessionError(error, 'not_found')) return;
      throw error;
    }
  }

  describe(key: CompositeSessionKey, title: string, labels: string): Promise<boolean> {
    return this.at(key, (store, key) => store.describe({ key, title, labels }));
  }

  /** Deletes a copy if it still has this revision. */
  async delete(
    key: CompositeSessionKey,
    { revision, labels }: Pick<CopyHead, 'revision' | 'labels'>,
  ): Promise<boolean> {
    const expected = unchangedSince(revision, labels);
    const deleted = await this.at(key, (store, key) => store.deleteUnchanged({ key, ...expected }));
    return deleted !== undefined;
  }

  /** Deletes a copy whose head may be damaged. */
  async deleteDamaged(key: CompositeSessionKey): Promise<void> {
    await this.at(key, (store, key) => store.delete({ what: 'session', key }, {}));
  }

  /** Deletes a copy, unless another one has taken its place. */
  async deleteCreatedAt(key: CompositeSessionKey, created: number): Promise<void> {
    const head = await this.head(key);
    if (head?.created === created) await this.delete(key, head);
  }

  /** Deletes a copy, unless it was created here. */
  async deleteFetched(key: CompositeSessionKey): Promise<void> {
    const head = await this.head(key);
    if (head === undefined) return;
    const { create } = await this.recordFor(key, head.created);
    if (create !== undefined || !(await this.delete(key, head))) return;
    await this.records.removeCopy(key, head.created, {});
  }

  /** Changes a shared state by what a function computes from it, in one transaction. */
  updateState(owner: StateOwner, compute: (state: StateShape) => string): Promise<SharedRevisions> {
    const run = (state: string): string => compute(JSON.parse(state) as StateShape);
    return this.at(owner, (store, { appName, userId }) => store.update(appName, userId, run, {}));
  }
}

/** Returns what a session must have to be deleted as unchanged. */
export function unchangedSince(
  revision: number,
  labels: string | undefined,
): { readonly revision: number; readonly labels: string | undefined } {
  const hasLabels = Object.keys(parseLabels(labels ?? '')).length > 0;
  return { revision, labels: hasLabels ? labels : undefined };
}

/** Returns the local revision up to which the remote has everything. */
export function confirmedUntil(
  revision: number,
  unsent: readonly { readonly writtenAt: number }[],
): number {
  return unsent.length === 0 ? revision : Math.min(...unsent.map(({ writtenAt }) => writtenAt)) - 1;
}

/** Like {@link confirmedUntil}, after an append of `count` events. The last `unsentCount` of them are unsent. */
function confirmedIn(appended: Appended, count: number, unsentCount: number): number {
  const unchanged = new Map(appended[APPENDED.unchanged]);
  const revision = appended[APPENDED.revision];
  let next = revision - (count - unchanged.size);
  const revisions = Array.from({ length: count }, (_, position) => {
    return { writtenAt: unchanged.get(position) ?? (next += 1) };
  });
  return confirmedUntil(revision, revisions.slice(count - unsentCount));
}
