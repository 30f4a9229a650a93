/**
 * The writes that the core decides. Each is run by a verb that reads rows, calls `decide` and stores what it returns.
 */
import type { SessionError } from '../../../values/errors/errors.js';
import type { WriteIdentity } from '../../../values/model/diagnostic.js';
import type { EventTexts } from '../../../values/model/event/snapshot.js';
import { ownStateText } from '../../../values/state/keys.js';
import type { StoredScope } from '../../../values/state/scope.js';
import { type Call, requireNotAborted, abortedError } from '../../call/call.js';
import { onAbort } from '../../call/time_limit.js';
import {
  callCore,
  requireRoom,
  type DrivenWrite,
  callWrite,
  toSessionError,
} from '../../wasm/core.js';
import { ABSENT } from '../../wasm/protocol.js';
import type { CreateWrite, ReadyAppend, UpdateWrite, NewSession } from '../../write.js';
import { contractViolation } from '../checked_rows.js';
import type { StorageWriteRequest, StorageWrite } from '../requests.js';
import type { Changes, Found, EventRow, SessionRow, SharedRow, StorageKey } from '../rows.js';
import { storageKey } from '../scopes.js';
import type { Storage } from '../storage.js';
import type { Appended, CreatedSession, SharedRevisions } from '../store.js';
import {
  packAppends,
  packComputed,
  packCreation,
  type PackedAppended,
  type PackedCreated,
  unpackAppend,
  unpackCreated,
  type WritePlan,
  unpackPlan,
  type Decision,
  packFound,
  unpackDecision,
} from '../wasm/packed.js';
import { requestOf, storageError } from './storage_calls.js';

/** The parts of a write that appends nothing. */
const NO_EVENTS = {
  events: [],
  creation: undefined,
  firstTitle: undefined,
  lastEventId: undefined,
} as const;

export function prepareCreate(
  storage: Pick<Storage, 'create'>,
  creation: CreateWrite,
  call: Call,
): PreparedWrite<CreatedSession | undefined> {
  const { key, events, mutation } = creation;
  const { packed, numbers, texts = [] } = packCreation(creation, false);
  const write = callCore(({ DrivenWrite }) => DrivenWrite.create(packed, numbers, texts));
  const parts = { key, call, mutation, ...NO_EVENTS, events, creation };
  const end = (): CreatedSession | undefined => {
    const created = write.finish() as PackedCreated | undefined;
    return created && unpackCreated(created, creation);
  };
  return prepareWrite('create', storage, write, parts, end);
}

export function prepareAppend(
  storage: Pick<Storage, 'append'>,
  append: ReadyAppend,
  call: Call,
): PreparedWrite<Appended> {
  const { key, position, events, firstTitle, compute, mutation } = append;
  const { packed, numbers, texts = [] } = packAppends([append], false, false);
  const write = callCore(({ DrivenWrite }) =>
    DrivenWrite.append(packed, numbers, texts, packComputed(compute)),
  );
  const lastEventId = position.kind === 'lastEvent' ? position.lastEventId : undefined;
  // Without a spread of two parts: that took 3 of the 70 µs of an append to SQLite.
  const parts = {
    key,
    events,
    creation: undefined,
    firstTitle,
    lastEventId,
    call,
    mutation,
  };
  const end = () => unpackAppend(write.finish() as PackedAppended, append);
  return prepareWrite('append', storage, write, parts, end);
}

export function prepareUpdate(
  storage: Pick<Storage, 'append'>,
  { key, delta, mutation }: UpdateWrite,
  call: Call,
): PreparedWrite<SharedRevisions> {
  const { appName, userId } = key;
  const [text, compute] = typeof delta === 'string' ? [delta] : ['{}', delta];
  requireRoom(text.length);
  const write = callCore(({ DrivenWrite }) =>
    DrivenWrite.update(appName, userId, text, packComputed(compute)),
  );
  const parts = { key: storageKey(key), call, mutation, ...NO_EVENTS };
  const end = () => write.finish() as SharedRevisions;
  return prepareWrite('append', storage, write, parts, end);
}

/** The verbs that write. */
type DriverVerb = 'create' | 'append';

/** The parts of a write beside the write itself. */
export interface WriteParts extends RowParts, WriteIdentity {
  readonly call: Call;
  /** The last event of a handle whose position is not known. */
  readonly lastEventId: string | undefined;
}

