import { isSessionError } from '../../errors/errors.js';
import { newEventId } from '../../model/event/create_event.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { toRecord } from '../../read/listed_records.js';
import type { StateShape } from '../../state/state_shape.js';
import type { StateOwner } from '../../storage/scopes.js';
import type { ServiceFeed } from '../../watch/service_feed.js';
import type { Fetch } from './fetch.js';
import { isDescribed, type LocalCopies } from './local_copies.js';
import type { Pending, PinnedKeys } from '../records/pending.js';
import { difference } from './rebase.js';
import type { Records } from '../records/records.js';
import { type Base, FETCHED, LISTED, nameOf } from '../records/session_record.js';
import { type RemoteEnd, remoteRevision } from './remote_end.js';
import { forEachOf, Turns } from '../records/turns.js';

/** The most copies that are brought up to the remote at once. */
const MOST_AT_ONCE = 8;

export interface ListParts {
  readonly local: LocalCopies;
  readonly remote: RemoteEnd;
  readonly records: Records;
  readonly pending: Pending;
  readonly fetch: Fetch;
  readonly feed: () => ServiceFeed;
  readonly clock: () => number;
  /** The most sessions of a list. */
  readonly maxSessions: number;
}

/** Brings lists of sessions, and the states of users and apps, up to the remote. */
export class Lists {
  readonly turns = new Turns();
  readonly #parts: ListParts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: ListParts) {
    this.#parts = parts;
  }

  /**
   * Brings the copies of a user, or of all users of an app, up to the remote's list. A session without a copy gets one
   * without events. Calls meanwhile share it.
   */
  fetch(owner: StateOwner): Promise<void> {
    return this.#once(`list ${nameOf(owner)}`, () => this.#fetch(owner));
  }

  /** Brings the state of a user or an app up to the remote. */
  fetchState(owner: StateOwner): Promise<void> {
    return this.#once(`state ${nameOf(owner)}`, () => this.#fetchState(owner));
  }

  /** The same, unless the remote shows states only through sessions, as `adk api_server` does. */
  async fetchShownState(owner: StateOwner): Promise<void> {
    await this.fetchState(owner).catch((error: unknown) => {
      if (!isSessionError(error, 'unsupported')) throw error;
    });
  }

  async hasState(owner: StateOwner): Promise<boolean> {
    return (await this.#parts.records.read(owner))[FETCHED] !== undefined;
  }

  /** Waits until no work is left. */
  idle(): Promise<void> {
    return this.turns.idle();
  }

  #once(name: string, work: () => Promise<void>): Promise<void> {
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    const done = this.turns.run(name, () => {
      this.#running.delete(name);
      return work();
    });
    this.#running.set(name, done);
    return done;
  }

  async #fetch(owner: StateOwner): Promise<void> {
    const pinned = this.#parts.pending.collect(owner);
    try {
      await this.#fetchList(owner, pinned);
    } finally {
      pinned.stop();
    }
  }

  async #fetchList({ appName, userId }: StateOwner, pinned: PinnedKeys): Promise<void> {
    const { local, remote, records, fetch, maxSessions, clock } = this.#parts;
    const numbers = { limit: maxSessions, offset: undefined, page: undefined, withTotal: true };
    const page = { ...numbers, orderBy: 'lastUpdateTime', terms: undefined } as const;
    const read = await remote.ask((store, call) => store.list(appName, userId, true, page, call));
    const [listed, , , total] = read;
    const sessions = new Map(
      listed.map((record) => {
        const session = toRecord(record);
        const key = { appName, userId: session.userId, sessionId: session.sessionId };
        return [nameOf(key), { key, session }];
      }),
    );
    const copies = await local.list(appName, userId);
    const copied = new Set(copies.map((copy) => nameOf({ ...copy, appName })));
    const changed: CompositeSessionKey[] = [];
    const bases = new Map<string, Map<string, Base>>();
    for (const [name, { key, session }] of sessions) {
      const record = await records.session(key);
      if (record.delete !== undefined || pinned.deleted.has(name)) continue;
      const { created, revision } = session;
      if (copied.has(name)) {
        const { base } = record;
        const isSame = base !== undefined && base.created === created && base.revision === revision;
        if (!isSame || !(await this.#isDescribed(key, session))) changed.push(key);
        continue;
      }
      const time = Number(session.lastUpdateTime);
      await records.register(key);
      const made = await local.create(key, {
        events: [],
        delta: String(session.state),
        title: textOf(session.title),
        labels: textOf(session.labels),
        lastUpdateTime: time,
      });
      if (made === undefined) continue;
      if (pinned.deleted.has(name)) {
        await local.deleteMade(key, made[0]);
        continue;
      }
      const base: Base = {
        id: newEventId(),
        ...remoteRevision(Number(created), Number(revision), time),
        ...{ copy: made[0], local: made[1], held: 0, usedAt: time },
      };
      const { userId } = key;
      bases.set(userId, (bases.get(userId) ?? new Map<string, Base>()).set(key.sessionId, base));
      this.#parts.feed().publishCreated(appName, userId, key.sessionId, made);
    }
    for (const [userId, made] of bases) await records.addBases({ appName, userId }, made);
    if (total <= listed.length) {
      for (const { userId, sessionId } of copies) {
        const key = { appName, userId, sessionId };
        if (!sessions.has(nameOf(key))) changed.push(key);
      }
    }
    await forEachOf(changed, MOST_AT_ONCE, (key) => fetch.copy(key));
    await this.fetchShownState({ appName });
    if (userId !== undefined) await this.fetchShownState({ appName, userId });
    await records.write({ appName, userId }, { [LISTED]: clock() });
  }

  async #isDescribed(
    key: CompositeSessionKey,
    { title, labels }: { readonly title?: unknown; readonly labels?: unknown },
  ): Promise<boolean> {
    const head = await this.#parts.local.head(key);
    return head !== undefined && isDescribed(head, textOf(title), textOf(labels));
  }

  async #fetchState(owner: StateOwner): Promise<void> {
    const { local, remote, records, pending, feed, clock } = this.#parts;
    const pinned = pending.collect(owner);
    try {
      const text = await remote.ask((store, call) => store.sharedState(owner, call));
      const prefix = owner.userId === undefined ? 'app:' : 'user:';
      const target = JSON.parse(text) as StateShape;
      const shared = await local.updateState(owner, (all) => {
        const present = stripped(all, prefix);
        const delta = Object.entries(difference(present, target))
          .map(([key, value]) => [prefix + key, value] as const)
          .filter(([key]) => !pinned.keys.has(key));
        return JSON.stringify(Object.fromEntries(delta));
      });
      feed().stateChangePublisher(owner.appName, owner.userId)(shared);
      if (!(await this.hasState(owner))) await records.write(owner, { [FETCHED]: clock() });
    } finally {
      pinned.stop();
    }
  }
}

function stripped(state: StateShape, prefix: string): StateShape {
  const names = Object.keys(state).filter((name) => name.startsWith(prefix));
  return Object.fromEntries(names.map((name) => [name.slice(prefix.length), state[name]]));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
