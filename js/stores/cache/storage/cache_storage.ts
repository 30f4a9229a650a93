import { SessionError } from '../../../values/errors/errors.js';
import type {
  Decide,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageEventsRequest,
  StorageListRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from '../../../core/storage/requests.js';
import type { Storage } from '../../../core/storage/storage.js';
import { sortList } from '../../../core/storage/list_place.js';
import type {
  Deleted,
  Found,
  FoundEvents,
  Listing,
  PageRows,
  Rows,
  SessionRow,
} from '../../../core/storage/rows.js';
import type { CreateWrite } from '../../../core/write.js';
import type { RewindStart } from '../../../core/storage/backend.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { EventCount } from '../../../values/model/values/event_count.js';
import { isSession, nameOf } from '../records/cache_key.js';
import type { Identity } from '../data/births.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import type { LocalData } from '../data/local_data.js';
import {
  isOf,
  newRecord,
  type OlderSums,
  type Operation,
  type OutboxWrites,
} from '../records/records.js';
import { sumsOf } from '../../../core/storage/reads/session_info.js';
import type { SessionView } from '../view/session_overlay.js';
import { deleteSession, deleteUser } from './deletion.js';
import { putJoined } from './joined_writes.js';
import { NEW, operationsOf, ownerKey, sessionKeyOf } from './new_operations.js';
import {
  changedEvents,
  countEvents,
  eventsWithIds,
  lastEvents,
  pageOfEvents,
} from './shown_events.js';

export interface CacheStorageParts {
  readonly data: LocalData;
  readonly clock: () => number;
}

/**
 * The local data as a storage. It reads what the remote has said with the operations over it, and a write adds
 * operations to the outbox. One instance runs one write, or one read of a session, because it keeps what it has found.
 */
export class CacheStorage implements Storage {
  readonly kind = 'cache';
  readonly listsParts = true;
  readonly #parts: CacheStorageParts;
  /** The session that is created. */
  readonly #creation: CreateWrite | undefined;
  /** The JSON text of the delta of an `update`, once it is computed. */
  delta = '{}';
  /** The numbers of the operations that the write has added, or that hold the events which it wrote. */
  numbers: readonly number[] = [];

  /** How many of a session's newest events the copy had at the last read, without the unsent. */
  copiedCount: EventCount = 0;
  /** Whether the last read found a session whose deletion waits. */
  isDeleted = false;
  /** Whether the session that the last read found has older events than its copy, or may have. */
  hasOlder = false;
  /** The sums of its older events, as far as they are known. */
  olderSums: OlderSums | undefined;
  /** Where the rewinds in that copy start. */
  rewindStarts: readonly RewindStart[] = [];
  /** Returns whether an event of the session that the last read found is unsent, or has just arrived. */
  isOwn: (eventId: string) => boolean = () => false;
  /** The session that the last read found. */
  identity: Identity | undefined;

  constructor(parts: CacheStorageParts, creation?: CreateWrite) {
    this.#parts = parts;
    this.#creation = creation;
  }

  async open(): Promise<void> {
    await this.#parts.data.read(() => undefined);
  }

  create(request: StorageWriteRequest, decide: Decide): Promise<void> {
    return this.#write(request, decide);
  }

  append(request: StorageWriteRequest, decide: Decide): Promise<void> {
    return this.#write(request, decide);
  }

  /** @throws SessionError `unsupported` for events that the remote has no route for: they would wait for ever */
  #write(request: StorageWriteRequest, decide: Decide): Promise<void> {
    return this.#parts.data.write(async (transaction) => {
      this.numbers = [];
      const { key, scopes } = request;
      const { appName, userId } = key;
      const hasUser = userId !== undefined && scopes.includes('user');
      const [view, user, app] = await Promise.all([
        isSession(key) ? transaction.view(key) : undefined,
        hasUser ? transaction.states.shown({ appName, userId }) : undefined,
        scopes.includes('app') ? transaction.states.shown({ appName }) : undefined,
      ]);
      if (view?.copy?.created === null && request.eventIds.length > 0) throw noRouteError();
      const found: Found = {
        ...{ user, app, floor: transaction.counter },
        ...(view && isSession(key)
          ? await sessionRows(transaction, key, request, view)
          : { events: [], changed: [] }),
      };
      const changes = decide(found);
      if (changes === undefined) {
        // The events are there already, but may be unsent.
        const pending = request.eventIds.map((id) => view?.overlay.events.get(id)?.number);
        this.numbers = pending.filter((number) => number !== undefined);
        return;
      }
      const known = new Set(found.events.map(({ id }) => id));
      const operations = await operationsOf(transaction, key, changes, view, known, {
        creation: this.#creation,
        delta: this.delta,
      });
      const last = Math.max(...operations.map(({ number }) => number));
      transaction.drawUpTo(last);
      const [first] = operations;
      if (isOf(first, 'update')) await putJoined(transaction, first);
      else if (first !== undefined && isSession(key)) {
        await this.#requireRecord(transaction, sessionKeyOf(key), first);
        await transaction.outbox.change(key, { put: operations });
      }
      this.numbers = operations.map(({ number }) => number);
    });
  }

  /** Each session with operations has a record. */
  async #requireRecord(
    transaction: CacheTransaction,
    key: CompositeSessionKey,
    operation: Operation,
  ): Promise<void> {
    const record = await transaction.copies.get(key);
    if (record?.copy !== undefined) return;
    if (record !== undefined && !isOf(operation, 'create')) return;
    const { birth } = operation.basis;
    await transaction.copies.put(key, {
      ...newRecord(birth, this.#parts.clock()),
      ...record,
      birth,
    });
  }

  describe({ key, title, labels }: StorageDescribeRequest): Promise<boolean> {
    return this.#parts.data.write(async (transaction) => {
      const view = await transaction.view(key);
      if (view === undefined) return false;
      const number = transaction.nextNumber();
      const write = { kind: 'describe', key: sessionKeyOf(key), title, labels } as const;
      const basis = { birth: view.birth, time: 0 };
      await putJoined(transaction, { ...NEW, number, write, basis });
      this.numbers = [number];
      return true;
    });
  }

  delete(request: StorageDeleteRequest): Promise<Deleted> {
    return this.#parts.data.write(async (transaction) => {
      const { what, key } = request;
      if (what === 'session') {
        this.numbers = await deleteSession(transaction, sessionKeyOf(key));
      } else {
        if (what === 'user') await deleteUser(transaction, key);
        const number = transaction.nextNumber();
        const cleared = { isCleared: true, values: [] };
        const shared = what === 'appState' ? { app: cleared } : { user: cleared };
        const write = { kind: 'delete', what, key: ownerKey(key) } as OutboxWrites['delete'];
        const basis = { birth: 0, time: 0 };
        await transaction.outbox.change(write.key, {
          put: [{ ...NEW, number, write, basis, shared }],
        });
        this.numbers = [number];
      }
      return { floor: transaction.counter };
    });
  }

  deleteUnchanged(request: StorageDeleteUnchangedRequest): Promise<false | Deleted> {
    const { key, revision, labels } = request;
    return this.#parts.data.write(async (transaction) => {
      const view = await transaction.view(key);
      if (view?.revision !== revision || view.labels !== (labels ?? '')) return false;
      this.numbers = await deleteSession(transaction, sessionKeyOf(key));
      return { floor: transaction.counter };
    });
  }

  read({ key, window }: StorageReadRequest): Promise<Rows> {
    return this.#parts.data.read(async (transaction) => {
      const { appName, userId } = key;
      const [view, user, app] = await Promise.all([
        isSession(key) ? this.#view(transaction, key) : undefined,
        userId === undefined ? undefined : transaction.states.shown({ appName, userId }),
        transaction.states.shown({ appName }),
      ]);
      if (view === undefined || !isSession(key)) return { user, app, events: [] };
      const { since, last } = window;
      const events =
        since === undefined
          ? await lastEvents(transaction, key, view, window)
          : (await changedEvents(transaction, key, view, since)).slice(0, last);
      return { session: rowOf(key, view), user, app, events };
    });
  }

  /** Returns a session as a reader sees it, and records how much of it is here. */
  async #view(
    transaction: CacheTransaction,
    key: CompositeSessionKey,
  ): Promise<SessionView | undefined> {
    const view = await transaction.view(key);
    this.isDeleted = view === undefined && (await transaction.copies.get(key)) !== undefined;
    const { copy } = view ?? {};
    this.hasOlder = copy?.hasOlder === true;
    this.rewindStarts = copy?.rewindStarts ?? [];
    this.olderSums = this.hasOlder ? copy?.olderSums : NO_SUMS;
    this.isOwn = (eventId) => view?.overlay.events.has(eventId) === true;
    this.identity = view && { birth: view.birth, created: copy?.created ?? undefined };
    if (copy === undefined) this.copiedCount = view === undefined ? 0 : 'all';
    else if (copy.isStale) this.copiedCount = 0;
    else this.copiedCount = copy.hasOlder ? copy.next - copy.first : 'all';
    return view;
  }

  readPage(request: StoragePageRequest): Promise<PageRows> {
    const { key, direction, eventId, limit } = request;
    return this.#parts.data.read(async (transaction) => {
      const view = await this.#view(transaction, key);
      if (view === undefined) return {};
      const isForward = direction === 'after';
      const events = await pageOfEvents(transaction, key, view, isForward, eventId, limit);
      const older = request.withCount === false ? undefined : this.olderSums?.eventCount;
      const eventCount =
        older === undefined ? undefined : older + (await countEvents(transaction, key, view));
      return { session: rowOf(key, view), events, eventCount };
    });
  }

  readEvents({ key, eventIds }: StorageEventsRequest): Promise<FoundEvents> {
    return this.#parts.data.read(async (transaction) => {
      const view = await this.#view(transaction, key);
      if (view === undefined) return { events: [] };
      const events = await eventsWithIds(transaction, key, view, eventIds);
      return { session: rowOf(key, view), events };
    });
  }

  list(request: StorageListRequest): Promise<Listing> {
    const { appName, userId, offset, limit } = request;
    return this.#parts.data.read(async (transaction) => {
      const below = { appName, userId };
      const records = await transaction.copies.list(below);
      const waiting = await transaction.outbox.below(below);
      const rows: SessionRow[] = [];
      for (const [key, record] of records) {
        const deletions = await transaction.states.userDeletions(key);
        const view = transaction.viewWith(key, record, waiting.get(nameOf(key)) ?? [], deletions);
        if (view !== undefined) rows.push(rowOf(key, view));
      }
      const sorted = sortList(rows, request);
      const sessions = sorted.slice(offset, limit === undefined ? undefined : offset + limit);
      const users: Listing['users'][number][] = [];
      for (const userId of new Set(sessions.map(({ userId }) => userId))) {
        const state = await transaction.states.shown({ appName, userId });
        if (state !== undefined) users.push({ userId, ...state });
      }
      const app = await transaction.states.shown({ appName });
      return { sessions, users, app, total: rows.length };
    });
  }
}

function noRouteError(): SessionError {
  const message = 'The remote has no route to append events; run the agent there.';
  return new SessionError('unsupported', message, { storage: 'cache' });
}

/** The sums of the older events of a copy that has all events. */
export const NO_SUMS: OlderSums = { eventCount: 0, sums: sumsOf([]) };

async function sessionRows(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { eventIds, since }: StorageWriteRequest,
  view: SessionView,
): Promise<Pick<Found, 'session' | 'events' | 'changed'>> {
  const [events, changed] = await Promise.all([
    eventsWithIds(transaction, key, view, eventIds),
    changedEvents(transaction, key, view, since),
  ]);
  return { session: rowOf(key, view), events, changed };
}

function rowOf({ appName, userId, sessionId }: CompositeSessionKey, view: SessionView): SessionRow {
  const {
    birth: created,
    revision,
    lastUpdateTime,
    state,
    title,
    labels,
    parent,
    createTime,
    initialState,
  } = view;
  return {
    ...{
      appName,
      userId,
      sessionId,
      created,
      revision,
      lastUpdateTime,
      state,
      createTime,
      initialState,
    },
    ...(title !== '' && { title }),
    ...(labels !== '' && { labels }),
    ...(parent !== undefined && { parent }),
  };
}
