/** Applies the remote's answers: what arrives with operations of any kind, and the answers that store no event. */
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { removeCopied, removeCopy } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { birthOfCopy } from '../overlay/session_overlay.js';
import { withArrived } from '../overlay/shared_overlay.js';
import { eventOf, isOf, isOfEvent, isWaiting, type Operation, type OutboxKind, type SessionRecord, withBasis, isUserDeletion } from '../records/records.js';
import { stripShared } from '../verbs/strip.js';

// Applies what arrives with operations of any kind: their values in shared states, and their events' revisions.

/** The operations that a request has sent, or those of them that still wait. All are of one session or state. */
export type Operations<Kind extends OutboxKind = OutboxKind> = readonly [
  Operation<Kind>,
  ...Operation<Kind>[],
];

/** Returns the key of operations of a session. */
export function sessionOf([{ write }]: Operations): CompositeSessionKey {
  return write.key as CompositeSessionKey;
}

/** Returns the sent operations that still wait in the outbox. `undefined`: none. */
export async function stillWaiting<Kind extends OutboxKind>(
  transaction: CacheTransaction,
  sent: Operations<Kind>,
): Promise<Operations<Kind> | undefined> {
  const operations = await transaction.outbox.of(sent[0].write.key);
  const numbers = new Set(sent.map(({ number }) => number));
  // An operation with the same number is of the same kind.
  const [first, ...others] = operations.filter(
    (operation) => numbers.has(operation.number) && isWaiting(operation),
  ) as readonly Operation[] as readonly Operation<Kind>[];
  return first && [first, ...others];
}

/** Removes arrived operations whose effect the copy has. */
export async function removeArrived(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  before: SessionRecord,
  arrived: Operations,
  revisions?: ReadonlyMap<string, number>,
): Promise<void> {
  await removeCopied(transaction, key, arrived);
  await keepTick(transaction, key, before, arrived);
  await expectArrived(transaction, key, arrived, revisions);
}

/** Lets arrived operations lie over the copy until it has the revision with which they have arrived. */
export async function keepArrived(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  arrived: Operations,
  landed: number,
  revisions?: ReadonlyMap<string, number>,
): Promise<void> {
  const put = arrived.map((each): Operation => ({ ...each, sent: { ...each.sent, landed } }));
  await transaction.outbox.change(key, { put });
  await expectArrived(transaction, key, arrived, revisions);
}

/** Records the arrived values of shared states. They stay until a fetch that begins later. */
export async function landShared(
  transaction: CacheTransaction,
  operations: readonly Operation[],
): Promise<void> {
  const numbers = new Set(operations.map(({ number }) => number));
  for (const scope of SHARED_SCOPES) {
    const [first, ...rest] = operations.filter(({ shared }) => shared[scope] !== undefined);
    if (first === undefined) continue;
    const owner = ownerOf(scope, first.write.key);
    const writers = [first, ...rest] as const;
    const writes = writers.flatMap(({ shared }) => shared[scope] ?? []);
    const record = await transaction.states.get(owner);
    await transaction.states.put(owner, withArrived(record, writes, transaction.nextNumber()));
    await stripShared(transaction, owner, writers, numbers);
  }
}

/** Gives each operation that replaces an arrived event the present revision of that event, as the expected one. */
export async function expectArrived(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  arrived: readonly Operation[],
  revisions: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const record = await transaction.copies.get(key);
  const numbers = new Set(arrived.map(({ number }) => number));
  const operations = await transaction.outbox.of(key);
  const put: Operation[] = [];
  for (const operation of operations) {
    if (!isOfEvent(operation)) continue;
    const { previous } = operation.basis;
    if (previous === undefined || !numbers.has(previous)) continue;
    const { id } = eventOf(operation);
    const stored = record?.copy && (await transaction.copies.events(key).withId(id));
    const exact = revisions.get(id) ?? (stored?.isExact ? stored.revision : undefined);
    const expected = exact ?? stored?.revision ?? record?.copy?.revision ?? null;
    const isBound = exact === undefined && expected !== null;
    put.push(
      withBasis(operation, { previous: undefined, expected, isBound: isBound || undefined }),
    );
  }
  if (put.length > 0) await transaction.outbox.change(key, { put });
}

