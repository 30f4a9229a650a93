/** What an answer of the remote changes: the operations that have arrived, and the copy. Each in one transaction. */
import { ownerOf } from '../../storage/scopes.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { parseEventText } from '../../storage/stored_events.js';
import { SHARED_SCOPES } from '../../state/scope.js';
import type { Appended, CreatedSession } from '../../storage/backend.js';
import { MOST_CHANGED } from '../../wasm/protocol.js';
import type { Notice } from '../../model/notice.js';
import {
  putChanged,
  putWindow,
  type RemoteEvent,
  renumberEvent,
  storeDraft,
} from '../copies/copied_events.js';
import { makeDraft, removeCopy, removeGone, type Taken } from '../copies/copy_writer.js';
import { remoteRevision } from '../copies/remote_end.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isSession } from '../records/cache_key.js';
import { refusalOfDeleted } from '../records/failures.js';
import { type Copy, type Operation, type Refusal, type SessionRecord } from '../records/records.js';
import { storedEvent } from '../storage/shown_events.js';
import { applyValue, type JsonState } from '../view/json_state.js';
import { deltaOf, sharedWrites, splitByScope, withArrived } from '../view/shared_overlay.js';
import { foldOf } from '../data/operation_memory.js';
import { stripShared } from './strip.js';

/** Records what arrived in shared states. The values stay until a fetch that begins later. */
async function landShared(
  transaction: CacheTransaction,
  operations: readonly Operation[],
): Promise<void> {
  const numbers = new Set(operations.map(({ number }) => number));
  for (const scope of SHARED_SCOPES) {
    const writers = operations.filter(({ shared }) => shared[scope] !== undefined);
    const [first] = writers;
    if (first === undefined) continue;
    const owner = ownerOf(scope, first.key);
    const writes = writers.map(({ shared }) => shared[scope]!);
    const record = await transaction.state(owner);
    await transaction.putState(owner, withArrived(record, writes, transaction.tick()));
    for (const [index, { number }] of writers.entries()) {
      await stripShared(transaction, owner, writes[index]!, number, numbers);
    }
  }
}

/** Gives operations that replace events of arrived ones the revisions that these have now. */
async function expectArrived(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  arrived: readonly Operation[],
  revisions: ReadonlyMap<string, number>,
): Promise<void> {
  const record = await transaction.session(key);
  const numbers = new Set(arrived.map(({ number }) => number));
  const operations = await transaction.operations(key, record);
  const put: Operation[] = [];
  for (const operation of operations) {
    const { previous, event } = operation;
    if (previous === undefined || event === undefined || !numbers.has(previous)) continue;
    const stored = record?.copy && (await storedEvent(transaction, key, event.id));
    const exact = revisions.get(event.id) ?? (stored?.isExact ? stored.revision : undefined);
    const expected = exact ?? stored?.revision ?? record?.copy?.revision ?? null;
    const isBound = exact === undefined && expected !== null;
    put.push({ ...operation, previous: undefined, expected, isBound: isBound || undefined });
  }
  if (put.length > 0) await transaction.changeOperations(key, { put });
}

/** The copy that an append was sent for. */
export interface AppendPosition {
  readonly created: number | null;
  readonly revision: number;
}

