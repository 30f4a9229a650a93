/** Deletions: which mutations of a deleted session are still sent. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { IS_OF_USER, SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { type CacheKey, pickSessionKey } from '../records/cache_key.js';
import {
  type Expectation,
  isOf,
  isOfEvent,
  NEW,
  type Mutation,
  withBase,
} from '../records/records.js';
import { blockersOf, blocksAll } from '../records/refusals.js';
import { moveBehind } from './strip.js';

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
  const record = await transaction.copies.require(key);
  const mutations = await transaction.outbox.of(key);
  const kept = await prune(transaction, key, localId, mutations, SHARED_SCOPES);
  // The remote may have the session of a provisional creation.
  const isLocal = copy === undefined && overlay.creation?.base.isThere !== true;
  if (isLocal && !kept.some((mutation) => mutation.base.localId === localId)) {
    if (kept.length === 0 && record.copy === undefined) await transaction.copies.delete(key);
    return [];
  }
  const number = transaction.nextNumber();
  const write = { kind: 'delete', what: 'session', key: pickSessionKey(key) } as const;
  const base = { localId, time: 0, ...(ifUnchanged && { ifUnchanged }) };
  const deletion = { ...NEW, number, write, base };
  await transaction.outbox.change(key, { put: [deletion] });
  return [number];
}

/** The scopes whose states outlive a user. */
const OF_APP = SHARED_SCOPES.filter((scope) => !IS_OF_USER[scope]);

/** Removes the unsent mutations of a user's sessions. The mutation that deletes the user hides the rest. */
export async function deleteUser(
  transaction: CacheTransaction,
  { appName, userId }: Pick<CompositeSessionKey, 'appName' | 'userId'>,
): Promise<void> {
  for (const [key, record] of await transaction.copies.list({ appName, userId })) {
    const mutations = await transaction.outbox.of(key);
    const localIds = new Set(mutations.map(({ base }) => base.localId));
    let kept = mutations;
    for (const localId of localIds) kept = await prune(transaction, key, localId, kept, OF_APP);
    if (kept.length === 0 && record.copy === undefined) await transaction.copies.delete(key);
  }
}

/**
 * Removes the mutations of a session that need not be sent before it is deleted.
 *
 * @param scopes those whose keys are still sent
 * @returns the mutations that are left
 */
async function prune(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  localId: number,
  mutations: readonly Mutation[],
  scopes: readonly SharedScope[],
): Promise<readonly Mutation[]> {
  const own = mutations.filter(({ base }) => base.localId === localId);
  const isNeeded = ({ refusal, sent, shared }: Mutation): boolean =>
    refusal === undefined &&
    (sent.attempts > 0 ||
      sent.acknowledgedAt !== undefined ||
      scopes.some((scope) => shared[scope] !== undefined));
  const isAnyNeeded = own.some(isNeeded);
  const removed = own.filter(
    (mutation) =>
      !isNeeded(mutation) &&
      !(isAnyNeeded && isOf(mutation, 'create') && mutation.refusal === undefined),
  );
  return removed.length === 0 ? mutations : removeUnsent(transaction, key, mutations, removed);
}

/**
 * Removes mutations that will not be sent. A mutation that was to replace one of their events then replaces the
 * version before it. Mutations that have waited for a refused one come behind those that were sent meanwhile: the
 * remote has seen the numbers of these.
 *
 * @returns the mutations that are left
 */
export async function removeUnsent(
  transaction: CacheTransaction,
  key: CacheKey,
  mutations: readonly Mutation[],
  removed: readonly Mutation[],
): Promise<readonly Mutation[]> {
  const rest = mutations.filter((mutation) => !removed.includes(mutation));
  const left = rest.map((mutation) => withoutPrevious(mutation, removed));
  const put = left.filter((mutation, index) => mutation !== rest[index]);
  await transaction.outbox.change(key, { put, removed });
  const before = blockersOf(mutations);
  const after = blockersOf(left);
  const released = left.filter(({ number }) => {
    const blocker = before.get(number);
    return blocker !== undefined && !blocksAll(blocker) && !after.has(number);
  });
  if (released.length === 0) return left;
  const moved = await moveBehind(transaction, released);
  await transaction.outbox.change(key, { put: moved, removed: released });
  return [...left.filter((mutation) => !released.includes(mutation)), ...moved];
}

/**
 * If a mutation replaces the event of removed mutations, returns one that replaces what those would have replaced.
 */
function withoutPrevious(mutation: Mutation, removed: readonly Mutation[]): Mutation {
  if (!isOfEvent(mutation)) return mutation;
  let result = mutation;
  for (;;) {
    const earlier = removed.find(({ number }) => number === result.base.previous);
    if (earlier === undefined) return result;
    const replaced: Expectation = isOfEvent(earlier) ? earlier.base : {};
    const { previous, expected = null, isBound } = replaced;
    result = withBase(result, {
      previous,
      isBound,
      expected: previous === undefined ? expected : undefined,
    });
  }
}
