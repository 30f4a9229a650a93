/** Runs the rules over the local data, and adds what they decide to the outbox. */
import { SessionError } from '../../../values/errors/errors.js';
import { type Call, requireNotAborted } from '../../../core/call/call.js';
import {
  prepareAppend,
  prepareCreate,
  prepareUpdate,
} from '../../../core/storage/driver/ruled_writes.js';
import type { Deletion, Results, StoredKind } from '../../../core/storage/store.js';
import type { Decide, StorageWriteRequest } from '../../../core/storage/requests.js';
import type { Found } from '../../../core/storage/rows.js';
import type { Storage } from '../../../core/storage/storage.js';
import type {
  Computed,
  DeleteWrite,
  DescribeWrite,
  ReadyWrite,
  ReadyAppend,
} from '../../../core/write.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { isSession, pickSessionKey } from '../records/cache_key.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { idKey } from '../data/copy_records.js';
import type { LocalData } from '../data/local_data.js';
import type { AheadEntry } from '../data/read_ahead.js';
import { entryKey, newRecord } from '../records/records.js';
import { isOf, NEW, type Mutation, type OutboxWrites } from '../outbox/mutation.js';
import type { OverlaidSession } from '../overlay/session_overlay.js';
import { deleteSession, deleteUser } from './deletion.js';
import { allowCreation, isProvisional, putProvisional } from '../data/provisional_session.js';
import { rowOf } from './local_reads.js';
import { type Given, mutationsOf, ownerKey } from './new_mutations.js';
import { OverlaidEvents } from './overlaid_events.js';

export interface LocalWriteParts {
  readonly data: LocalData;
  readonly clock: () => number;
}

/** The result of a write. */
export interface Written<T> {
  readonly result: T;
  /** The numbers of the mutations that the write has added, or that hold the events which it wrote. */
  readonly numbers: readonly number[];
}

type LocalVerbs = {
  readonly [Kind in StoredKind]: (
    write: ReadyWrite<Kind>,
    call: Call,
  ) => Promise<Written<Results[Kind]>>;
};

/** The writes of the local data. */
export class LocalWrites {
  readonly #parts: LocalWriteParts;

  constructor(parts: LocalWriteParts) {
    this.#parts = parts;
  }

  async run<Kind extends StoredKind>(
    write: ReadyWrite<Kind>,
    call: Call,
  ): Promise<Written<Results[Kind]>> {
    requireNotAborted(call.signal);
    const verbs: LocalVerbs = this.#verbs;
    return verbs[write.kind](write, call);
  }

  readonly #verbs: LocalVerbs = {
    create: async (creation, call) => {
      const decisions = new Decisions(this.#parts, { creation });
      const result = await prepareCreate(decisions, creation, call).execute();
      return { result, numbers: decisions.numbers };
    },
    append: async (write, call) => {
      const { run } = write;
      const message = run && (await this.#storedText(write));
      const decisions = new Decisions(this.#parts, { run }, { write, call });
      // The only event is written as it is stored: a stored message starts nothing.
      const given =
        message === undefined
          ? write
          : { ...write, events: write.events.map((event) => ({ ...event, text: message })) };
      const result = await prepareAppend(decisions, given, call).execute();
      const { numbers } = decisions;
      const texts = message === undefined ? undefined : [{ position: 0, text: message }];
      return { result: { ...result, texts }, numbers };
    },
    update: async (write, call) => {
      // The mutation has the whole delta of the caller, including values that are stored already.
      const given: { delta?: string } = {};
      const delta = (state: string): Computed => {
        const computed =
          typeof write.delta === 'string' ? { delta: write.delta } : write.delta(state);
        given.delta = computed.delta;
        return computed;
      };
      const decisions = new Decisions(this.#parts, given);
      const result = await prepareUpdate(decisions, { ...write, delta }, call).execute();
      return { result, numbers: decisions.numbers };
    },
    describe: (write) => {
      const { data, clock } = this.#parts;
      return data.write((transaction) => describe(transaction, write, clock()));
    },
    delete: (write) => this.#parts.data.write((transaction) => remove(transaction, write)),
  };

  /** Returns the text of the message if this device has it already. */
  #storedText({ key, events }: ReadyAppend): Promise<string | undefined> {
    return this.#parts.data.read(async (transaction) => {
      const view = await transaction.view(key);
      const ids = events.map(({ id }) => id);
      const stored = view && (await new OverlaidEvents(transaction, key, view).withIds(ids));
      return stored?.[0]?.text;
    });
  }
}

