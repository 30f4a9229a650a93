/**
 * What a cache notes beside the copies, in the same local storage: as the state of a user, in an app of its own. Each
 * key is written atomically, so tabs do not overwrite each other's records.
 */
import { Computation } from '../../append/computation.js';
import type { MaybePromise } from '../../call/call.js';
import { newEventId } from '../../model/event/create_event.js';
import { requireId } from '../../model/ids.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { ServiceCore } from '../../service/service_core.js';
import { REMOVED } from '../../state/scope.js';
import type { SessionStore } from '../../storage/session_store.js';
import type { StateOwner } from '../../storage/scopes.js';
import {
  type Base,
  keyOfName,
  nameOf,
  type Noted,
  ofSession,
  type OwnerRecords,
  type RecordChanges,
  recordOf,
  type SessionChanges,
  type SessionRecord,
} from './session_record.js';

/** Calls a store, as a promise. */
export type CallStore = <T>(run: (store: SessionStore) => MaybePromise<T>) => Promise<T>;

export function callerOf(core: ServiceCore): CallStore {
  return async (run) => core.callStore(undefined, run);
}

/** Reads and writes the records of one owner's cache. */
export class Records {
  readonly #local: CallStore;
  readonly #owner: string;
  readonly #registered = new Set<string>();
  /** The last text of records that was read, and its value. */
  #last: readonly [text: string, records: OwnerRecords] = ['{}', {}];

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