/** Events have arrived. @returns whether the copy has to be fetched, and what has changed */
export async function landAppends(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  sent: readonly Operation[],
  appended: Appended,
  position: AppendPosition,
): Promise<Taken & { readonly isBehind: boolean }> {
  const taken: Taken = { notices: [], overtaken: [] };
  const arrived = await presentOf(transaction, key, sent);
  if (arrived.length === 0) return { ...taken, isBehind: false };
  await landShared(transaction, arrived);
  const record = (await transaction.session(key))!;
  const { copy } = record;
  const { revision, missed, placed } = appended;
  const revisions = new Map(
    sent.flatMap(({ event }, index) => {
      const place = placed[index];
      return place === undefined ? [] : [[event!.id, place.revision] as const];
    }),
  );
  const isSame = copy?.created === position.created && position.created !== null;
  const told = new Set(missed.map(({ text }) => parseEventText(text)?.id));
  // Not every storage tells where it has stored an event.
  const isTold = sent.every(({ event }) => revisions.has(event!.id) || told.has(event!.id));
  if (copy !== undefined && isSame && revision <= copy.revision) {
    await transaction.changeOperations(key, { removed: arrived });
    await keepTick(transaction, key, record, arrived);
    await expectArrived(transaction, key, arrived, revisions);
    await showReplaced(transaction, key, copy, arrived);
    return { ...taken, isBehind: false };
  }
  if (
    copy === undefined ||
    !isSame ||
    !isTold ||
    copy.revision < position.revision ||
    missed.length >= MOST_CHANGED - 1 ||
    copy.isStale
  ) {
    const landed = arrived.map((operation) => ({ ...operation, landed: revision }));
    await transaction.changeOperations(key, { put: landed });
    await expectArrived(transaction, key, arrived, revisions);
    return { ...taken, isBehind: true };
  }
  const events = new Map<
    string,
    RemoteEvent & { readonly seq: number; readonly revision: number }
  >();
  const deltas: { readonly revision: number; readonly text: string; readonly isOwn: boolean }[] =
    [];
  for (const { seq, revision: at, text } of missed) {
    const event = parseEventText(text);
    if (event === undefined || at <= copy.revision) continue;
    events.set(event.id, { id: event.id, timestamp: event.timestamp, text, seq, revision: at });
    deltas.push({ revision: at, text, isOwn: false });
  }
  for (const [index, { event }] of sent.entries()) {
    const place = placed[index];
    if (place === undefined || place.revision <= copy.revision) continue;
    const seq = events.get(event!.id)?.seq ?? place.seq;
    events.set(event!.id, { ...event!, seq, revision: place.revision });
    deltas.push({ revision: place.revision, text: event!.text, isOwn: true });
  }
  const operations = await transaction.operations(key, record);
  const draft = makeDraft(key, record, copy, operations);
  await putChanged(transaction, draft, [...events.values()]);
  const toldState = appended.state;
  const state = (
    toldState === undefined
      ? JSON.parse(copy.state)
      : splitByScope(JSON.parse(toldState) as JsonState).session
  ) as JsonState;
  // A told state has what was missed, and nothing of this append.
  const untold = toldState === undefined ? [...deltas] : deltas.filter(({ isOwn }) => isOwn);
  untold.sort((one, other) => one.revision - other.revision);
  for (const { text } of untold) applyDelta(state, text);
  const { lastUpdateTime } = appended;
  const title =
    copy.title === ''
      ? (arrived.find(({ title }) => title !== undefined)?.title ?? '')
      : copy.title;
  draft.copy = { ...draft.copy, revision, lastUpdateTime, title, state: JSON.stringify(state) };
  // Before the rest gets other numbers.
  await transaction.changeOperations(key, { removed: arrived });
  const { stamp, shape } = (await transaction.session(key))!;
  const after = await storeDraft(transaction, { ...draft, record: { ...record, stamp, shape } });
  await expectArrived(transaction, key, arrived, revisions);
  if (draft.isChanged) {
    const at = draft.isReordered ? transaction.counter : after.tick;
    taken.notices.push({ type: 'appended', ...key, revision: at, scopes: [] });
  }
  // The answer does not tell the states that the missed events have changed.
  const missedWrites = sharedWrites(
    deltas.filter(({ isOwn }) => !isOwn).map(({ text }) => deltaOf(text)),
  );
  for (const scope of SHARED_SCOPES) {
    if (missedWrites[scope] !== undefined) taken.overtaken.push(ownerOf(scope, key));
  }
  return { ...taken, isBehind: false };
}

function applyDelta(state: JsonState, text: string): void {
  const { session } = splitByScope(deltaOf(text));
  for (const [name, value] of Object.entries(session)) applyValue(state, name, value);
}

/**
 * Tells handles of values that others have replaced before the answer came. Handles had them from the operation, which
 * lay over the copy.
 */
async function showReplaced(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  copy: Copy,
  arrived: readonly Operation[],
): Promise<void> {
  const state = JSON.parse(copy.state) as JsonState;
  const replaced = arrived.flatMap(({ event }) => {
    const delta = Object.entries(
      event === undefined ? {} : splitByScope(deltaOf(event.text)).session,
    );
    const isReplaced = delta.some(
      ([name, value]) => JSON.stringify(state[name]) !== JSON.stringify(value),
    );
    return event !== undefined && isReplaced ? [event.id] : [];
  });
  if (replaced.length === 0) return;
  const record = (await transaction.session(key))!;
  const draft = makeDraft(key, record, copy, await transaction.operations(key, record));
  for (const id of replaced) await renumberEvent(transaction, draft, id);
  await storeDraft(transaction, draft);
}

/** A session never goes back to an earlier revision when its operations leave. */
async function keepTick(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  before: SessionRecord,
  arrived: readonly Operation[],
): Promise<void> {
  const present = await transaction.session(key);
  if (present === undefined) return;
  const tick = Math.max(before.tick, ...arrived.map(({ event, number }) => event?.tick ?? number));
  if (tick > present.tick) await transaction.putSession(key, { ...present, tick });
}

/** Returns those of the sent operations that are still there. */
async function presentOf(
  transaction: CacheTransaction,
  key: Operation['key'],
  sent: readonly Operation[],
): Promise<Operation[]> {
  const record = isSession(key) ? await transaction.session(key) : undefined;
  const operations = await transaction.operations(key, record);
  const numbers = new Set(sent.map(({ number }) => number));
  return operations.filter(({ number, landed }) => numbers.has(number) && landed === undefined);
}