/** A write that is ready for a verb of a storage. */
export interface PreparedWrite<T> {
  readonly request: StorageWriteRequest;
  readonly decide: (found: Found) => Changes | undefined;
  /**
   * Calls the verb with this write alone.
   *
   * @throws SessionError the error of the decision, even if the storage hides it; else `storage_failed`
   */
  readonly execute: () => Promise<T>;
  /** Called after another verb was given the write. Runs the write once more if its decision needs more rows. */
  readonly succeed: () => T | Promise<T>;
  /** Called if that verb failed. */
  readonly fail: (error: unknown) => never;
}

/**
 * Prepares a write for a verb of a storage. The write is freed when it has ended.
 *
 * @param end returns the result of the write and frees it
 */
function prepareWrite<Verb extends DriverVerb, T>(
  verb: Verb,
  storage: Pick<Storage, Verb>,
  write: DrivenWrite,
  parts: WriteParts,
  end: () => T,
): PreparedWrite<T> {
  const plan = unpackPlan(write.plan());
  const request = writeRequest(verb, plan, parts);
  let state: 'running' | 'decided' | 'ended' = 'running';
  let refusal: SessionError | undefined;
  const checkedDecide = (found: Found) => {
    if (state === 'ended') throw contractViolation(verb, 'called decide after it had ended');
    state = 'decided';
    refusal = undefined;
    try {
      return decide(write, plan.scopes, parts, found);
    } catch (thrown) {
      throw (refusal = toSessionError(thrown));
    }
  };
  const fail = (error: unknown): never => {
    state = 'ended';
    try {
      write.free();
    } catch {
      // JavaScript threw through one of its methods, so the wasm counts it as borrowed. It is not freed.
    }
    throw refusal ?? storageError(verb, error);
  };
  const succeed = (): T | Promise<T> => {
    // The storage should have let the error through, but hid it.
    if (refusal !== undefined) return fail(refusal);
    if (state !== 'decided') return fail(contractViolation(verb, 'ended without calling decide'));
    state = 'ended';
    if (!write.replan()) return callWrite(write, end);
    return prepareWrite(verb, storage, write, parts, end).execute();
  };
  const run = async (): Promise<T> => {
    try {
      requireNotAborted(request.signal);
      const stored = storage[verb](request, checkedDecide);
      // Runners of parallel agents see each tick of an append. A storage that answers at once takes none.
      if (typeof stored?.then === 'function') await stored;
    } catch (error) {
      return fail(error);
    }
    return succeed();
  };
  return { request, decide: checkedDecide, execute: run, succeed, fail };
}

function writeRequest(verb: DriverVerb, plan: WritePlan, parts: WriteParts): StorageWriteRequest {
  const { scopes, isLocating, since } = plan;
  const { key, events, lastEventId, creation, call, mutation } = parts;
  const isCreate = verb === 'create';
  let lastUpdateTime = isCreate ? (creation?.lastUpdateTime ?? creation?.now ?? 0) : 0;
  for (const { timestamp } of isLocating && !isCreate ? [] : events) {
    lastUpdateTime = Math.max(lastUpdateTime, timestamp);
  }
  const eventIds = isLocating ? [] : events.map(({ id }) => id);
  if (isLocating && lastEventId !== undefined) eventIds.push(lastEventId);
  const given = { key: storageKey(key), scopes, eventIds, since, lastUpdateTime };
  return requestOf(given, call, mutation);
}

/** The parts of a write that its rows are made of. */
interface RowParts {
  readonly key: StorageKey;
  readonly events: readonly EventTexts[];
  /** The members of `CreateWrite` that the rows or the request of a new session need; else `undefined`. */
  readonly creation: Pick<NewSession, 'description' | 'lastUpdateTime' | 'now'> | undefined;
  readonly firstTitle: string | undefined;
}

/**
 * Computes the rows to write from the rows that a storage found. The core decides.
 *
 * @param scopes the states that the write's plan names
 * @returns the rows to write; `undefined` if there is nothing to write
 */
