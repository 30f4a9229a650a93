/** Applies the remote's answers: the parts that the answers to all mutations have, and the answers without events. */
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { removeCopied, removeCopy } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { localIdOfCopy } from '../overlay/session_overlay.js';
import { withAcknowledged } from '../overlay/shared_overlay.js';
import {
  eventOf,
  isOf,
  isOfEvent,
  isWaiting,
  type Mutation,
  type OutboxKind,
  type SessionRecord,
  withBase,
  isUserDeletion,
} from '../records/records.js';
import { stripShared } from '../verbs/strip.js';

// The parts of all answers: the values of mutations in shared states, and the revisions of their events.

/** The mutations that a request has sent, or those of them that still wait. All are of one session or state. */
export type Mutations<Kind extends OutboxKind = OutboxKind> = readonly [
  Mutation<Kind>,
  ...Mutation<Kind>[],
];

/** Returns the key of mutations of a session. */
export function sessionOf([{ write }]: Mutations): CompositeSessionKey {
  return write.key as CompositeSessionKey;
}

/** Returns the sent mutations that still wait in the outbox. `undefined`: none. */
export async function stillWaiting<Kind extends OutboxKind>(
  transaction: CacheTransaction,
  sent: Mutations<Kind>,
): Promise<Mutations<Kind> | undefined> {
  const mutations = await transaction.outbox.of(sent[0].write.key);
  const numbers = new Set(sent.map(({ number }) => number));
  // A mutation with the same number is of the same kind.
  const [first, ...others] = mutations.filter(
    (mutation) => numbers.has(mutation.number) && isWaiting(mutation),
  ) as readonly Mutation[] as readonly Mutation<Kind>[];
  return first && [first, ...others];
}

/** Removes acknowledged mutations whose effect the copy has. */
export async function removeAcknowledged(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  before: SessionRecord,
  acknowledged: Mutations,
  revisions?: ReadonlyMap<string, number>,
): Promise<void> {
  await removeCopied(transaction, key, acknowledged);
  await keepLocalVersion(transaction, key, before, acknowledged);
  await expectAcknowledged(transaction, key, acknowledged, revisions);
}

/**
 * Lets acknowledged mutations lie over the copy until the copy has the revision at which the remote has stored them.
 */
export async function keepAcknowledged(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  acknowledged: Mutations,
  acknowledgedAt: number,
  revisions?: ReadonlyMap<string, number>,
): Promise<void> {
  const put = acknowledged.map((each): Mutation => ({
    ...each,
    sent: { ...each.sent, acknowledgedAt },
  }));
  await transaction.outbox.change(key, { put });
  await expectAcknowledged(transaction, key, acknowledged, revisions);
}

/** Records the acknowledged values of shared states. They stay until a fetch that begins later. */
export async function applyShared(
  transaction: CacheTransaction,
  mutations: readonly Mutation[],
): Promise<void> {
  const numbers = new Set(mutations.map(({ number }) => number));
  for (const scope of SHARED_SCOPES) {
    const [first, ...rest] = mutations.filter(({ shared }) => shared[scope] !== undefined);
    if (first === undefined) continue;
    const owner = ownerOf(scope, first.write.key);
    const writers = [first, ...rest] as const;
    const writes = writers.flatMap(({ shared }) => shared[scope] ?? []);
    const record = await transaction.states.get(owner);
    await transaction.states.put(owner, withAcknowledged(record, writes, transaction.nextNumber()));
    await stripShared(transaction, owner, writers, numbers);
  }
}

/** Makes each mutation that replaces an acknowledged event expect the present revision of that event. */
export async function expectAcknowledged(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  acknowledged: readonly Mutation[],
  revisions: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const record = await transaction.copies.get(key);
  const numbers = new Set(acknowledged.map(({ number }) => number));
  const mutations = await transaction.outbox.of(key);
  const put: Mutation[] = [];
  for (const mutation of mutations) {
    if (!isOfEvent(mutation)) continue;
    const { previous } = mutation.base;
    if (previous === undefined || !numbers.has(previous)) continue;
    const { id } = eventOf(mutation);
    const stored = record?.copy && (await transaction.copies.events(key).withId(id));
    const exact = revisions.get(id) ?? (stored?.isExact ? stored.revision : undefined);
    const expected = exact ?? stored?.revision ?? record?.copy?.revision ?? null;
    const isBound = exact === undefined && expected !== null;
    put.push(withBase(mutation, { previous: undefined, expected, isBound: isBound || undefined }));
  }
  if (put.length > 0) await transaction.outbox.change(key, { put });
}

