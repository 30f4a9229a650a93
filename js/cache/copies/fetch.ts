import { SessionError } from '../../errors/errors.js';
import { newEventId } from '../../model/event/create_event.js';
import type { HostAbortSignal } from '../../model/host.js';
import type { EventSnapshot } from '../../model/event/snapshot.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { isShared } from '../../state/scope.js';
import type { StateShape } from '../../state/state_shape.js';
import { isSameJson } from '../../wasm/core.js';
import { nameOf } from '../records/cache_key.js';
import { erasedError } from '../records/failures.js';
import type { PinnedChanges } from '../records/pins.js';
import {
  type Base,
  hasOperations,
  type Refusal,
  type SessionRecord,
} from '../records/session_record.js';
import { forEachOf, Turns } from '../records/turns.js';
import type { Bounds } from './bounds.js';
import type { CacheContext } from './context.js';
import { confirmedUntil, type MadeCopy, type NewCopy } from './local_copies.js';
import { type CopyHead, isDescribed } from './local_copy_reader.js';
import type { RemoteSession } from './remote_end.js';
import { difference, rebase } from './writes.js';

/** The most attempts, if other tabs change the copy again and again. */
const MAX_ATTEMPTS = 100;

/** The most copies that are brought up to the remote at once. */
const MOST_AT_ONCE = 8;

/** The least events of a copy that does not have all. */
const SMALLEST_WINDOW = 100;

export interface FetchParts extends CacheContext {
  readonly bounds: Bounds;
}

interface FetchRequest {
  readonly key: CompositeSessionKey;
  /** The newest events that the copy must have at least. */
  readonly need: number;
  /** Whether the remote is asked also if there is such a copy by then. */
  readonly isRevalidation: boolean;
}

