/** Applies answers which say that mutations were not stored, or that their session is gone. */
import { removeCopy, removeGone } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { refusalOfDeleted } from '../records/failures.js';
import {
  isOf,
  isOfEvent,
  isOfGivenUp,
  isWaiting,
  type Mutation,
  shownEventIdOf,
  UNSENT,
  withBase,
} from '../records/records.js';
import type { CacheFailure } from '../records/status.js';
import { localIdOfCopy } from '../overlay/session_overlay.js';
import { removeUnsent } from '../verbs/deletion.js';
import { isSession } from '../records/cache_key.js';
import { tellEdit } from './outbox_edits.js';
import { applyShared, type Mutations, sessionOf } from './answers.js';

/** Marks a mutation as refused: the remote will never accept it. A creation that was given up meanwhile is removed. */
export async function refuse(
  transaction: CacheTransaction,
  mutation: Mutation,
  failure: CacheFailure,
): Promise<void> {
  const { key } = mutation.write;
  if (isOf(mutation, 'create')) {
    const given = (await transaction.outbox.of(key)).filter(isOfGivenUp);
    if (given.length > 0) {
      await transaction.outbox.change(key, { removed: [mutation, ...given] });
      return removeCopy(transaction, mutation.write.key);
    }
  }
  const refusal = isOfEvent(mutation) ? { ...failure, eventId: shownEventIdOf(mutation) } : failure;
  await transaction.outbox.change(key, { put: [{ ...mutation, refusal, sent: UNSENT }] });
  if (!isOf(mutation, 'create', 'describe', 'delete')) return;
  // The session is shown again as the remote has it.
  if (isSession(key)) await tellEdit(transaction, key);
  else transaction.notify({ type: 'resync' });
}

/** Marks mutations as never sent, because the answer says that nothing was stored. */
export async function releaseUnstored(
  transaction: CacheTransaction,
  mutations: Mutations,
): Promise<void> {
  const put = mutations.map((mutation): Mutation => {
    const released = { ...mutation, sent: UNSENT };
    return isOf(released, 'create') ? withBase(released, { isThere: undefined }) : released;
  });
  await transaction.outbox.change(mutations[0].write.key, { put });
}

/** Counts an attempt to send a mutation. */
export function withAttempt(mutation: Mutation): Mutation {
  return { ...mutation, sent: { attempts: mutation.sent.attempts + 1 } };
}

/** Takes back the last attempt of mutations, whose answer says that it has stored nothing. */
export async function withoutAttempt(
  transaction: CacheTransaction,
  mutations: Mutations,
): Promise<void> {
  const put = mutations.map((mutation): Mutation => {
    const { attempts } = mutation.sent;
    return { ...mutation, sent: { attempts: attempts - 1 } };
  });
  await transaction.outbox.change(mutations[0].write.key, { put });
}

/** Makes a mutation expect the event's revision at the remote. @returns whether it may be sent with that */
export async function adoptRevision(
  transaction: CacheTransaction,
  mutation: Mutation<'append' | 'rewind'>,
  actual: number | null,
): Promise<boolean> {
  const { expected, isBound = false } = mutation.base;
  const isSeen = isBound && actual !== null && actual <= (expected ?? -1);
  const isUnknown = !isBound && expected === null && actual !== null;
  if (!(isSeen || isUnknown)) return false;
  const adopted = withBase(mutation, { expected: actual, isBound: undefined });
  await transaction.outbox.change(mutation.write.key, { put: [{ ...adopted, sent: UNSENT }] });
  return true;
}

/** Applies the answer that the session of mutations is gone from the remote. */
export async function applyMissingSession(
  transaction: CacheTransaction,
  mutations: Mutations,
): Promise<void> {
  const [first] = mutations;
  const key = sessionOf(mutations);
  const record = await transaction.copies.require(key);
  if (localIdOfCopy(record) === first.base.localId) return removeGone(transaction, key, record);
  await refuse(transaction, first, refusalOfDeleted(key));
}

/**
 * Applies the answer that the remote has no session in the place of a provisional one. Mutations that need a session
 * are refused, or removed if a later mutation may create it.
 *
 * @returns the mutations that need a session
 */
export async function applyAbsence(
  transaction: CacheTransaction,
  creation: Mutation<'create'>,
): Promise<readonly Mutation[]> {
  const { key } = creation.write;
  await transaction.copies.forgetEvicted(key);
  const all = await transaction.outbox.of(key);
  const behind = all.filter(
    (each) => each.base.localId === creation.base.localId && each.number > creation.number,
  );
  const [deletion] = behind.filter((each) => isOf(each, 'delete'));
  const demanding = behind.filter(({ base }) => base.mustExist === true);
  if (creation.base.mustExist !== true) {
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

/** Removes mutations that were acknowledged before their session was deleted. */
export async function applyBeforeDeletion(
  transaction: CacheTransaction,
  acknowledged: Mutations,
): Promise<void> {
  const { localId } = acknowledged[0].base;
  const key = sessionOf(acknowledged);
  await applyShared(transaction, acknowledged);
  await transaction.outbox.change(key, { removed: acknowledged });
  const record = await transaction.copies.get(key);
  if (record === undefined) return;
  if (localIdOfCopy(record) === localId) return removeGone(transaction, key, record);
  const mutations = await transaction.outbox.of(key);
  const next = mutations.find(({ base }) => base.localId === localId);
  if (next !== undefined && !isOf(next, 'delete') && isWaiting(next)) {
    await refuse(transaction, next, refusalOfDeleted(key));
  }
  if (mutations.length === 0 && record.copy === undefined) await removeCopy(transaction, key);
}
