/**
 * What a cache records beside the copies, in the same local storage: as the state of a user, in an app of its own. Each
 * change is computed in its transaction, so tabs do not overwrite each other's records.
 */
import { Computation } from '../../append/computation.js';
import type { MaybePromise } from '../../call/call.js';
import { requireId } from '../../model/values/ids.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { ServiceCore } from '../../service/service_core.js';
import { REMOVED } from '../../state/scope.js';
import type { SessionStore } from '../../storage/session_store.js';
import type { StateOwner } from '../../storage/scopes.js';
import { keyOfName, nameOf } from './cache_key.js';
import {
  type Base,
  type Creation,
  type Operation,
  ofSession,
  type OwnerRecords,
  type RecordChanges,
  recordOf,
  removalsOf,
  type SessionRecord,
  staleBase,
  withoutPrefix,
} from './session_record.js';
import { Turns } from './turns.js';

/** Calls a store, as a promise. */
export type CallStore = <T>(run: (store: SessionStore) => MaybePromise<T>) => Promise<T>;

export function callerOf(core: ServiceCore): CallStore {
  return async (run) => core.callStore(undefined, run);
}

/** Computes a change from the records, in which a member that is `undefined` is absent. */
type Compute = (records: OwnerRecords) => RecordChanges;

interface Change {
  /** The app and the user that hold the records. */
  readonly owner: StateOwner;
  readonly compute: Compute;
}

/** Reads and writes the records of one owner's cache. */
export class Records {
  readonly #local: CallStore;
  readonly #owner: string;
  readonly #registered = new Set<string>();
  /** The last text of records that was read, and its value. */
  #last: readonly [text: string, records: OwnerRecords] = ['{}', {}];
  readonly #reads = new Turns<StateOwner, OwnerRecords>(([owner]) => this.#read(owner));
  readonly #changes = new Turns<Change>((changes) => this.#compute(changes));

  constructor(local: CallStore, owner: string) {
    this.#local = local;
    this.#owner = owner;
  }