/** An append, whose session may have no copy. */
interface AppendCall {
  readonly write: ReadyAppend;
  readonly call: Call;
}

/** The verbs by which the rules write: one transaction each, which reads rows, decides and adds the mutations. */
class Decisions implements Pick<Storage, 'create' | 'append'> {
  /** The numbers of the last decision's mutations. */
  numbers: readonly number[] = [];
  readonly #parts: LocalWriteParts;
  readonly #given: Given;
  readonly #append: AppendCall | undefined;

  constructor(parts: LocalWriteParts, given: Given, append?: AppendCall) {
    this.#parts = parts;
    this.#given = given;
    this.#append = append;
  }

  create(request: StorageWriteRequest, decide: Decide): Promise<void> {
    return this.append(request, decide);
  }

  async append(request: StorageWriteRequest, decide: Decide): Promise<void> {
    const { data } = this.#parts;
    this.numbers = await data.write(
      async (transaction) => {
        const isJoint = await this.#create(transaction);
        return this.#decide(transaction, request, decide, this.#given, isJoint);
      },
      this.#append === undefined ? [] : entriesOf(data.owner, request),
    );
  }

  /** Creates the session that an append may create, unless it is here, or was here. Returns `true` if it did. */
  async #create(transaction: CacheTransaction): Promise<true | undefined> {
    const { write: { creation } = {}, call } = this.#append ?? {};
    if (creation === undefined || call === undefined) return undefined;
    const { key } = creation;
    if ((await transaction.view(key)) !== undefined) {
      await allowCreation(transaction, creation);
      return undefined;
    }
    if ((await transaction.copies.evicted(key)) !== undefined) return undefined;
    const create: Storage['create'] = async (request, decide) =>
      void (await this.#decide(transaction, request, decide, { creation }));
    await prepareCreate({ create }, creation, call).execute();
    return true;
  }

  /** Returns the session of a write as a reader sees it. An append to a session without a copy makes it provisional. */
  async #viewFor(
    transaction: CacheTransaction,
    key: CompositeSessionKey,
    { creation }: Given,
  ): Promise<OverlaidSession | undefined> {
    const view = await transaction.view(key);
    if (view !== undefined || creation !== undefined || this.#append === undefined) return view;
    const { position } = this.#append.write;
    if (position.kind === 'revision') {
      // The handle may be of an earlier session with this id.
      const evicted = await transaction.copies.evicted(key);
      if (evicted?.localId !== position.created) return undefined;
    }
    await putProvisional(transaction, key, this.#parts.clock());
    return transaction.view(key);
  }

  /** @throws SessionError `unsupported` for events that the remote has no route for: they would wait for ever */
  async #decide(
    transaction: CacheTransaction,
    request: StorageWriteRequest,
    decide: Decide,
    given: Given,
    isJoint?: true,
  ): Promise<readonly number[]> {
    const { key, scopes, eventIds } = request;
    const { appName, userId } = key;
    const hasUser = userId !== undefined && scopes.includes('user');
    const [view, user, app] = await Promise.all([
      isSession(key) ? this.#viewFor(transaction, key, given) : undefined,
      hasUser ? transaction.states.shown({ appName, userId }) : undefined,
      scopes.includes('app') ? transaction.states.shown({ appName }) : undefined,
    ]);
    if (view?.copy?.created === null && eventIds.length > 0) throw noRouteError();
    const found: Found = {
      user,
      app,
      floor: transaction.counter,
      ...(view && isSession(key)
        ? await sessionRows(transaction, key, request, view)
        : { events: [], changed: [] }),
    };
    const changes = decide(found);
    if (changes === undefined) {
      // The events are there already, but may be unsent.
      return eventIds.flatMap((id) => view?.overlay.events.get(id)?.number ?? []);
    }
    const known = new Set(found.events.map(({ id }) => id));
    const mutations = await mutationsOf(transaction, key, changes, view, known, {
      ...given,
      isJoint,
    });
    const numbers = mutations.map(({ number }) => number);
    transaction.drawUpTo(Math.max(...numbers));
    const [first] = mutations;
    if (first !== undefined && isSession(key)) {
      await this.#requireRecord(transaction, pickSessionKey(key), first);
    }
    await carryOut(transaction, key, { type: 'added', mutations });
    return numbers;
  }

  /** Each session with mutations has a record. */
  async #requireRecord(
    transaction: CacheTransaction,
    key: CompositeSessionKey,
    mutation: Mutation,
  ): Promise<void> {
    const record = await transaction.copies.get(key);
    if (record?.copy !== undefined) return;
    if (record !== undefined && !isOf(mutation, 'create')) return;
    const { localId } = mutation;
    const made = newRecord(localId, this.#parts.clock());
    await transaction.copies.put(key, { ...made, ...record, localId });
  }
}

