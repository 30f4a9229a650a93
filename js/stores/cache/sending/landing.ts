/** Applies the remote's answers to changes of titles and labels, to rewinds, to deletions and to changes of states. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import { removeCopy } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isOf, isUserDeletion } from '../records/records.js';
import { birthOfCopy } from '../overlay/session_overlay.js';
import { keepArrived, landShared, type Operations, removeArrived, sessionOf } from './arrived.js';

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