/** The session of a creation is there. */
export async function landCreation(
  transaction: CacheTransaction,
  sent: Operation,
  created: CreatedSession,
): Promise<void> {
  const key = sent.key as CompositeSessionKey;
  const [operation] = await presentOf(transaction, key, [sent]);
  if (operation === undefined) return;
  await landShared(transaction, [operation]);
  const { created: createdAt, revision, lastUpdateTime, state } = created;
  const remote = remoteRevision(createdAt, revision, lastUpdateTime);
  const record = (await transaction.session(key))!;
  const creation = operation.creation!;
  if (record.copy === undefined) {
    const copy: Copy = {
      ...{
        ...remote,
        lastUpdateTime,
        createTime: creation.now,
        initialState: creation.description.initialState,
      },
      state: JSON.stringify(splitByScope(JSON.parse(state) as JsonState).session),
      title: creation.description.title ?? '',
      labels: creation.description.labels ?? '',
      parent: creation.description.parent,
      ...{ describedAt: 0, first: 0, next: 0, hasOlder: false, size: 0, isStale: false },
    };
    const operations = await transaction.operations(key, record);
    const overlay = foldOf({ ...record, birth: operation.birth }, operations);
    const own = { ...record, birth: operation.birth };
    const draft = { key, record: own, copy, overlay, isReordered: false, isChanged: false };
    await putWindow(transaction, draft, creation.events, false);
    draft.isChanged = false;
    // A repeated creation is answered with what others have written since.
    const isStale = createdAt > 0 && revision !== createdAt + creation.events.length;
    draft.copy = { ...draft.copy, isStale };
    await storeDraft(transaction, draft);
  }
  await transaction.changeOperations(key, { removed: [operation] });
  await keepTick(transaction, key, record, [operation]);
  await expectArrived(transaction, key, [operation], new Map());
}

/**
 * The session of a creation was there before. Its copy is fetched again if it is that of a session whose deletion was
 * given up: the creation came after it.
 */
export async function landPresence(
  transaction: CacheTransaction,
  sent: Operation,
): Promise<readonly Notice[]> {
  const key = sent.key as CompositeSessionKey;
  const [operation] = await presentOf(transaction, key, [sent]);
  const record = await transaction.session(key);
  const isOther = record?.copy !== undefined && record.birth !== operation?.birth;
  return operation !== undefined && isOther ? [await removeCopy(transaction, key)] : [];
}

/** The session of a creation was there before, from another device, and the copy has it now. */
export async function mergeCreation(transaction: CacheTransaction, sent: Operation): Promise<void> {
  const key = sent.key as CompositeSessionKey;
  const [operation] = await presentOf(transaction, key, [sent]);
  if (operation === undefined) return;
  const record = (await transaction.session(key))!;
  const { events } = operation.creation!;
  const rest = { attempts: 0, key, birth: operation.birth, shared: {} } as const;
  const operations = await transaction.operations(key, record);
  const others = operations.filter(({ number }) => number !== operation.number);
  // The remote has seen the numbers up to that of the creation.
  const appends = events.map((event): Operation => {
    const number = transaction.tick();
    return { ...rest, number, kind: 'append', time: event.timestamp, event, expected: null };
  });
  const numbers = new Map(events.map(({ id }, index) => [id, appends[index]!.number]));
  const later = events.length === 0 ? [] : others;
  const renumbered = renumber(transaction, later).map((other) => {
    const isOfCreation = other.previous === operation.number && other.event !== undefined;
    return isOfCreation ? { ...other, previous: numbers.get(other.event.id) } : other;
  });
  await transaction.changeOperations(key, {
    put: [...appends, ...renumbered],
    removed: [operation, ...later],
  });
}

/** Gives operations new numbers, in the same order. */
export function renumber(
  transaction: CacheTransaction,
  operations: readonly Operation[],
): Operation[] {
  const numbers = new Map<number, number>();
  return operations.map((operation) => {
    const number = transaction.tick();
    numbers.set(operation.number, number);
    const { previous } = operation;
    return {
      ...operation,
      number,
      attempts: 0,
      ...(previous !== undefined && { previous: numbers.get(previous) ?? previous }),
    };
  });
}

/** A title or labels have arrived. */
export async function landDescription(
  transaction: CacheTransaction,
  sent: Operation,
): Promise<void> {
  const key = sent.key as CompositeSessionKey;
  const [operation] = await presentOf(transaction, key, [sent]);
  if (operation === undefined) return;
  const record = (await transaction.session(key))!;
  const { copy } = record;
  if (copy !== undefined && record.birth === operation.birth) {
    const { title = copy.title, labels = copy.labels } = operation;
    const described = { ...copy, title, labels, describedAt: transaction.tick() };
    await transaction.putSession(key, { ...record, copy: described });
  }
  await transaction.changeOperations(key, { removed: [operation] });
}