/** The most events of an append that are looked up with the session. */
const MOST_AHEAD = 8;

/** The entries that an append reads. */
function entriesOf(owner: string, { key, scopes, eventIds }: StorageWriteRequest): AheadEntry[] {
  const { appName, userId } = key;
  const session = entryKey(owner, key);
  const entries: AheadEntry[] = [['sessions', session]];
  if (scopes.includes('user')) entries.push(['states', entryKey(owner, { appName, userId })]);
  if (scopes.includes('app')) entries.push(['states', entryKey(owner, { appName })]);
  for (const id of eventIds.slice(0, MOST_AHEAD)) entries.push(['events', idKey(session, id)]);
  return entries;
}

async function describe(
  transaction: CacheTransaction,
  { key, title, labels }: DescribeWrite,
  now: number,
): Promise<Written<boolean>> {
  if ((await transaction.view(key)) === undefined) await putProvisional(transaction, key, now);
  const view = await transaction.view(key);
  if (view === undefined) return { result: false, numbers: [] };
  const number = transaction.nextNumber();
  const write = { kind: 'describe', key: pickSessionKey(key), title, labels } as const;
  const { localId } = view;
  const needsSession = isProvisional(view.overlay.creation);
  const mutations = [{ ...NEW, number, write, localId, needsSession }];
  await carryOut(transaction, key, { type: 'added', mutations });
  return { result: true, numbers: [number] };
}

async function remove(
  transaction: CacheTransaction,
  write: DeleteWrite,
): Promise<Written<Deletion>> {
  let numbers: readonly number[];
  if (write.what === 'session') {
    const { key, created, unchanged } = write;
    const view = await transaction.view(key);
    const isOther = created !== undefined && view?.localId !== created;
    const isChanged =
      unchanged !== undefined &&
      (view?.revision !== unchanged.revision || view.labels !== (unchanged.labels ?? ''));
    if (isOther || isChanged) return { result: { isDeleted: false }, numbers: [] };
    // A session that nobody has changed here since it was created may have changed at the remote. There it would have
    // changed too if it has labels: the deletion does not name them.
    const isAsCreated = view?.localId === unchanged?.revision && view?.labels === '';
    const ifUnchanged = isAsCreated && view.copy?.created !== null;
    numbers = await deleteSession(transaction, pickSessionKey(key), ifUnchanged);
  } else {
    const { what, key } = write;
    if (what === 'user') await deleteUser(transaction, key);
    const number = transaction.nextNumber();
    const cleared = { isCleared: true, values: [] };
    const shared = what === 'appState' ? { app: cleared } : { user: cleared };
    const deleted = { kind: 'delete', what, key: ownerKey(key) } as OutboxWrites['delete'];
    const mutations = [{ ...NEW, number, write: deleted, shared }];
    await carryOut(transaction, ownerKey(key), { type: 'added', mutations });
    numbers = [number];
  }
  return { result: { isDeleted: true, floor: transaction.counter }, numbers };
}

export function noRouteError(): SessionError {
  const message = 'The remote has no route to append events; run the agent there.';
  return new SessionError('unsupported', message, { storage: 'cache' });
}

async function sessionRows(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { eventIds, since }: StorageWriteRequest,
  view: OverlaidSession,
): Promise<Pick<Found, 'session' | 'events' | 'changed'>> {
  const shown = new OverlaidEvents(transaction, key, view);
  const [events, changed] = await Promise.all([shown.withIds(eventIds), shown.changedAfter(since)]);
  return { session: rowOf(key, view), events, changed };
}
