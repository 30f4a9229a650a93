import { isSessionError, SessionError } from '../../errors/errors.js';
import { firstTitleOf } from '../../model/auto_title.js';
import { newEventId } from '../../model/event/create_event.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { StorageDeleteRequest } from '../../storage/adapter.js';
import type { StateOwner } from '../../storage/scopes.js';
import { type Appended, APPENDED, STALE_POLICIES } from '../../wasm/protocol.js';
import { deletedOnRemote } from '../copies/fetch.js';
import type { ListParts } from '../copies/lists.js';
import { confirmedUntil, unchangedSince } from '../copies/local_copies.js';
import type { CopyChanges } from '../copies/local_copy_reader.js';
import { type RemoteCall, remoteRevision } from '../copies/remote_end.js';
import { splitByCreation, type UnsentEvent } from '../copies/writes.js';
import { type CacheKey, isSession } from '../records/cache_key.js';
import { failureOf, isRefusal } from '../records/failures.js';
import type { Lease } from '../records/lease.js';
import {
  type Base,
  CLEAR,
  clearsOf,
  type Creation,
  type Operation,
  type Refusal,
  removalsOf,
  type SessionRecord,
  SET,
  STATE_REFUSED,
} from '../records/session_record.js';

/** The most events, and about the most characters, of one request. */
const MAX_EVENTS = 100;
const MAX_CHARACTERS = 500_000;

/**
 * The most rounds for one session. A round starts over when others have changed the session on the remote. A remote whose
 * reads lag behind its writes would cause rounds without end.
 */
const MAX_ROUNDS = 20;

export interface DeliveryParts extends ListParts {
  readonly lease: Lease;
  /** Whether a title that an event gave its session is sent with it. */
  readonly autoTitle: boolean;
}

/** Sends the changes of one session or state in their order. */
export class Delivery {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /**
   * Sends the unsent changes of a session or state. Call it in the turn of that key. A refused change is set aside.
   *
   * @returns `true` if everything that was read has been sent
   * @throws LEASE_LOST, or why the remote or the local storage does not answer
   */
  async send(key: CacheKey): Promise<boolean> {
    try {
      return isSession(key) ? await this.#sendSession(key) : await this.#sendState(key);
    } catch (error) {
      if (!(error instanceof RemoteRefusal)) throw error;
      await this.#parts.unsent.setAside(key, error.refusal);
      return false;
    }
  }

