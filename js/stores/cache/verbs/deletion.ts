/** Deletions: which mutations of a deleted session are still sent. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isAskedFor, isOf } from '../outbox/mutation.js';
import { pickSessionKey } from '../records/cache_key.js';

/**
 * Deletes a session. Mutations that were sent without an answer, or that write shared keys, are sent before the
 * deletion.
 *
 * @param ifUnchanged whether the remote keeps the session if anybody has changed it since it was created
 * @returns the number of the mutation, if the remote has to be told
 */
export async function deleteSession(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  ifUnchanged = false,
): Promise<number[]> {
  const view = await transaction.view(key);
  if (view === undefined) return [];
  const { localId, copy, overlay } = view;
  const { before, outbox } = await carryOut(transaction, key, {
    type: 'deleted',
    write: {
      kind: 'delete',
      what: 'session',
      key: pickSessionKey(key),
      ...(ifUnchanged && { ifUnchanged }),
    },
    localId,
    // The remote may have the session of a provisional creation.
    mayBeRemote: copy !== undefined || isAskedFor(overlay.creation),
  });
  const deletion = outbox.find((each) => isOf(each, 'delete') && !before.includes(each));
  return deletion === undefined ? [] : [deletion.number];
}

/** Removes the unsent mutations of a user's sessions. The mutation that deletes the user hides the rest. */
export async function deleteUser(
  transaction: CacheTransaction,
  { appName, userId }: Pick<CompositeSessionKey, 'appName' | 'userId'>,
): Promise<void> {
  for (const [key] of await transaction.copies.list({ appName, userId })) {
    await carryOut(transaction, key, { type: 'userDeleted' });
  }
}
