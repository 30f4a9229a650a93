/** Stores again what an open tab has of local data that the browser has lost. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { isSession } from '../records/cache_key.js';
import { isOf, newRecord, type Operation, withBasis } from '../records/records.js';
import { standInOperation } from './stand_in.js';
import type { SessionBirth } from './births.js';
import type { CacheTransaction } from './cache_transaction.js';

/** What a tab has of the local data in its memory. */
export interface HeldData {
  /** The operations that have not arrived, by session or state. */
  readonly operations: readonly (readonly Operation[])[];
  /** The sessions of the remote that were read. */
  readonly sessions: readonly SessionBirth[];
}

/** Stores what a tab has, unless another tab has stored it. */
export async function restore(
  transaction: CacheTransaction,
  { operations, sessions }: HeldData,
  now: number,
): Promise<void> {
  for (const ofOne of operations) await restoreOperations(transaction, ofOne, now);
  // Their handles hold again when they are fetched.
  for (const { key, birth, created } of sessions) {
    const isKnown = (await transaction.copies.get(key)) ?? (await transaction.copies.givenUp(key));
    if (isKnown === undefined) await transaction.copies.putGivenUp(key, { birth, created });
  }
}

async function restoreOperations(
  transaction: CacheTransaction,
  operations: readonly Operation[],
  now: number,
): Promise<void> {
  // What another tab has restored may be sent by now.
  const restored = new Set(transaction.owner.loss?.restored);
  const rest = operations.filter(({ number }) => !restored.has(number));
  const [first] = rest;
  if (first === undefined) return;
  const { key } = first.write;
  const stored = new Set((await transaction.outbox.stored(key)).map(({ number }) => number));
  const missing = rest.filter(({ number }) => !stored.has(number));
  if (missing.length === 0) return;
  const put = isSession(key) ? await underSession(transaction, key, missing, now) : missing;
  await transaction.outbox.change(key, { put });
  transaction.noteRestored(missing);
}

/** Returns operations over a session that has a record. */
async function underSession(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  operations: readonly Operation[],
  now: number,
): Promise<readonly Operation[]> {
  const [first] = operations;
  if (first === undefined) return [];
  const { birth } = first.basis;
  const isCreated = isOf(first, 'create');
  const record = await transaction.copies.get(key);
  if (record === undefined) {
    await transaction.copies.put(key, newRecord(birth, now));
    if (isCreated) return operations;
    // The remote has the session. It is fetched before the operations are sent. No other operation has a number below 1.
    const demanding = operations.map((operation) =>
      // They want the session gone, or nothing of it.
      isOf(operation, 'delete', 'cancel') ? operation : withBasis(operation, { mustExist: true }),
    );
    return [standInOperation(key, { number: 0, birth, now }), ...demanding];
  }
  // Another tab has made the record.
  if (isCreated) return operations;
  return operations.map((operation) =>
    operation.basis.birth === birth ? withBasis(operation, { birth: record.birth }) : operation,
  );
}