  /**
   * Asks the remote. Each request needs the lease.
   *
   * @throws RemoteRefusal, unlike a failure of the local storage; and what {@link send} throws
   */
  async #ask<T>(run: RemoteCall<T>): Promise<T> {
    const { lease, remote } = this.#parts;
    await lease.extend();
    try {
      return await remote.ask(run);
    } catch (error) {
      throw isRefusal(error) ? new RemoteRefusal(failureOf(error), error) : error;
    }
  }

  /** Sends the deletion of a session, its creation, its events, its title and labels. */
  async #sendSession(key: CompositeSessionKey): Promise<boolean> {
    const { records, local, unsent } = this.#parts;
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds += 1) {
      const { copy, record } = await local.unsent(key);
      const { base, create, earlier, order, delete: deletion, refused } = record;
      if (refused !== undefined || (await unsent.isBlocked(key))) return false;
      if (deletion !== undefined) {
        await this.#sendDeletion(key, deletion);
      } else if (copy === undefined) {
        // It was deleted before it was sent. A creation that is under way records it again.
        await records.removeSent(key, record);
        return true;
      } else if (base === undefined) {
        await this.#createOrAdopt(key, copy, create);
      } else if (await this.#sendEvents(key, base, copy)) {
        if (earlier ?? order) await records.removeSent(key, { earlier, order });
        await this.#sendDescription(key, record);
        return true;
      }
    }
    const id = JSON.stringify(key.sessionId);
    const message = `The remote's answers about session ${id} contradict each other. It is asked again later.`;
    throw new SessionError('remote', message, { storage: 'cache' });
  }

  /**
   * Sends events.
   *
   * @returns whether the remote has all; `false` if it has moved on, so that the copy has changed too
   */
  async #sendEvents(key: CompositeSessionKey, base: Base, copy: CopyChanges): Promise<boolean> {
    const { records, local, fetch, autoTitle, clock } = this.#parts;
    let rest = copy.events;
    for (let most = MAX_EVENTS; rest.length > 0;) {
      const events = batchOf(rest, most);
      const request = {
        key,
        position: { created: base.created ?? NaN, revision: base.revision, lastEventId: undefined },
        policy: STALE_POLICIES.merge,
        // If the response is lost, the request is sent again. Earlier versions of events would then undo later writes.
        expectedRevision: events.some(({ isEarlier }) => isEarlier) ? base.revision : undefined,
        events,
        firstTitle: autoTitle ? firstTitleOf(events) : undefined,
        now: clock(),
      };
      let appended: Appended;
      try {
        appended = await this.#ask((store, call) => store.append({ ...request, ...call }));
      } catch (error) {
        if (!(error instanceof RemoteRefusal)) throw error;
        const { refusal, cause } = error;
        if (refusal.code === 'not_found' || refusal.code === 'stale_session') {
          await fetch.copyInTurn(key);
          const next = await local.recordFor(key, copy.created);
          if (next.refused === undefined && next.base?.revision === base.revision) throw cause;
          return false;
        }
        if (events.length === 1) throw new RemoteRefusal({ ...refusal, eventId: events[0]!.id });
        most = Math.ceil(events.length / 2);
        continue;
      }
      requireSameSession(base, appended);
      // Vertex AI repeats the last event that the copy has.
      const { revision: known } = base;
      if (appended[APPENDED.missed]?.some(([, revision]) => revision > known)) {
        await fetch.copyInTurn(key);
        return false;
      }
      rest = rest.slice(events.length);
      const confirmed = {
        ...base,
        id: newEventId(),
        revision: appended[APPENDED.revision],
        local: confirmedUntil(copy.revision, rest),
      };
      if (!(await records.writeBase(key, confirmed, base))) return false;
      base = confirmed;
    }
    // Only now: what was sent is in what is fetched.
    if (base.isStale) await fetch.copyInTurn(key);
    return true;
  }

  /** Creates the session on the remote. One that is there, from another device, gets the unsent events. */
  async #createOrAdopt(
    key: CompositeSessionKey,
    { created: copy, revision, events }: CopyChanges,
    create: Operation<Creation> | undefined,
  ): Promise<void> {
    const { records, fetch, clock } = this.#parts;
    if (create !== undefined) {
      const { state, delta, description, lastUpdateTime, sharesState } = create.value;
      const creation = { state, delta, description, lastUpdateTime, sharesState };
      const { first, later } = splitByCreation(events, create.value);
      const created = await this.#ask((store, call) =>
        store.create({ key, ...creation, events: first, now: clock(), ...call }, true),
      );
      if (created !== undefined) {
        const [createdAt, remote, time] = created;
        const remoteRevisions = remoteRevision(createdAt, remote, time);
        const base = fetch.baseOf(remoteRevisions, copy, confirmedUntil(revision, later));
        await records.writeBase(key, base, undefined, create);
        return;
      }
    }
    await fetch.copyInTurn(key, Infinity);
  }

  /**
   * Deletes the session on the remote, as it is while the deletion waits. A request that arrives late, because its tab
   * was frozen, then finds a session that was created again with another revision, and deletes nothing. If the session
   * has changed since it was read, the deletion still waits.
   */
  async #sendDeletion(key: CompositeSessionKey, deletion: Operation<true>): Promise<void> {
    const { records, local, unsent } = this.#parts;
    const read = await this.#ask((store, call) => store.get(key, 0, undefined, call));
    if (read !== undefined) {
      const [created, revision, , , , , labels] = read;
      const { delete: present } = await records.session(key);
      if (present?.id !== deletion.id) return;
      const isDeleted = await this.#ask(async (store, call) => {
        try {
          const request = { key, ...unchangedSince(revision, labels), ...call };
          if (created > 0) return (await store.deleteUnchanged(request)) !== undefined;
        } catch (error) {
          if (!isSessionError(error, 'unsupported')) throw error;
        }
        // `adk api_server` has no revisions, and an adapter need not have that verb.
        await store.delete({ what: 'session', key }, call);
        return true;
      });
      if (!isDeleted) return;
    }
    // Another tab may have fetched it meanwhile. A session that is created again has its record before its copy.
    unsent.pins.markDeleted(key);
    await local.deleteFetched(key);
    await records.removeSent(key, { delete: deletion });
  }

  async #sendDescription(
    key: CompositeSessionKey,
    { title, labels }: SessionRecord,
  ): Promise<void> {
    const { records } = this.#parts;
    if (title === undefined && labels === undefined) return;
    const description = { key, title: title?.value, labels: labels?.value };
    const isThere = await this.#ask((store, call) => store.describe({ ...description, ...call }));
    if (!isThere) throw new RemoteRefusal(deletedOnRemote(key));
    await records.removeSent(key, { title, labels });
  }

  /** Sends the changes of the state of a user or an app: first what was deleted, then the values. */
  async #sendState(owner: StateOwner): Promise<boolean> {
    const { records } = this.#parts;
    const all = await records.read(owner);
    if (all[STATE_REFUSED] !== undefined) return false;
    const { appName, userId } = owner;
    const clears = clearsOf(all);
    for (const what of clears) {
      const key = what === 'appState' ? { appName } : { appName, userId };
      const request = { what, key } as StorageDeleteRequest;
      await this.#ask((store, call) => store.delete(request, call));
      await records.change(owner, (present) =>
        removalsOf(present, { [CLEAR + what]: all[CLEAR + what] }),
      );
    }
    const sets = Object.entries(all).filter(([name]) => name.startsWith(SET)) as [
      string,
      Operation<unknown>,
    ][];
    if (sets.length === 0) return true;
    // What sessions wrote before the deletion is sent next, and then the values that have replaced it.
    if (clears.length > 0) return false;
    const values = sets.map(([name, { value }]) => [name.slice(SET.length), value]);
    const delta = JSON.stringify(Object.fromEntries(values));
    await this.#ask((store, call) => store.update(appName, userId, delta, call));
    await records.change(owner, (present) => removalsOf(present, Object.fromEntries(sets)));
    return true;
  }
}

/** @throws SessionError `connection_lost` if an answer is about another session: a proxy may have mixed up two answers */
function requireSameSession({ created }: Base, appended: Appended): void {
  if (created === null || created === appended[APPENDED.createdRevision]) return;
  const message = 'The remote answered for another session. The events are sent again.';
  throw new SessionError('connection_lost', message, { storage: 'cache' });
}

function batchOf(events: readonly UnsentEvent[], most: number): readonly UnsentEvent[] {
  let size = 0;
  const end = events.findIndex(({ text }, index) => {
    size += text.length;
    return index > 0 && (index >= most || size > MAX_CHARACTERS);
  });
  return end < 0 ? events : events.slice(0, end);
}

/** Thrown when the remote will never accept a change. */
class RemoteRefusal extends Error {
  readonly refusal: Refusal;

  /** @param cause the error of the remote */
  constructor(refusal: Refusal, cause?: Error) {
    super(refusal.message, { cause });
    this.refusal = refusal;
  }
}
