/** Applies answers which say that operations were not stored, or that their session is gone. */
import { removeCopy, removeGone } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { refusalOfDeleted } from '../records/failures.js';
import {
  isOf,
  isOfEvent,
  isOfGivenUp,
  isWaiting,
  type Operation,
  shownEventIdOf,
  UNSENT,
  withBasis,
} from '../records/records.js';
import type { CacheFailure } from '../records/status.js';
import { birthOfCopy } from '../overlay/session_overlay.js';
import { removeUnsent } from '../verbs/deletion.js';
import { landShared, type Operations, sessionOf } from './landing.js';

/** Marks an operation as refused: the remote will never accept it. A creation that was given up meanwhile is removed. */
export async function refuse(
  transaction: CacheTransaction,
  operation: Operation,
  failure: CacheFailure,
): Promise<void> {
  const { key } = operation.write;
  if (isOf(operation, 'create')) {
    const given = (await transaction.outbox.of(key)).filter(isOfGivenUp);
    if (given.length > 0) {
      await transaction.outbox.change(key, { removed: [operation, ...given] });
      return removeCopy(transaction, operation.write.key);
    }
  }
  const refusal = isOfEvent(operation)
    ? { ...failure, eventId: shownEventIdOf(operation) }
    : failure;
  await transaction.outbox.change(key, { put: [{ ...operation, refusal, sent: UNSENT }] });
}

/** Marks operations as never sent, because the answer says that nothing was stored. */
export async function releaseUnstored(
  transaction: CacheTransaction,
  operations: Operations,
): Promise<void> {
  const put = operations.map((operation): Operation => {
    const released = { ...operation, sent: UNSENT };
    return isOf(released, 'create') ? withBasis(released, { isThere: undefined }) : released;
  });
  await transaction.outbox.change(operations[0].write.key, { put });
}

/** Takes back the last attempt of operations, whose answer says that it has stored nothing. */
export async function withoutAttempt(
  transaction: CacheTransaction,
  operations: Operations,
): Promise<void> {
  const put = operations.map((operation): Operation => {
    const { attempts } = operation.sent;
    return { ...operation, sent: { attempts: attempts - 1 } };
  });
  await transaction.outbox.change(operations[0].write.key, { put });
}

/** Makes an operation expect the event's revision at the remote. @returns whether it may be sent with that */
export async function adoptRevision(
  transaction: CacheTransaction,
  operation: Operation<'append' | 'rewind'>,
  actual: number | null,
): Promise<boolean> {
  const { expected, isBound = false } = operation.basis;
  const isSeen = isBound && actual !== null && actual <= (expected ?? -1);
  const isUnknown = !isBound && expected === null && actual !== null;
  if (!(isSeen || isUnknown)) return false;
  const adopted = withBasis(operation, { expected: actual, isBound: undefined });
  await transaction.outbox.change(operation.write.key, { put: [{ ...adopted, sent: UNSENT }] });
  return true;
}

/** Applies the answer that the session of operations is gone from the remote. */
export async function landMissingSession(
  transaction: CacheTransaction,
  operations: Operations,
): Promise<void> {
  const [first] = operations;
  const key = sessionOf(operations);
  const record = await transaction.copies.require(key);
  if (birthOfCopy(record) === first.basis.birth) return removeGone(transaction, key, record);
  await refuse(transaction, first, refusalOfDeleted(key));
}

/**
 * Applies the answer that there is no session for a creation to stand in for. What needs one is refused, or removed if
 * something behind it may create the session.
 *
 * @returns the operations that need one
 */
export async function landAbsence(
  transaction: CacheTransaction,
  creation: Operation<'create'>,
): Promise<readonly Operation[]> {
  const { key } = creation.write;
  await transaction.copies.forgetGivenUp(key);
  const all = await transaction.outbox.of(key);
  const behind = all.filter(
    (each) => each.basis.birth === creation.basis.birth && each.number > creation.number,
  );
  const [deletion] = behind.filter((each) => isOf(each, 'delete'));
  const demanding = behind.filter(({ basis }) => basis.mustExist === true);
  if (creation.basis.mustExist !== true) {
    await removeUnsent(transaction, key, all, demanding);
    await releaseUnstored(transaction, [creation]);
    const view = await transaction.view(key);
    if (demanding.length > 0 && view !== undefined) {
      transaction.notify({ type: 'appended', ...key, revision: view.revision, scopes: [] });
    }
    return demanding;
  }
  if (demanding.length > 0) {
    // It blocks all behind it.
    await refuse(transaction, creation, refusalOfDeleted(key));
    return demanding;
  }
  await transaction.outbox.change(key, { removed: [creation, ...(deletion ? [deletion] : [])] });
  if ((await transaction.outbox.of(key)).length === 0) await removeCopy(transaction, key);
  return demanding;
}

/** Removes operations that arrived before their session was deleted. */
export async function landBeforeDeletion(
  transaction: CacheTransaction,
  arrived: Operations,
): Promise<void> {
  const { birth } = arrived[0].basis;
  const key = sessionOf(arrived);
  await landShared(transaction, arrived);
  await transaction.outbox.change(key, { removed: arrived });
  const record = await transaction.copies.get(key);
  if (record === undefined) return;
  if (birthOfCopy(record) === birth) return removeGone(transaction, key, record);
  const operations = await transaction.outbox.of(key);
  const next = operations.find(({ basis }) => basis.birth === birth);
  if (next !== undefined && !isOf(next, 'delete') && isWaiting(next)) {
    await refuse(transaction, next, refusalOfDeleted(key));
  }
  if (operations.length === 0 && record.copy === undefined) await removeCopy(transaction, key);
}