/** Raises a session's local version to those of acknowledged mutations: its revision must not fall when they leave. */
export async function keepLocalVersion(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  before: SessionRecord,
  acknowledged: readonly Mutation[],
): Promise<void> {
  const present = await transaction.copies.get(key);
  if (present === undefined) return;
  const localVersions = acknowledged.map((mutation) => {
    const last = isOf(mutation, 'create') ? undefined : mutation.numbers.at(-1);
    return last?.localVersion ?? mutation.number;
  });
  const localVersion = Math.max(before.localVersion, ...localVersions);
  if (localVersion > present.localVersion)
    await transaction.copies.put(key, { ...present, localVersion });
}

// The answers to changes of titles and labels, to rewinds, to deletions and to changes of states.

/** Applies the answer to a change of title or labels. */
export async function applyDescription(
  transaction: CacheTransaction,
  [mutation]: Mutations<'describe'>,
): Promise<void> {
  const { key } = mutation.write;
  const record = await transaction.copies.require(key);
  const { copy } = record;
  if (copy !== undefined && record.localId === mutation.base.localId) {
    const { title = copy.title, labels = copy.labels } = mutation.write;
    const described = { ...copy, title, labels, describedAt: transaction.nextNumber() };
    await transaction.copies.put(key, { ...record, copy: described });
  }
  await transaction.outbox.change(key, { removed: [mutation] });
}

/** Applies the answer to a rewind. The mutation lies over the copy until the copy has the revision. */
export async function applyRewind(
  transaction: CacheTransaction,
  acknowledged: Mutations<'rewind'>,
  revision: number,
): Promise<void> {
  const { key } = acknowledged[0].write;
  await applyShared(transaction, acknowledged);
  const record = await transaction.copies.require(key);
  const isCopied = record.copy !== undefined && revision <= record.copy.revision;
  if (isCopied) await removeAcknowledged(transaction, key, record, acknowledged);
  else await keepAcknowledged(transaction, key, acknowledged, revision);
}

/** Applies the answer to the deletion of a session. */
export async function applyDeletion(
  transaction: CacheTransaction,
  acknowledged: Mutations<'delete'>,
): Promise<void> {
  const [mutation] = acknowledged;
  const key = sessionOf(acknowledged);
  await transaction.outbox.change(key, { removed: [mutation] });
  const record = await transaction.copies.require(key);
  const isOfCopy = localIdOfCopy(record) === mutation.base.localId;
  const isEmpty = (await transaction.outbox.of(key)).length === 0;
  if (isOfCopy || (isEmpty && record.copy === undefined)) await removeCopy(transaction, key);
}

/** Applies the answer that nothing runs any more for a message that was given up. */
export async function applyCancelling(
  transaction: CacheTransaction,
  acknowledged: Mutations<'cancel'>,
): Promise<void> {
  const key = sessionOf(acknowledged);
  await transaction.outbox.change(key, { removed: acknowledged });
  const isEmpty = (await transaction.outbox.of(key)).length === 0;
  const record = await transaction.copies.get(key);
  if (isEmpty && record !== undefined && record.copy === undefined)
    await removeCopy(transaction, key);
}

/** Applies the answer that a session was not deleted, because somebody has changed it. */
export async function applyRefusedDeletion(
  transaction: CacheTransaction,
  acknowledged: Mutations<'delete'>,
): Promise<void> {
  await transaction.outbox.change(sessionOf(acknowledged), { removed: acknowledged });
  await showAgain(transaction, sessionOf(acknowledged));
}

/**
 * Shows a session whose deletion was given up, unless another one was created behind: that one is fetched as its own.
 */
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
export async function applyStates(
  transaction: CacheTransaction,
  acknowledged: Mutations<'update' | 'delete'>,
): Promise<void> {
  const [mutation] = acknowledged;
  const { key } = mutation.write;
  await transaction.outbox.change(key, { removed: acknowledged });
  await applyShared(transaction, acknowledged);
  if (!isUserDeletion(mutation)) return;
  const { appName, userId }: StateOwner = key;
  for (const [session, { localId }] of await transaction.copies.copied({ appName, userId })) {
    if (localId < mutation.number) await removeCopy(transaction, session);
  }
}
