import { isSessionError } from '../../errors/errors.js';
import { newEventId } from '../../model/event/create_event.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { APPENDED, STALE_POLICIES } from '../../wasm/protocol.js';
import { confirmedUntil, type Fetch } from '../copies/fetch.js';
import type { LocalCopies, UnsentCopy } from '../copies/local_copies.js';
import type { UnsentEvent } from '../copies/rebase.js';
import { failureOf, isRefusal, remoteRevision } from '../copies/remote_end.js';
import { unchangedSince } from '../copies/unchanged_since.js';
import type { Pending } from '../records/pending.js';
import type { Records } from '../records/records.js';
import { type Noted, ofSession } from '../records/session_record.js';
import type { Requests } from './requests.js';
import type { Unsent } from '../copies/unsent.js';

/** The most events, and about the most characters, of one request. */
const MAX_EVENTS = 100;
const MAX_CHARACTERS = 500_000;

export interface SessionSendingParts {
  readonly local: LocalCopies;
  readonly records: Records;
  readonly fetch: Fetch;
  readonly pending: Pending;
  readonly requests: Requests;
  readonly unsent: Unsent;
  readonly clock: () => number;
  /** Whether a title that an event gave its session is sent with it. */
  readonly autoTitle: boolean;
}

/** Sends the changes of one session in their order: its deletion, its creation, its events, its title. */
export class SessionSending {
  readonly #parts: SessionSendingParts;

  constructor(parts: SessionSendingParts) {
    this.#parts = parts;
  }

  /** The caller has the session's turn. */
  async send(key: CompositeSessionKey): Promise<void> {
    const { records, local, unsent } = this.#parts;
    const { delete: deletion, refused } = await records.session(key);
    if (refused !== undefined) return;
    if (deletion !== undefined && !(await this.#sendDeletion(key, deletion))) return;
    for (let size = MAX_EVENTS; ;) {
      const copy = await local.unsent(key);
      const { head, record, events, damage } = copy;
      if (damage !== undefined) return unsent.lookAt(key);
      // It was deleted before it was sent. A creation that is under way notes it again.
      if (head === undefined) {
        const { create, title, labels } = record;
        return records.remove(key, ofSession(key, { create, title, labels }));
      }
      if (record.refused !== undefined || record.delete !== undefined) return;
      if (record.base === undefined) {
        if (!(await this.#createOrAdopt(key, copy))) return;
      } else if (events.length > 0) {
        size = await this.#append(key, copy, size);
        if (size === 0) return;
      } else {
        return this.#sendDescription(key);
      }
    }
  }

  /**
   * @param most the most events of the request
   * @returns those of the next one; 0 if the session was set aside
   */
  async #append(
    key: CompositeSessionKey,
    { head, record, events }: UnsentCopy,
    most: number,
  ): Promise<number> {
    const { records, local, requests, fetch, unsent, autoTitle, clock } = this.#parts;
    const base = record.base!;
    const batch = batchOf(events, most);
    const request = {
      key,
      position: { created: base.created ?? NaN, revision: base.revision, lastEventId: undefined },
      policy: STALE_POLICIES.merge,
      events: batch.map(({ snapshot }) => snapshot),
      firstTitle: autoTitle ? head!.title || undefined : undefined,
      now: clock(),
    };
    try {
      const appended = await requests.ask((store, call) => store.append({ ...request, ...call }));
      if ((appended[APPENDED.missed] ?? []).length > 0) {
        await fetch.copyInTurn(key);
      } else {
        const revision = appended[APPENDED.revision];
        const confirmed = confirmedUntil(head!.revision, events.slice(batch.length));
        await records.writeBase(
          key,
          { ...base, id: newEventId(), revision, local: confirmed },
          base,
        );
      }
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (isSessionError(error, 'not_found') || isSessionError(error, 'stale_session')) {
        await fetch.copyInTurn(key);
        const next = await local.recordFor(key, head);
        if (next.refused === undefined && next.base?.revision === base.revision) throw error;
      } else if (batch.length > 1) {
        return Math.ceil(batch.length / 2);
      } else {
        await unsent.setAside(key, { ...failureOf(error), eventId: batch[0]!.snapshot.id });
        return 0;
      }
    }
    return most;
  }

  /** Creates the session on the remote. One that is there, from another device, gets the unsent events. */
  async #createOrAdopt(
    key: CompositeSessionKey,
    { head, record: { create }, events }: UnsentCopy,
  ): Promise<boolean> {
    const { records, local, fetch, requests, clock } = this.#parts;
    if (create !== undefined) {
      const { events: count, ...creation } = create.value;
      const first = events.slice(0, count).map(({ snapshot }) => snapshot);
      const created = await requests.askOrSetAside(key, (store, call) =>
        store.create({ key, ...creation, events: first, now: clock(), ...call }, true),
      );
      if (created === undefined) return false;
      if (created.value !== undefined) {
        const [createdAt, revision, time] = created.value;
        const base = {
          id: newEventId(),
          ...remoteRevision(createdAt, revision, time),
          copy: head!.created,
          local: confirmedUntil(head!.revision, events.slice(count)),
          usedAt: clock(),
        };
        await records.writeBase(key, base, undefined, { create: undefined });
        return true;
      }
    }
    await fetch.copyInTurn(key, Infinity);
    const { base } = await local.recordFor(key, await local.head(key));
    return base !== undefined;
  }

  /**
   * Deletes the session on the remote, as it is while the deletion waits. A request that arrives late, because its tab
   * was frozen, then finds a session that was created again with another revision, and deletes nothing.
   *
   * @returns whether the session can go on
   */
  async #sendDeletion(key: CompositeSessionKey, deletion: Noted<true>): Promise<boolean> {
    const { records, local, pending, requests } = this.#parts;
    for (let isDeleted = false; !isDeleted;) {
      const read = await requests.askOrSetAside(key, (store, call) =>
        store.get(key, 0, undefined, call),
      );
      if (read === undefined) return false;
      if (read.value === undefined) break;
      const [created, revision, , , , , labels] = read.value;
      const { delete: present } = await records.session(key);
      if (present?.id !== deletion.id) return false;
      const deleted = await requests.askOrSetAside(key, async (store, call) => {
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
      if (deleted === undefined) return false;
      isDeleted = deleted.value;
    }
    // Another tab may have fetched it meanwhile. A session that is created again has its record before its copy.
    pending.noteDeletion(key);
    await local.deleteFetched(key);
    await records.remove(key, ofSession(key, { delete: deletion }));
    return true;
  }

  async #sendDescription(key: CompositeSessionKey): Promise<void> {
    const { records, requests, unsent } = this.#parts;
    const { title, labels } = await records.session(key);
    if (title === undefined && labels === undefined) return;
    const description = { key, title: title?.value, labels: labels?.value };
    const sent = await requests.askOrSetAside(key, (store, call) =>
      store.describe({ ...description, ...call }),
    );
    if (sent === undefined) return;
    if (!sent.value) {
      const message = `Session ${JSON.stringify(key.sessionId)} was deleted on the remote before its title was sent.`;
      return unsent.setAside(key, { code: 'not_found', message });
    }
    await records.remove(key, ofSession(key, { title, labels }));
  }
}

function batchOf(events: readonly UnsentEvent[], most: number): readonly UnsentEvent[] {
  let size = 0;
  const end = events.findIndex(({ snapshot }, index) => {
    size += snapshot.text.length;
    return index > 0 && (index >= most || size > MAX_CHARACTERS);
  });
  return end < 0 ? events : events.slice(0, end);
}
