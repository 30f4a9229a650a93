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
import type { CacheFailure, CacheKey } from './status.js';

/** Calls a store, as a promise. */
export type CallStore = <T>(run: (store: SessionStore) => MaybePromise<T>) => Promise<T>;

export function callerOf(core: ServiceCore): CallStore {
  return async (run) => core.callStore(undefined, run);
}

/** The remote's session, as a copy was last brought up to it. */
export interface Base {
  /** Another one for each change, so that two tabs do not overwrite each other's. */
  readonly id: string;
  /** The remote's revision that created the session. `null` if the remote has no revisions. */
  readonly created: number | null;
  /** The remote's revision; its time of the last update if it has no revisions. */
  readonly revision: number;
  /** The local revision that created the copy. A later copy of the same id has another one. */
  readonly copy: number;
  /** The local revision up to which everything is the remote's. Later changes are unsent. */
  readonly local: number;
  /** The number of newest events that the copy was made with. Absent: it has all. */
  readonly held?: number;
  /** Whether the copy's state may differ from the remote's although the revision is the same. */
  readonly isStale?: boolean;
  /** When the copy was last used, in milliseconds. */
  readonly usedAt: number;
}

/** An operation that is no event. Its id tells whether it is still the one that was sent. */
export interface Noted<Value> {
  readonly id: string;
  readonly value: Value;
}

/** What the remote has to create. */
export interface Creation {
  readonly state: string;
  readonly delta: string;
  /** The number of events that the session was created with. */
  readonly events: number;
  readonly title?: string | undefined;
  readonly labels?: string | undefined;
  readonly lastUpdateTime?: number | undefined;
  readonly sharesState: boolean;
  /** The local revision that created the copy. Absent until the copy is made. */
  readonly copy?: number;
}

export interface Refusal extends CacheFailure {
  readonly eventId?: string;
}

/** The records of one session, by kind. */
export interface SessionRecord {
  readonly base?: Base;
  readonly create?: Noted<Creation>;
  readonly title?: Noted<string>;
  readonly labels?: Noted<string>;
  readonly delete?: Noted<true>;
  readonly refused?: Refusal;
}

export const KINDS = ['base', 'create', 'title', 'labels', 'delete', 'refused'] as const;
export type Kind = (typeof KINDS)[number];

/** The records of a user or an app: of sessions as `kind sessionId`, and those below. */
export type OwnerRecords = Readonly<Record<string, unknown>>;

/** When the list of sessions, or the state, was fetched: a time. */
export const LISTED = 'listed';
export const FETCHED = 'fetched';
/** Why the changes of the shared state were refused. */
export const STATE_REFUSED = 'state refused';
/** An unsent value of a key of a shared state: `set user:key`. */
export const SET = 'set ';
/** An unsent deletion: `clear user`, `clear userState` or `clear appState`. */
export const CLEAR = 'clear ';

/** The changes of records by key. `undefined` removes. */
export type RecordChanges = Readonly<Record<string, unknown>>;

export function noted<Value>(value: Value): Noted<Value> {
  return { id: newEventId(), value };
}

export function nameOf({ appName, userId, sessionId }: CacheKey): string {
  return JSON.stringify([appName, userId ?? null, sessionId ?? null]);
}

export function keyOfName(name: string): CacheKey {
  const [appName, userId, sessionId] = JSON.parse(name) as [string, string | null, string | null];
  return {
    appName,
    ...(userId !== null && { userId }),
    ...(sessionId !== null && { sessionId }),
  };
}

/** Whether the records of a session say that there is something to send, besides its events. */
export function hasOperations(record: SessionRecord): boolean {
  const { create, title, labels, delete: deletion } = record;
  return [create, title, labels, deletion].some((operation) => operation !== undefined);
}

/** Whether nothing of a copy waits, or was set aside. A missing copy has nothing but its records. */
export function isSent(
  record: SessionRecord,
  copy: { readonly created: number; readonly revision: number } | undefined,
): boolean {
  const { base, refused } = record;
  const isConfirmed = base?.copy === copy?.created && base?.local === copy?.revision;
  return isConfirmed && refused === undefined && !hasOperations(record);
}

