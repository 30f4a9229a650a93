/** Applies the remote's answers: the parts that the answers to all mutations have, and the answers without events. */
import type { StateOwner } from '../../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { leaveCopied } from '../copies/copy_writer.js';
import { carryOut, removeCopy } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import {
  isOf,
  isSent,
  isUserDeletion,
  type Mutation,
  type OutboxKind,
} from '../outbox/mutation.js';
import { withAcknowledged } from '../overlay/shared_overlay.js';
import type { SessionRecord } from '../records/records.js';
import { stripShared } from './strip_shared.js';

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

/** Returns those mutations whose answer is still missing. `undefined`: none. */
export async function stillSent<Kind extends OutboxKind>(
  transaction: CacheTransaction,
  sent: Mutations<Kind>,
): Promise<Mutations<Kind> | undefined> {
  const mutations = await transaction.outbox.of(sent[0].write.key);
  const numbers = new Set(numbersOf(sent));
  // A mutation with the same number is of the same kind.
  const [first, ...others] = mutations.filter(
    (mutation) => numbers.has(mutation.number) && isSent(mutation),
  ) as readonly Mutation[] as readonly Mutation<Kind>[];
  return first && [first, ...others];
}

export function numbersOf(mutations: readonly Mutation[]): readonly number[] {
  return mutations.map(({ number }) => number);
}

/** Removes stored mutations whose effect the copy has. */
export async function removeStored(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  before: SessionRecord,
  acknowledged: Mutations,
  revisions?: ReadonlyMap<string, number>,
): Promise<void> {
  const numbers = numbersOf(acknowledged);
  await leaveCopied(transaction, key, { type: 'stored', numbers, revisions });
  await keepLocalVersion(transaction, key, before, acknowledged);
}

/** Records the values that stored mutations have written to shared states. They stay until a fetch that begins later. */
export async function applyShared(
  transaction: CacheTransaction,
  mutations: readonly Mutation[],
): Promise<void> {
  for (const { owner, writes } of await stripShared(transaction, mutations)) {
    const record = await transaction.states.get(owner);
    await transaction.states.put(owner, withAcknowledged(record, writes, transaction.nextNumber()));
  }
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
  if (copy !== undefined && record.localId === mutation.localId) {
    const { title = copy.title, labels = copy.labels } = mutation.write;
    const described = { ...copy, title, labels, describedAt: transaction.nextNumber() };
    await transaction.copies.put(key, { ...record, copy: described });
  }
  await carryOut(transaction, key, { type: 'stored', numbers: [mutation.number] });
}

/** Applies the answer to a rewind. The mutation lies over the copy until the copy has the revision. */
export async function applyRewind(
  transaction: CacheTransaction,
  acknowledged: Mutations<'rewind'>,
  revision: number,
): Promise<void> {
  const { key } = acknowledged[0].write;
  const record = await transaction.copies.require(key);
  const isCopied = record.copy !== undefined && revision <= record.copy.revision;
  const numbers = numbersOf(acknowledged);
  if (isCopied) await removeStored(transaction, key, record, acknowledged);
  else await carryOut(transaction, key, { type: 'stored', numbers, at: revision });
  await applyShared(transaction, acknowledged);
}

/** Applies the answer to changes of a state, or to the deletion of a state or a user. */
export async function applyStates(
  transaction: CacheTransaction,
  acknowledged: Mutations<'update' | 'delete'>,
): Promise<void> {
  const [mutation] = acknowledged;
  const { key } = mutation.write;
  await carryOut(transaction, key, { type: 'stored', numbers: numbersOf(acknowledged) });
  await applyShared(transaction, acknowledged);
  if (!isUserDeletion(mutation)) return;
  const { appName, userId }: StateOwner = key;
  for (const [session, { localId }] of await transaction.copies.copied({ appName, userId })) {
    if (localId < mutation.number) await removeCopy(transaction, session);
  }
}