/** Raises a session's tick to those of arrived operations: its revision must not fall when they leave. */
export async function keepTick(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  before: SessionRecord,
  arrived: readonly Operation[],
): Promise<void> {
  const present = await transaction.copies.get(key);
  if (present === undefined) return;
  const ticks = arrived.map((operation) => {
    const last = isOf(operation, 'create') ? undefined : operation.numbers.at(-1);
    return last?.tick ?? operation.number;
  });
  const tick = Math.max(before.tick, ...ticks);
  if (tick > present.tick) await transaction.copies.put(key, { ...present, tick });
}

// Applies the remote's answers to changes of titles and labels, to rewinds, to deletions and to changes of states.

/** Applies the answer to a change of title or labels. */
export async function landDescription(
  transaction: CacheTransaction,
  [operation]: Operations<'describe'>,
): Promise<void> {
  const { key } = operation.write;
  const record = await transaction.copies.require(key);
  const { copy } = record;
  if (copy !== undefined && record.birth === operation.basis.birth) {
    const { title = copy.title, labels = copy.labels } = operation.write;
    const described = { ...copy, title, labels, describedAt: transaction.nextNumber() };
    await transaction.copies.put(key, { ...record, copy: described });
  }
  await transaction.outbox.change(key, { removed: [operation] });
}

/** Applies the answer to a rewind. The operation lies over the copy until the copy has the revision. */
export async function landRewind(
  transaction: CacheTransaction,
  arrived: Operations<'rewind'>,
  revision: number,
): Promise<void> {
  const { key } = arrived[0].write;
  await landShared(transaction, arrived);
  const record = await transaction.copies.require(key);
  const isCopied = record.copy !== undefined && revision <= record.copy.revision;
  if (isCopied) await removeArrived(transaction, key, record, arrived);
  else await keepArrived(transaction, key, arrived, revision);
}

/** Applies the answer to the deletion of a session. */
export async function landDeletion(
  transaction: CacheTransaction,
  arrived: Operations<'delete'>,
): Promise<void> {
  const [operation] = arrived;
  const key = sessionOf(arrived);
  await transaction.outbox.change(key, { removed: [operation] });
  const record = await transaction.copies.require(key);
  const isOfCopy = birthOfCopy(record) === operation.basis.birth;
  const isEmpty = (await transaction.outbox.of(key)).length === 0;
  if (isOfCopy || (isEmpty && record.copy === undefined)) await removeCopy(transaction, key);
}

/** Applies the answer that nothing runs any more for a message that was given up. */
export async function landCancelling(
  transaction: CacheTransaction,
  arrived: Operations<'cancel'>,
): Promise<void> {
  const key = sessionOf(arrived);
  await transaction.outbox.change(key, { removed: arrived });
  const isEmpty = (await transaction.outbox.of(key)).length === 0;
  const record = await transaction.copies.get(key);
  if (isEmpty && record !== undefined && record.copy === undefined)
    await removeCopy(transaction, key);
}

/** Applies the answer that a session was not deleted, because somebody has changed it. */
export async function landRefusedDeletion(
  transaction: CacheTransaction,
  arrived: Operations<'delete'>,
): Promise<void> {
  await transaction.outbox.change(sessionOf(arrived), { removed: arrived });
  await showAgain(transaction, sessionOf(arrived));
}

/** Shows a session whose deletion was given up, unless another one was created behind: that one is fetched as its own. */
export async function showAgain(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
): Promise<void> {
  const creation = (await transaction.outbox.of(key)).find((each) => isOf(each, 'create'));
  if (creation !== undefined) return removeCopy(transaction, key);
  const view = await transaction.view(key);
  if (view === undefined) return;
  transaction.notify({ type: 'created', ...key, revision: view.revision, scopes: [] });
}

/** Applies the answer to changes of a state, or to the deletion of a state or a user. */
export async function landStates(
  transaction: CacheTransaction,
  arrived: Operations<'update' | 'delete'>,
): Promise<void> {
  const [operation] = arrived;
  const { key } = operation.write;
  await transaction.outbox.change(key, { removed: arrived });
  await landShared(transaction, arrived);
  if (!isUserDeletion(operation)) return;
  const { appName, userId }: StateOwner = key;
  for (const [session, { birth }] of await transaction.copies.copied({ appName, userId })) {
    if (birth < operation.number) await removeCopy(transaction, session);
  }
}