/** Returns the records of one session. */
export function recordOf(records: OwnerRecords, sessionId: string): SessionRecord {
  const entries = KINDS.map((kind) => [kind, records[`${kind} ${sessionId}`]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as SessionRecord;
}

/** Returns the ids of the sessions that have records. */
export function recordedIds(records: OwnerRecords): Set<string> {
  const ids = new Set<string>();
  for (const name of Object.keys(records)) {
    const kind = KINDS.find((kind) => name.startsWith(`${kind} `));
    if (kind !== undefined) ids.add(name.slice(kind.length + 1));
  }
  return ids;
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
    await this.#register(owner);
    const { appName, userId } = this.#placeOf(owner);
    const text = deltaOf(changes, prefixOf(owner));
    await this.#local((store) => store.update(appName, userId, text, {}));
  }

  /** Writes what a function computes from the records, in one transaction. It may run again. */
  async change(
    owner: StateOwner,
    compute: (records: OwnerRecords) => RecordChanges,
  ): Promise<void> {
    await this.#register(owner);
    await this.#compute(this.#placeOf(owner), compute);
  }

  /** Writes records of a session; `undefined` removes. */
  writeSession(
    key: CompositeSessionKey,
    changes: { readonly [Name in Kind]?: SessionRecord[Name] | undefined },
  ): Promise<void> {
    return this.write(ownerOf(key), ofSession(key, changes));
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
    others: RecordChanges = {},
  ): Promise<boolean> {
    let isNoted = false;
    await this.change(ownerOf(key), (records) => {
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
      const missing = [...bases].filter(([sessionId, { copy }]) => {
        return (recordOf(records, sessionId).base?.copy ?? 0) < copy;
      });
      return Object.fromEntries(missing.map(([sessionId, base]) => [`base ${sessionId}`, base]));
    });
  }

  /** Notes that a copy differs from the remote, whatever base it has. It is then fetched as a whole. */
  async markStale(key: CompositeSessionKey, copy: number): Promise<void> {
    await this.change(ownerOf(key), (records) => {
      const { base } = recordOf(records, key.sessionId);
      if (base?.copy !== copy) return {};
      return ofSession(key, { base: { ...base, id: newEventId(), isStale: true } });
    });
  }

  /** Removes what is noted of a copy that is gone. What a new copy of the same id has written stays. */
  async removeCopy(
    key: CompositeSessionKey,
    copy: number | undefined,
    sent: SessionRecord,
    others: RecordChanges = {},
  ): Promise<void> {
    await this.change(ownerOf(key), (records) => {
      const present = recordOf(records, key.sessionId);
      const kinds = (['create', 'title', 'labels'] as const).filter(
        (kind) => sent[kind] !== undefined && present[kind]?.id === sent[kind].id,
      );
      const isBase = copy !== undefined && present.base?.copy === copy;
      const gone = [...kinds, ...(isBase ? ['base', 'refused'] : [])];
      const removed = Object.fromEntries(gone.map((kind) => [kind, undefined]));
      return ofSession(key, { ...removed, ...others });
    });
  }

  /** Removes records if they are still those that were sent. */
  async remove(owner: StateOwner, sent: Readonly<Record<string, Noted<unknown> | undefined>>) {
    await this.change(owner, (records) => {
      const names = Object.keys(sent).filter((name) => {
        const id = sent[name]?.id;
        return id !== undefined && (records[name] as Noted<unknown> | undefined)?.id === id;
      });
      return Object.fromEntries(names.map((name) => [name, undefined]));
    });
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
  async #register({ appName, userId }: StateOwner): Promise<void> {
    const names = [nameOf({ appName }), ...(userId === undefined ? [] : [nameOf({ appName, userId })])]; // prettier-ignore
    const missing = names.filter((name) => !this.#registered.has(name));
    if (missing.length === 0) return;
    // A name that is too long is never noted: every later visit would fail to read its records.
    requireId('appName', this.#placeOf({ appName }).appName);
    const delta = deltaOf(Object.fromEntries(missing.map((name) => [name, true])), 'user:');
    await this.#local((store) => store.update(this.ownApp, 'owners', delta, {}));
    for (const name of missing) this.#registered.add(name);
  }

  /** Called when another tab has erased everything. */
  forgetOwners(): void {
    this.#registered.clear();
  }

  /** Makes the user known to `owners`. */
  register(owner: StateOwner): Promise<void> {
    return this.#register(owner);
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

/** The owner of a session's records. */
export function ownerOf({ appName, userId }: CacheKey): StateOwner {
  return { appName, userId };
}

/** Returns the changes of a session's records by their names. */
export function ofSession(
  { sessionId }: CompositeSessionKey,
  changes: RecordChanges,
): RecordChanges {
  const entries = Object.entries(changes);
  return Object.fromEntries(entries.map(([kind, value]) => [`${kind} ${sessionId}`, value]));
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