function decide(
  write: DrivenWrite,
  scopes: readonly StoredScope[],
  parts: RowParts,
  found: Found,
): Changes | undefined {
  const { floor, session, user, app } = found;
  const stored = found.events.map(eventTuple);
  const missed = found.changed.map(eventTuple);
  const current = session ?? NO_SESSION;
  const first = neededState(scopes.includes('session'), session);
  const second = neededState(scopes.includes('user'), user);
  const third = neededState(scopes.includes('app'), app);
  requireRoom(first.length + second.length + third.length);
  const numbers = callWrite(write, () =>
    write.decide(
      packFound({
        floor,
        session: current,
        revisions: { user: user?.revision ?? 0, app: app?.revision ?? 0 },
        states: { session: first, user: second },
      }),
      first + second + third,
      stored.length + missed.length === 0 ? undefined : [stored, missed],
    ),
  );
  if (numbers === undefined) return undefined;
  const decision = unpackDecision(numbers, scopes.length === 0 ? '' : write.states());
  const { revisions, states } = decision;
  return {
    session: revisions.session === 0 ? undefined : sessionRow(parts, decision, session),
    user: changedState(revisions.user, states.user),
    app: changedState(revisions.app, states.app),
    events: eventRows(decision, parts.events),
  };
}

/** @param stored the session as it is stored, if it is */
function sessionRow(
  { key, creation, firstTitle }: RowParts,
  { revisions, states, created, lastUpdateTime }: Decision,
  stored: SessionRow | undefined,
): SessionRow {
  const { appName, userId = '', sessionId = '' } = key;
  const description = creation?.description ?? {};
  const { title, labels, parent } = stored ?? description;
  const given = description.initialState;
  const hasTitle = title !== undefined && title !== '';
  // A session is not created in the future, whatever the times of its events.
  const createTime = Math.min(lastUpdateTime, creation?.now ?? Infinity);
  return {
    appName,
    userId,
    sessionId,
    created,
    revision: revisions.session,
    lastUpdateTime,
    // A state without changes keeps its text.
    state: states.session === '' ? (stored ?? NO_SESSION).state : states.session,
    title: hasTitle ? title : firstTitle,
    labels,
    parent,
    createTime: stored === undefined ? createTime : stored.createTime,
    initialState: stored === undefined ? given && ownStateText(given) : stored.initialState,
  };
}

/** The members of a session that is not stored. */
const NO_SESSION = { created: 0, revision: ABSENT, lastUpdateTime: 0, state: '{}' };

/**
 * Returns the text of a state that exists and is needed, else `''`. An empty stored text is
 * damaged; it becomes `' '`, so that it does not pass for no state.
 */
function neededState(isNeeded: boolean, row: { readonly state: string } | undefined): string {
  return isNeeded && row !== undefined ? row.state || ' ' : '';
}

/** Returns an event as the wasm takes it. */
function eventTuple({ id, seq, revision, timestamp, text }: EventRow): readonly unknown[] {
  return [id, seq, revision, timestamp, text];
}

function eventRows(decision: Decision, events: readonly EventTexts[]): EventRow[] {
  const rows: EventRow[] = [];
  for (const { position, seq, revision } of decision.events) {
    const event = events[position];
    if (event === undefined) continue;
    const { id, timestamp, text } = event;
    rows.push({ id, seq, revision, timestamp, text });
  }
  return rows;
}

function changedState(revision: number, state: string): SharedRow | undefined {
  return revision === 0 ? undefined : { revision, state };
}

/** One append of several, with its own outcome. */
interface Member<T> {
  readonly write: StorageWrite;
  /** @param stored settles with the verb */
  readonly settle: (stored: Promise<void>) => Promise<T>;
}

/**
 * Runs appends through a storage's `appendMany`.
 *
 * An append whose signal fires before its decision is refused, and the others go on. If the storage retries, each
 * attempt asks the signal again.
 */
export function writeAllThrough<T>(
  storage: Pick<Storage, 'appendMany'>,
  writes: readonly PreparedWrite<T>[],
): readonly Promise<T>[] {
  const members = writes.map(toMember);
  // A storage may throw instead of rejecting.
  const stored = (async () => storage.appendMany?.(members.map(({ write }) => write)))();
  return members.map(({ settle }) => settle(stored));
}

function toMember<T>({ request, decide, succeed, fail }: PreparedWrite<T>): Member<T> {
  const { signal } = request;
  let isDecided = false;
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(abortedError(signal!));
  });
  // After the decision the commit may be sent already.
  const stop = signal && onAbort(signal, () => isDecided || abort());
  return {
    write: {
      request,
      decide(found) {
        if (signal?.aborted === true) {
          // If it was decided before, that attempt was rolled back.
          abort();
          return undefined;
        }
        isDecided = true;
        try {
          return decide(found);
        } catch {
          // `succeed` throws the error.
          return undefined;
        }
      },
    },
    settle: (stored) => Promise.race([aborted, stored]).finally(stop).then(succeed, fail),
  };
}