/** A session was deleted. */
export async function landDeletion(transaction: CacheTransaction, sent: Operation): Promise<void> {
  const key = sent.key as CompositeSessionKey;
  const [operation] = await presentOf(transaction, key, [sent]);
  if (operation === undefined) return;
  await transaction.changeOperations(key, { removed: [operation] });
  const record = (await transaction.session(key))!;
  const isOfCopy = record.copy !== undefined && record.birth === operation.birth;
  const isEmpty = (await transaction.operations(key, record)).length === 0;
  if (isOfCopy || (isEmpty && record.copy === undefined)) await removeCopy(transaction, key);
}

/** A state was changed, or something was deleted. */
export async function landState(transaction: CacheTransaction, sent: Operation): Promise<void> {
  const { key } = sent;
  const [operation] = await presentOf(transaction, key, [sent]);
  if (operation === undefined) return;
  await transaction.changeOperations(key, { removed: [operation] });
  await landShared(transaction, [operation]);
  if (operation.what !== 'user') return;
  const { appName, userId } = key;
  for (const [session, record] of await transaction.sessions({ appName, userId })) {
    const isDeleted = record.copy !== undefined && record.birth < operation.number;
    if (isDeleted) await removeCopy(transaction, session);
  }
}

/** The remote will never accept operations. */
export async function refuse(
  transaction: CacheTransaction,
  sent: readonly Operation[],
  refusal: Refusal,
): Promise<void> {
  const [first] = sent;
  if (first === undefined) return;
  const [operation] = await presentOf(transaction, first.key, [first]);
  if (operation === undefined) return;
  const eventId = operation.event?.id ?? refusal.eventId;
  const named = eventId === undefined ? refusal : { ...refusal, eventId };
  await transaction.changeOperations(first.key, {
    put: [{ ...operation, refusal: named, attempts: 0 }],
  });
}

/** The answer tells that nothing was stored: the operations count as never sent. */
export async function releaseUnstored(
  transaction: CacheTransaction,
  sent: readonly Operation[],
): Promise<void> {
  const [first] = sent;
  if (first === undefined) return;
  const present = await presentOf(transaction, first.key, sent);
  const put = present.map((operation) => ({ ...operation, attempts: 0 }));
  await transaction.changeOperations(first.key, { put });
}

/** Gives an operation the revision that the remote's event has. @returns whether it may be sent with that */
export async function adoptRevision(
  transaction: CacheTransaction,
  sent: Operation,
  actual: number | null,
): Promise<boolean> {
  const [operation] = await presentOf(transaction, sent.key, [sent]);
  const { expected, isBound = false } = operation ?? {};
  const isSeen = isBound && actual !== null && expected !== null && actual <= expected!;
  const isUnknown = !isBound && expected === null && actual !== null;
  if (operation === undefined || !(isSeen || isUnknown)) return false;
  const put = [{ ...operation, expected: actual, isBound: undefined, attempts: 0 }];
  await transaction.changeOperations(operation.key, { put });
  return true;
}

/** The session that operations change is gone from the remote. */
export async function landAbsence(
  transaction: CacheTransaction,
  sent: readonly Operation[],
): Promise<readonly Notice[]> {
  const key = sent[0]!.key as CompositeSessionKey;
  const present = await presentOf(transaction, key, sent);
  if (present.length === 0) return [];
  const record = (await transaction.session(key))!;
  if (record.copy !== undefined && record.birth === present[0]!.birth) {
    return removeGone(transaction, key, record);
  }
  await refuse(transaction, sent, refusalOfDeleted(key));
  return [];
}

/** Operations had arrived before their session was deleted. */
export async function landBeforeDeletion(
  transaction: CacheTransaction,
  sent: readonly Operation[],
): Promise<readonly Notice[]> {
  const key = sent[0]!.key as CompositeSessionKey;
  const present = await presentOf(transaction, key, sent);
  if (present.length === 0) return [];
  await landShared(transaction, present);
  await transaction.changeOperations(key, { removed: present });
  const record = await transaction.session(key);
  if (record === undefined) return [];
  const { birth } = present[0]!;
  if (record.copy !== undefined && record.birth === birth)
    return removeGone(transaction, key, record);
  const operations = await transaction.operations(key, record);
  const first = operations.find((operation) => operation.birth === birth);
  if (first !== undefined && first.kind !== 'delete') {
    await refuse(transaction, [first], refusalOfDeleted(key));
  }
  if (operations.length === 0 && record.copy === undefined)
    return [await removeCopy(transaction, key)];
  return [];
}
