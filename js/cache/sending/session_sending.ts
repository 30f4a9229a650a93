import { isSessionError, SessionError } from '../../errors/errors.js';
import { firstTitleOf } from '../../model/auto_title.js';
import { newEventId } from '../../model/event/create_event.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { type Appended, APPENDED, STALE_POLICIES } from '../../wasm/protocol.js';
import { splitByCreation } from '../copies/created_with.js';
import { deletedOnRemote } from '../copies/fetch.js';
import type { ListParts } from '../copies/lists.js';
import { confirmedUntil, unchangedSince } from '../copies/local_copies.js';
import type { CopyChanges } from '../copies/local_copy_reader.js';
import type { UnsentEvent } from '../copies/rebase.js';
import { remoteRevision } from '../copies/remote_end.js';
import type { Base, Creation, Operation, SessionRecord } from '../records/session_record.js';
import { RemoteRefusal, type Requests } from './requests.js';

/** The most events, and about the most characters, of one request. */
const MAX_EVENTS = 100;
const MAX_CHARACTERS = 500_000;

export interface SessionSendingParts extends ListParts {
  readonly requests: Requests;
  /** Whether a title that an event gave its session is sent with it. */
  readonly autoTitle: boolean;
}

/** Sends the changes of one session in their order: its deletion, its creation, its events, its title. */
export class SessionSending {
  readonly #parts: SessionSendingParts;

  constructor(parts: SessionSendingParts) {
    this.#parts = parts;
  }

  /**
   * Sends what waits. The caller has the session's turn.
   *
   * @returns whether nothing of what was read is left
   * @throws RemoteRefusal and what {@link Requests.ask} throws
   */
  async send(key: CompositeSessionKey): Promise<boolean> {
    const { records, local, unsent } = this.#parts;
    for (;;) {
      const { copy, record } = await local.unsent(key);
      const { base, create, earlier, delete: deletion, refused } = record;
      if (refused !== undefined || (await unsent.isBlocked(key))) return false;
      if (deletion !== undefined) {
        if (!(await this.#sendDeletion(key, deletion))) return false;
      } else if (copy === undefined) {
        // It was deleted before it was sent. A creation that is under way records it again.
        await records.removeSent(key, record);
        return true;
      } else if (base === undefined) {
        if (!(await this.#createOrAdopt(key, copy, create))) return false;
      } else if (await this.#sendEvents(key, base, copy)) {
        if (earlier !== undefined) await records.removeSent(key, { earlier });
        await this.#sendDescription(key, record);
        return true;
      }
    }
  }

  /**
   * Sends events.
   *
   * @returns whether the remote has all; `false` if it has moved on, so that the copy has changed too
   */
  async #sendEvents(key: CompositeSessionKey, base: Base, copy: CopyChanges): Promise<boolean> {
    const { records, local, requests, fetch, autoTitle, clock } = this.#parts;
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
        appended = await requests.ask((store, call) => store.append({ ...request, ...call }));
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
  ): Promise<boolean> {
    const { records, local, fetch, requests, clock } = this.#parts;
    if (create !== undefined) {
      const { state, delta, description, lastUpdateTime, sharesState } = create.value;
      const creation = { state, delta, description, lastUpdateTime, sharesState };
      const { first, later } = splitByCreation(events, create.value);
      const created = await requests.ask((store, call) =>
        store.create({ key, ...creation, events: first, now: clock(), ...call }, true),
      );
      if (created !== undefined) {
        const [createdAt, remote, time] = created;
        const remoteRevisions = remoteRevision(createdAt, remote, time);
        const base = fetch.baseOf(remoteRevisions, copy, confirmedUntil(revision, later));
        await records.writeBase(key, base, undefined, create);
        return true;
      }
    }
    await fetch.copyInTurn(key, Infinity);
    const { base } = await local.recordFor(key, (await local.head(key))?.created);
    return base !== undefined;
  }

  /**
   * Deletes the session on the remote, as it is while the deletion waits. A request that arrives late, because its tab
   * was frozen, then finds a session that was created again with another revision, and deletes nothing.
   *
   * @returns whether the session can go on
   */
  async #sendDeletion(key: CompositeSessionKey, deletion: Operation<true>): Promise<boolean> {
    const { records, local, pending, requests } = this.#parts;
    for (let isDeleted = false; !isDeleted;) {
      const read = await requests.ask((store, call) => store.get(key, 0, undefined, call));
      if (read === undefined) break;
      const [created, revision, , , , , labels] = read;
      const { delete: present } = await records.session(key);
      if (present?.id !== deletion.id) return false;
      isDeleted = await requests.ask(async (store, call) => {
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
    }
    // Another tab may have fetched it meanwhile. A session that is created again has its record before its copy.
    pending.markDeleted(key);
    await local.deleteFetched(key);
    await records.removeSent(key, { delete: deletion });
    return true;
  }

  async #sendDescription(
    key: CompositeSessionKey,
    { title, labels }: SessionRecord,
  ): Promise<void> {
    const { records, requests } = this.#parts;
    if (title === undefined && labels === undefined) return;
    const description = { key, title: title?.value, labels: labels?.value };
    const isThere = await requests.ask((store, call) =>
      store.describe({ ...description, ...call }),
    );
    if (!isThere) throw new RemoteRefusal(deletedOnRemote(key));
    await records.removeSent(key, { title, labels });
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
