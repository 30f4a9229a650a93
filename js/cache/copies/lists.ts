import type { CompositeSessionKey } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { StateOwner } from '../../storage/scopes.js';
import type { ListedSession } from '../../storage/session_store.js';
import { nameOf } from '../records/cache_key.js';
import { erasedError, isRefusal } from '../records/failures.js';
import type { PinnedChanges } from '../records/pins.js';
import { prefixOf } from '../records/records.js';
import {
  type Base,
  FETCHED,
  LISTED,
  type OwnerRecords,
  recordOf,
  withoutPrefix,
} from '../records/session_record.js';
import { Turns } from '../records/turns.js';
import type { Fetch, FetchParts } from './fetch.js';
import { isDescribed } from './local_copy_reader.js';
import { isCleared, remoteRevision } from './remote_end.js';
import { difference } from './writes.js';

export interface ListParts extends FetchParts {
  readonly fetch: Fetch;
}

/** Brings lists of sessions, and the states of users and apps, up to the remote. */
export class Lists {
  readonly #parts: ListParts;
  /** The fetches of each list and of each state, one after the other. */
  readonly turns = new Turns<() => Promise<void>>(([fetch]) => fetch());

  constructor(parts: ListParts) {
    this.#parts = parts;
  }

  /**
   * Brings the copies of a user, or of all users of an app, up to the remote's list. A session without a copy gets one
   * without events. Calls meanwhile share it.
   */
  fetch(owner: StateOwner): Promise<void> {
    return this.turns.call(`list ${nameOf(owner)}`, () => this.#fetch(owner));
  }

  /** Brings the state of a user or an app up to the remote. */
  fetchState(owner: StateOwner): Promise<void> {
    return this.turns.call(`state ${nameOf(owner)}`, () => this.#fetchState(owner));
  }

  /**
   * Does the same, but returns `false` if the remote refuses the request. `adk api_server` shows states only through
   * sessions, and another server may not let the user read the state of the app.
   */
  async fetchShownState(owner: StateOwner): Promise<boolean> {
    try {
      await this.fetchState(owner);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
  }

  async hasState(owner: StateOwner): Promise<boolean> {
    return (await this.#parts.records.read(owner))[FETCHED] !== undefined;
  }

  async #fetch(owner: StateOwner): Promise<void> {
    const pinned = this.#parts.unsent.pins.collect(owner);
    try {
      await this.#fetchList(owner, pinned);
    } finally {
      pinned.stop();
    }
  }

  async #fetchList({ appName, userId }: StateOwner, pinned: PinnedChanges): Promise<void> {
    const { local, remote, records, fetch, bounds, maxSessions, clock } = this.#parts;
    const list = await remote.list({ appName, userId }, maxSessions);
    const keyOf = ({ userId, sessionId }: Pick<ListedSession, 'userId' | 'sessionId'>) => {
      return { appName, userId, sessionId };
    };
    const copies = await local.list(appName, userId);
    const unlisted = new Map(copies.map((copy) => [nameOf(keyOf(copy)), copy]));
    const users = new Map<string, OwnerRecords>();
    const changed: CompositeSessionKey[] = [];
    const firstBases: (readonly [CompositeSessionKey, Base])[] = [];
    for (const session of list.sessions) {
      const { userId, sessionId, created, revision, title = '', labels = '' } = session;
      const key = keyOf(session);
      const name = nameOf(key);
      const copy = unlisted.get(name);
      unlisted.delete(name);
      const all = users.get(userId) ?? (await records.read(key));
      users.set(userId, all);
      const { base, delete: deletion } = recordOf(all, sessionId);
      if (deletion !== undefined || pinned.deleted.has(name)) continue;
      if (pinned.deletedUsers.has(nameOf({ appName, userId }))) continue;
      if (copy === undefined) {
        const base = await this.#createEmpty(key, session, pinned);
        if (base !== undefined) firstBases.push([key, base]);
        continue;
      }
      // A copy that is behind its record is damaged. To fetch it fails, so the list comes from the remote.
      const isSound = base !== undefined && base.local <= copy.revision;
      const isSame = isSound && base.created === created && base.revision === revision;
      if (!isSame || !isDescribed(copy, title, labels)) changed.push(key);
    }
    await bounds.write(() =>
      Promise.all(firstBases.map(([key, base]) => records.writeBase(key, base, undefined))),
    );
    // Before the sessions, which are read later: their shared values are newer than those of the list.
    await this.#takeState({ appName, userId: undefined }, list.appState, pinned);
    if (userId !== undefined) await this.#takeState({ appName, userId }, list.userState, pinned);
    if (list.isWhole) changed.push(...[...unlisted.values()].map(keyOf));
    await fetch.copies(changed, pinned.erasure);
    await bounds.write(() => records.change({ appName, userId }, () => ({ [LISTED]: clock() })));
  }

  /** Fetches a state, or takes it from a list if the remote refuses that. */
  async #takeState(
    owner: StateOwner,
    listed: StateShape | undefined,
    pinned: PinnedChanges,
  ): Promise<void> {
    if ((await this.fetchShownState(owner)) || listed === undefined) return;
    if (pinned.erasure.aborted) throw erasedError();
    if (isCleared(prefixOf(owner), pinned.clears)) return;
    await this.#writeState(owner, listed, pinned);
  }

  /** Makes a copy without events. Returns its first base, or `undefined` if no copy was made. */
  async #createEmpty(
    key: CompositeSessionKey,
    { created, revision, lastUpdateTime, state, title = '', labels = '' }: ListedSession,
    pinned: PinnedChanges,
  ): Promise<Base | undefined> {
    const { fetch, feed } = this.#parts;
    const revisions = remoteRevision(created, revision, lastUpdateTime);
    const base = { ...revisions, windowSize: 0, usedAt: lastUpdateTime };
    const copy = { events: [], delta: () => state, title, labels, lastUpdateTime, base };
    const made = await fetch.make(key, copy, pinned);
    if (made === undefined) return undefined;
    feed().publishCreated(key, made.created);
    return made.base;
  }

  async #fetchState(owner: StateOwner): Promise<void> {
    const { remote, records, unsent, clock } = this.#parts;
    const pinned = unsent.pins.collect(owner);
    try {
      await this.#writeState(owner, await remote.sharedState(owner, pinned.clears), pinned);
      if (!(await this.hasState(owner)))
        await records.change(owner, () => ({ [FETCHED]: clock() }));
    } finally {
      pinned.stop();
    }
  }

  /** Makes a local state equal to the remote's, except the keys that are unsent. */
  async #writeState(owner: StateOwner, target: StateShape, pinned: PinnedChanges): Promise<void> {
    const { local, records, feed } = this.#parts;
    await records.register(owner);
    const prefix = prefixOf(owner);
    let isChanged = false;
    const shared = await local.updateState(owner, (all) => {
      const delta = Object.entries(difference(withoutPrefix(all, prefix), target))
        .map(([key, value]) => [prefix + key, value] as const)
        .filter(([key]) => !pinned.keys.has(key));
      isChanged = delta.length > 0;
      return JSON.stringify(Object.fromEntries(delta));
    });
    if (isChanged) feed().publishStateChanged(owner, shared);
  }
}