/** Brings copies of sessions up to the remote. */
export class Fetch {
  readonly #parts: FetchParts;
  /** The fetches and other work of each session, one after the other. */
  readonly turns = new Turns<FetchRequest>((requests) =>
    this.#run({
      key: requests[0].key,
      need: Math.max(...requests.map(({ need }) => need)),
      isRevalidation: requests.some(({ isRevalidation }) => isRevalidation),
    }),
  );

  constructor(parts: FetchParts) {
    this.#parts = parts;
  }

  /**
   * Brings a copy up to the remote, or makes it. Calls that come before it begins share it.
   *
   * @param need the newest events that the copy must have at least
   */
  copy(key: CompositeSessionKey, need = 0): Promise<void> {
    return this.turns.call(nameOf(key), { key, need, isRevalidation: true });
  }

  /**
   * Brings copies up to the remote, some at once.
   *
   * @param erasure once it fires, no other copy is fetched, so that none is made again
   * @throws SessionError the first failure, when the others have settled
   */
  copies(keys: readonly CompositeSessionKey[], erasure: HostAbortSignal): Promise<void> {
    return forEachOf(keys, MOST_AT_ONCE, async (key) => {
      if (erasure.aborted) throw erasedError();
      await this.copy(key);
    });
  }

  /** Makes a copy, or one with more events. Asks nothing if a fetch that was under way has made it. */
  require(key: CompositeSessionKey, need: number): Promise<void> {
    return this.turns.call(nameOf(key), { key, need, isRevalidation: false });
  }

  /** Like {@link copy}, for work that has the session's turn. */
  copyInTurn(key: CompositeSessionKey, need = 0): Promise<void> {
    return this.#run({ key, need, isRevalidation: true });
  }

  async #run(request: FetchRequest): Promise<void> {
    const { key } = request;
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const pinned = this.#parts.unsent.pins.collect(key, key);
      try {
        if (await this.#attempt(request, pinned)) return;
      } finally {
        pinned.stop();
      }
    }
    const id = JSON.stringify(key.sessionId);
    const message = `Other tabs changed the copy of session ${id} during each of ${MAX_ATTEMPTS} fetches.`;
    throw new SessionError('storage_failed', message, { storage: 'cache' });
  }

  /** @returns whether the copy is up to date; `false` if another tab changed it meanwhile */
  async #attempt(
    { key, need, isRevalidation }: FetchRequest,
    pinned: PinnedChanges,
  ): Promise<boolean> {
    const { local, unsent, remote, bounds } = this.#parts;
    const version = unsent.versionOf(nameOf(key));
    // The head first: a creation writes its record before the copy, so the record of a copy is never missed.
    const head = await local.head(key);
    const record = await local.recordFor(key, head?.created);
    const { base } = record;
    if (record.delete !== undefined) return true;
    if (!isRevalidation && base !== undefined && isEnough(base, need)) return true;
    const plan = planOf(head !== undefined, base, need);
    const remoteSession =
      plan === 'changes'
        ? await remote.changes(key, base!, pinned.clears)
        : await remote.session(key, plan === Infinity ? undefined : plan, pinned.clears);
    if (remoteSession === undefined) return this.#removeCopy(key, record, head, version);
    if (head === undefined) return this.#create(key, remoteSession, pinned);
    if (remoteSession.state !== undefined) {
      const isDone = await bounds.write(() =>
        this.#rebase(key, record, head, remoteSession, pinned),
      );
      if (!isDone) return false;
    }
    await this.#describe(key, head, remoteSession);
    return true;
  }

  /** Makes a copy, unless there is one, or the session is deleted here. */
  async make(
    key: CompositeSessionKey,
    copy: NewCopy,
    { deleted, erasure }: PinnedChanges,
  ): Promise<MadeCopy | undefined> {
    const { local, records, bounds } = this.#parts;
    if ((await records.session(key)).delete !== undefined) return undefined;
    if (erasure.aborted) throw erasedError();
    await bounds.write(() => records.register(key));
    const made = await bounds.write(() => local.create(key, copy));
    const isDeleted = erasure.aborted || deleted.has(nameOf(key));
    if (made === undefined || !isDeleted) return made;
    await local.deleteCreatedAt(key, made.base.copy);
    if (erasure.aborted) throw erasedError();
    return undefined;
  }

  async #create(
    key: CompositeSessionKey,
    remoteSession: RemoteSession,
    pinned: PinnedChanges,
  ): Promise<boolean> {
    const { local, records, bounds, feed, clock } = this.#parts;
    const events = remoteSession.events.map((event) => local.snapshot(event));
    const {
      created,
      revision,
      windowSize,
      title,
      labels,
      lastUpdateTime,
      state = {},
    } = remoteSession;
    const shared = await local.sharedStates(key);
    // Computed last: a write that begins meanwhile pins its keys.
    const delta = (): string => JSON.stringify(newDelta(events, state, shared, pinned.keys));
    const base = { created, revision, windowSize, usedAt: clock() };
    const copy = { events, delta, title, labels, lastUpdateTime, base };
    const made = await this.make(key, copy, pinned);
    if (made === undefined) return false;
    await bounds.write(() => records.writeBase(key, made.base, undefined));
    feed().publishCreated(key, made.created);
    return true;
  }

  async #rebase(
    key: CompositeSessionKey,
    { base }: SessionRecord,
    { created }: CopyHead,
    remoteSession: RemoteSession,
    pinned: PinnedChanges,
  ): Promise<boolean> {
    const { local, records } = this.#parts;
    const copy = await local.changedSince(key, created, base?.local ?? 0);
    if (copy === undefined) return false;
    const { revision, state, events: unsentEvents } = copy;
    const isOther = base !== undefined && base.created !== remoteSession.created;
    if (isOther && unsentEvents.length > 0) {
      await this.#parts.unsent.setAside(key, deletedOnRemote(key));
      return true;
    }
    const pinnedCount = pinned.keys.size;
    const rebased = rebase({
      remote: remoteSession.events.map((event) => local.snapshot(event)),
      remoteState: remoteSession.state ?? {},
      unsent: unsentEvents,
      localState: state,
      pinned: pinned.keys,
      isSame: isSameJson,
    });
    const isSame =
      rebased.delta === '{}' && remoteSession.events.length === 0 && !remoteSession.isWhole;
    if (isSame) {
      const same = this.baseOf(remoteSession, created, confirmedUntil(revision, unsentEvents));
      await records.writeBase(key, same, base);
      return true;
    }
    const isWritten = await local.replaceWithBase(
      key,
      {
        truncateAfter: remoteSession.isWhole ? 0 : (base?.local ?? 0),
        expectedRevision: revision,
        events: rebased.events,
        delta: rebased.delta,
      },
      { present: base, next: this.baseOf(remoteSession, created, 0) },
      rebased.unsentCount,
      // The delta would overwrite a key that was pinned since.
      () => pinned.keys.size === pinnedCount,
    );
    return isWritten === true;
  }

  /** Returns the base of a copy that equals the remote up to a local revision. */
  baseOf(
    { created, revision, windowSize }: Pick<RemoteSession, 'created' | 'revision' | 'windowSize'>,
    copy: number,
    local: number,
  ): Base {
    const usedAt = this.#parts.clock();
    return { id: newEventId(), created, revision, copy, local, windowSize, usedAt };
  }

  async #describe(
    key: CompositeSessionKey,
    head: CopyHead,
    remoteSession: RemoteSession,
  ): Promise<void> {
    const { local, unsent, feed } = this.#parts;
    const { title, labels } = remoteSession;
    if (isDescribed(head, title, labels)) return;
    // A title of an unsent event or change. The next fetch after it was sent compares again.
    if (unsent.has(nameOf(key)) || hasOperations(await local.recordFor(key, head.created))) return;
    await local.describe(key, title, labels);
    feed().publishUpdated(key);
  }

  /** Deletes the copy of a session that the remote does not have, or sets it aside. */
  async #removeCopy(
    key: CompositeSessionKey,
    record: SessionRecord,
    head: CopyHead | undefined,
    version: number,
  ): Promise<boolean> {
    const { local, records, feed, unsent } = this.#parts;
    const { create, base } = record;
    if (create !== undefined || head === undefined) return true;
    const copy = await local.changedSince(key, head.created, base?.local ?? 0);
    if (copy === undefined) return false;
    if (copy.events.length > 0 || hasOperations(record)) {
      await unsent.setAside(key, deletedOnRemote(key));
      return true;
    }
    if (!(await local.delete(key, { ...head, ...copy }))) return false;
    feed().publishDeleted(key, undefined);
    await records.removeCopy(key, head.created, record);
    unsent.remove(nameOf(key), version);
    return true;
  }
}