  async read(owner: StateOwner): Promise<OwnerRecords> {
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

  async write(owner: StateOwner, changes: RecordChanges): Promise<void> {
    await this.register(owner);
    const { appName, userId } = this.#placeOf(owner);
    const text = deltaOf(changes, prefixOf(owner));
    await this.#local((store) => store.update(appName, userId, text, {}));
  }

  /** Writes what a function computes from the records, in one transaction. It may run again. */
  async change(
    owner: StateOwner,
    compute: (records: OwnerRecords) => RecordChanges,
  ): Promise<void> {
    await this.register(owner);
    await this.#compute(this.#placeOf(owner), compute);
  }

  /** Writes records of a session; `undefined` removes. */
  writeSession(key: CompositeSessionKey, changes: SessionChanges): Promise<void> {
    return this.write(key, ofSession(key, changes));
  }

  /**
   * Notes a base in place of the one that it was computed from. Returns whether it stands. If another tab has noted
   * one meanwhile, that one stays.
   *
   * @param before the base that was read
   */
  async writeBase(
    key: CompositeSessionKey,
    base: Base,
    before: Base | undefined,
    others: SessionChanges = {},
  ): Promise<boolean> {
    let isNoted = false;
    await this.change(key, (records) => {
      const { base: present, create } = recordOf(records, key.sessionId);
      isNoted = false;
      if (Math.max(present?.copy ?? 0, create?.value.copy ?? 0) > base.copy) return {};
      const current = present?.copy === base.copy ? present : undefined;
      isNoted = current?.id === before?.id;
      return ofSession(key, { ...others, ...(isNoted && { base }) });
    });
    return isNoted;
  }

  /** Notes the bases of new copies, by the ids of the sessions. One that another tab has noted meanwhile stays. */
  async addBases(owner: StateOwner, bases: ReadonlyMap<string, Base>): Promise<void> {
    await this.change(owner, (records) => {
      const missing = [...bases].filter(
        ([sessionId, { copy }]) => (recordOf(records, sessionId).base?.copy ?? 0) < copy,
      );
      return Object.assign(
        {},
        ...missing.map(([sessionId, base]) => ofSession({ sessionId }, { base })),
      ) as RecordChanges;
    });
  }

  /** Notes that a copy differs from the remote, whatever base it has. It is then fetched as a whole. */
  async markStale(key: CompositeSessionKey, copy?: number): Promise<void> {
    await this.change(key, (records) => {
      const { base } = recordOf(records, key.sessionId);
      const isOther = copy !== undefined && base?.copy !== copy;
      if (base === undefined || isOther) return {};
      return ofSession(key, { base: { ...base, id: newEventId(), isStale: true } });
    });
  }

  /** Removes what is noted of a copy that is gone. What a new copy of the same id has written stays. */
  async removeCopy(
    key: CompositeSessionKey,
    copy: number | undefined,
    { create, title, labels }: SessionRecord,
    others: SessionChanges = {},
  ): Promise<void> {
    await this.change(key, (records) => {
      const present = recordOf(records, key.sessionId);
      const isBase = copy !== undefined && present.base?.copy === copy;
      return {
        ...unchanged(records, ofSession(key, { create, title, labels })),
        ...ofSession(key, {
          ...(isBase && { base: undefined, refused: undefined, size: undefined }),
          ...others,
        }),
      };
    });
  }

  /** Removes operations, by the names of their records, if they are still those that were sent. */
  async remove(owner: StateOwner, sent: RecordChanges): Promise<void> {
    await this.change(owner, (records) => unchanged(records, sent));
  }

  /** Computes a change of what concerns the cache as a whole, in one transaction. */
  async changeOwn(compute: (records: OwnerRecords) => RecordChanges): Promise<void> {
    await this.#compute({ appName: this.ownApp, userId: 'cache' }, compute);
  }

  /** Lists the users of the apps that the owner has used, and the apps. */
  async owners(): Promise<StateOwner[]> {
    const place = { appName: this.ownApp, userId: 'owners' };
    const text = await this.#local((store) => store.sharedState(place, {}));
    return Object.keys(JSON.parse(text) as object).map(keyOfName);
  }

  /** Deletes all records and copies of the owner. */
  async erase(): Promise<void> {
    const { ownApp } = this;
    for (const { appName, userId } of await this.owners()) {
      for (const app of [this.appOf(appName), this.#placeOf({ appName }).appName]) {
        if (userId === undefined) await this.#delete({ what: 'appState', key: { appName: app } });
        else await this.#delete({ what: 'user', key: { appName: app, userId } });
      }
    }
    await this.#delete({ what: 'userState', key: { appName: ownApp, userId: 'cache' } });
    await this.#delete({ what: 'userState', key: { appName: ownApp, userId: 'owners' } });
    this.#registered.clear();
  }

  #delete(request: Parameters<SessionStore['delete']>[0]): Promise<unknown> {
    return this.#local((store) => store.delete(request, {}));
  }

  /** Notes the user before anything of the user is stored, so that `erase` and a later visit know. */
  async register({ appName, userId }: StateOwner): Promise<void> {
    const names = [nameOf({ appName })];
    if (userId !== undefined) names.push(nameOf({ appName, userId }));
    const missing = names.filter((name) => !this.#registered.has(name));
    if (missing.length === 0) return;
    // A name that is too long is never noted: every later visit would fail to read its records.
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

  async #compute(
    { appName, userId }: StateOwner,
    compute: (records: OwnerRecords) => RecordChanges,
  ): Promise<void> {
    const prefix = prefixOf({ userId });
    const ofRecords = (state: OwnerRecords): RecordChanges => {
      const names = Object.keys(state).filter((name) => name.startsWith(prefix));
      const records = names.map((name) => [name.slice(prefix.length), state[name]] as const);
      return compute(Object.fromEntries(records));
    };
    const take = (changes: unknown): string => deltaOf(changes as RecordChanges, prefix);
    const computation = Computation.of(ofRecords, take)!;
    await this.#local((store) => store.update(appName, userId, computation.run, {}));
    await computation.finish(() => undefined);
  }
}

/** Returns the removals of those operations that are still as they were. */
function unchanged(records: OwnerRecords, sent: RecordChanges): RecordChanges {
  const names = Object.keys(sent).filter((name) => {
    const [operation, present] = [sent[name], records[name]] as (Noted<unknown> | undefined)[];
    return operation !== undefined && operation.id === present?.id;
  });
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function prefixOf({ userId }: Pick<StateOwner, 'userId'>): string {
  return userId === undefined ? 'app:' : 'user:';
}

function deltaOf(changes: RecordChanges, prefix: string): string {
  const entries = Object.entries(changes);
  return JSON.stringify(
    Object.fromEntries(entries.map(([name, value]) => [prefix + name, value ?? REMOVED])),
  );
}