  /** Returns the name of the app that holds the copies of an app. */
  appOf(appName: string): string {
    return JSON.stringify([this.#owner, appName]);
  }

  /** Returns a message of the local storage with the names of apps that callers know. */
  withAppNames(message: string): string {
    const [before = '', ...parts] = message.split(JSON.stringify([this.#owner]).slice(0, -1) + ',');
    const named = parts.map((part) =>
      part.replace(/^("(?:[^"\\]|\\.)*")\]/, (_, name: string) => JSON.parse(name) as string),
    );
    return before + named.join('');
  }

  /** The app that holds what concerns the cache as a whole. */
  get ownApp(): string {
    return JSON.stringify([this.#owner]);
  }

  /** Reads the records. Calls that come while they are being read share the next read. */
  read({ appName, userId }: StateOwner): Promise<OwnerRecords> {
    const owner = { appName, userId };
    return this.#reads.call(nameOf(owner), owner);
  }

  async #read(owner: StateOwner): Promise<OwnerRecords> {
    const place = this.#placeOf(owner);
    const text = await this.#local((store) => store.sharedState(place, {}));
    const [lastText, last] = this.#last;
    if (text === lastText) return last;
    const records = JSON.parse(text) as OwnerRecords;
    this.#last = [text, records];
    return records;
  }

  async session(key: CompositeSessionKey): Promise<SessionRecord> {
    return recordOf(await this.read(key), key.sessionId);
  }

  /**
   * Writes what a function computes from the records, in one transaction. It may run again. Calls that come while
   * another one is written share the next transaction.
   */
  async change({ appName, userId }: StateOwner, compute: Compute): Promise<void> {
    const owner = { appName, userId };
    await this.register(owner);
    await this.#changes.call(nameOf(owner), { owner: this.#placeOf(owner), compute });
  }

  /** Changes members of a session's record; `undefined` removes. */
  changeSession(
    key: CompositeSessionKey,
    compute: (record: SessionRecord) => SessionRecord,
  ): Promise<void> {
    return this.change(key, (all) =>
      ofSession(all, key.sessionId, compute(recordOf(all, key.sessionId))),
    );
  }

  /**
   * Writes a base of a session that the remote has, and removes the record of its creation. If another tab has recorded a base
   * since `before` was read, the other tab's base stays.
   *
   * @param before the base that the new one was computed from
   * @param sent the creation that the remote has accepted. If another tab has changed or dropped an event meanwhile, the
   *   recorded creation has another id. Then the new base is stale, so that the whole copy is fetched.
   * @returns whether the new base was recorded
   */
  async writeBase(
    key: CompositeSessionKey,
    base: Base,
    before: Base | undefined,
    sent?: Operation<Creation>,
  ): Promise<boolean> {
    let isWritten = false;
    await this.changeSession(key, ({ base: present, create }) => {
      isWritten = false;
      if (Math.max(present?.copy ?? 0, create?.value.copy ?? 0) > base.copy) return {};
      const current = present?.copy === base.copy ? present : undefined;
      isWritten = current?.id === before?.id;
      if (!isWritten) return { create: undefined };
      const isChanged = sent !== undefined && sent.id !== create?.id;
      return { create: undefined, base: isChanged ? { ...base, isStale: true } : base };
    });
    return isWritten;
  }

  /** Marks the present base of a copy as stale, so that the next fetch reads the whole session. */
  async markStale(key: CompositeSessionKey): Promise<void> {
    await this.changeSession(key, ({ base }) => ({
      base: base && staleBase(base),
    }));
  }

  /**
   * Removes the record of a copy that is gone. The record of a new copy of the same session stays.
   *
   * @param copy the local revision that created the copy
   * @param record the operations to remove
   * @param additions members to write in the same transaction
   */
  async removeCopy(
    key: CompositeSessionKey,
    copy: number | undefined,
    record: SessionRecord,
    additions: SessionRecord = {},
  ): Promise<void> {
    await this.changeSession(key, (present) => {
      const isBase = copy !== undefined && present.base?.copy === copy;
      return {
        ...removalsOf(present, record),
        ...(isBase && { base: undefined, refused: undefined, size: undefined }),
        ...additions,
      };
    });
  }

  /** Removes operations of a session, if they are still those that were sent. */
  async removeSent(key: CompositeSessionKey, sent: SessionRecord): Promise<void> {
    await this.changeSession(key, (present) => removalsOf(present, sent));
  }

  /** Computes a change of what concerns the cache as a whole, in one transaction. */
  async changeOwn(compute: Compute): Promise<void> {
    await this.#compute([{ owner: { appName: this.ownApp, userId: undefined }, compute }]);
  }

  /** Lists the users of the apps that the owner has used, and the apps. */
  async owners(): Promise<StateOwner[]> {
    const place = { appName: this.ownApp, userId: 'owners' };
    const text = await this.#local((store) => store.sharedState(place, {}));
    return Object.keys(JSON.parse(text) as object).map(keyOfName);
  }

  /** Whether another tab has erased what this tab has stored. */
  async areErased(): Promise<boolean> {
    return this.#registered.size > 0 && (await this.owners()).length === 0;
  }

  /**
   * Deletes all records and copies of the owner.
   *
   * @param others users and apps to delete too, also if they are no longer stored as known
   * @returns the users and apps that it has deleted
   */
  async erase(others: readonly StateOwner[] = []): Promise<StateOwner[]> {
    const { ownApp } = this;
    const owners = [...others, ...(await this.owners())];
    for (const { appName, userId } of owners) {
      for (const app of [this.appOf(appName), this.#placeOf({ appName }).appName]) {
        if (userId === undefined) await this.#delete({ what: 'appState', key: { appName: app } });
        else await this.#delete({ what: 'user', key: { appName: app, userId } });
      }
    }
    await this.#delete({ what: 'appState', key: { appName: ownApp } });
    await this.#delete({ what: 'userState', key: { appName: ownApp, userId: 'owners' } });
    this.#registered.clear();
    return owners;
  }

  #delete(request: Parameters<SessionStore['delete']>[0]): Promise<unknown> {
    return this.#local((store) => store.delete(request, {}));
  }

  /** Records the user before anything of the user is stored, so that `erase` and a later visit know. */
  async register({ appName, userId }: StateOwner): Promise<void> {
    const names = [nameOf({ appName })];
    if (userId !== undefined) names.push(nameOf({ appName, userId }));
    const missing = names.filter((name) => !this.#registered.has(name));
    if (missing.length === 0) return;
    // A name that is too long is never recorded: every later visit would fail to read its records.
    requireId('appName', this.#placeOf({ appName }).appName);
    const delta = deltaOf(Object.fromEntries(missing.map((name) => [name, true])), 'user:');
    await this.#local((store) => store.update(this.ownApp, 'owners', delta, {}));
    for (const name of missing) this.#registered.add(name);
  }

  /** Called when the local data is gone. */
  forgetOwners(): void {
    this.#registered.clear();
  }

  #placeOf({ appName, userId }: StateOwner): StateOwner {
    return { appName: `${this.appOf(appName)} records`, userId };
  }

  /** Makes changes of one owner's records in one transaction. Each is computed from what those before it have made. */
  async #compute(changes: readonly [Change, ...Change[]]): Promise<void> {
    const { appName, userId } = changes[0].owner;
    const prefix = prefixOf({ userId });
    const computeAll = (state: OwnerRecords): RecordChanges => {
      const records = withoutPrefix(state, prefix);
      const changed: Record<string, unknown> = {};
      for (const { compute } of changes) {
        const own = compute(records);
        Object.assign(records, own);
        Object.assign(changed, own);
      }
      return changed;
    };
    const take = (changed: unknown): string => deltaOf(changed as RecordChanges, prefix);
    const computation = Computation.of(computeAll, take, { isComputing: false })!;
    await this.#local((store) => store.update(appName, userId, computation.run, {}));
    await computation.finish(() => undefined);
  }
}

export function prefixOf({ userId }: Pick<StateOwner, 'userId'>): string {
  return userId === undefined ? 'app:' : 'user:';
}

function deltaOf(changes: RecordChanges, prefix: string): string {
  const entries = Object.entries(changes);
  return JSON.stringify(
    Object.fromEntries(entries.map(([name, value]) => [prefix + name, value ?? REMOVED])),
  );
}