/** The changes since the base, or a session with so many of its newest events; `Infinity`: with all. */
export type FetchPlan = 'changes' | number;

/**
 * @param hasCopy whether there is a copy; without a base, it was created here
 * @param need the newest events that the copy must have at least
 */
export function planOf(hasCopy: boolean, base: Base | undefined, need: number): FetchPlan {
  if (!hasCopy) return Math.max(need, SMALLEST_WINDOW);
  if (base === undefined) return Infinity;
  // Without revisions, the remote cannot tell what has changed.
  if (base.created !== null && isEnough(base, need)) return 'changes';
  return Math.max(need, base.windowSize ?? Infinity, SMALLEST_WINDOW);
}

/** Whether a copy with this base has so many of the newest events, and equals the remote at the base's revision. */
export function isEnough({ windowSize = Infinity, isStale }: Base, need: number): boolean {
  return isStale !== true && need <= windowSize;
}

/** The delta of a new copy: the remote's state, whatever the deltas of the events make of the session's own. */
function newDelta(
  events: readonly EventSnapshot[],
  state: StateShape,
  shared: StateShape,
  pinned: ReadonlySet<string>,
): StateShape {
  const written = events.flatMap(({ delta }) => Object.keys(delta)).filter((key) => !isShared(key));
  // Any value that differs from every value of a state, so that each key is in the difference.
  const own = Object.fromEntries(written.map((key) => [key, undefined]));
  const delta = difference({ ...shared, ...own }, state);
  for (const key of pinned) delete delta[key];
  return delta;
}

/** Returns why unsent changes are set aside: the remote does not have the session (any more). */
export function deletedOnRemote({ sessionId }: CompositeSessionKey): Refusal {
  const message = `Session ${JSON.stringify(sessionId)} was deleted on the remote before its changes were sent.`;
  return { code: 'not_found', message };
}
