/** Deletions: which operations of a deleted session are still sent. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { IS_OF_USER, SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { type CacheKey, sessionKeyOf } from '../records/cache_key.js';
import {
  type Expectation,
  isOf,
  isOfEvent,
  NEW,
  type Operation,
  withBasis,
} from '../records/records.js';
import { blockersOf, blocksAll } from '../records/refusals.js';
import { moveBehind } from './strip.js';

/**
 * Deletes a session. Operations that were sent without an answer, or that write shared keys, are sent before the
 * deletion.
 *
 * @param ifUnchanged whether the remote keeps the session if anybody has changed it since it was created
 * @returns the number of the operation, if the remote has to be told
 */
export async function deleteSession(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  ifUnchanged = false,
): Promise<number[]> {
  const view = await transaction.view(key);
  if (view === undefined) return [];
  const { birth, copy, overlay } = view;
  const record = await transaction.copies.require(key);
  const operations = await transaction.outbox.of(key);
  const kept = await prune(transaction, key, birth, operations, SHARED_SCOPES);
  // The remote may have a session whose creation only stands in.
  const isLocal = copy === undefined && overlay.creation?.basis.isThere !== true;
  if (isLocal && !kept.some((operation) => operation.basis.birth === birth)) {
    if (kept.length === 0 && record.copy === undefined) await transaction.copies.delete(key);
    return [];
  }
  const number = transaction.nextNumber();
  const write = { kind: 'delete', what: 'session', key: sessionKeyOf(key) } as const;
  const basis = { birth, time: 0, ...(ifUnchanged && { ifUnchanged }) };
  const deletion = { ...NEW, number, write, basis };
  await transaction.outbox.change(key, { put: [deletion] });
  return [number];
}

/** The scopes whose states outlive a user. */
const OF_APP = SHARED_SCOPES.filter((scope) => !IS_OF_USER[scope]);

/** Removes what is unsent of a user's sessions. The operation that deletes the user hides what is left. */
export async function deleteUser(
  transaction: CacheTransaction,
  { appName, userId }: Pick<CompositeSessionKey, 'appName' | 'userId'>,
): Promise<void> {
  for (const [key, record] of await transaction.copies.list({ appName, userId })) {
    const operations = await transaction.outbox.of(key);
    const births = new Set(operations.map(({ basis }) => basis.birth));
    let kept = operations;
    for (const birth of births) kept = await prune(transaction, key, birth, kept, OF_APP);
    if (kept.length === 0 && record.copy === undefined) await transaction.copies.delete(key);
  }
}

/**
 * Removes the operations of a session that need not be sent before it is deleted.
 *
 * @param scopes those whose keys are still sent
 * @returns the operations that are left
 */
async function prune(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  birth: number,
  operations: readonly Operation[],
  scopes: readonly SharedScope[],
): Promise<readonly Operation[]> {
  const own = operations.filter(({ basis }) => basis.birth === birth);
  const isNeeded = ({ refusal, sent, shared }: Operation): boolean =>
    refusal === undefined &&
    (sent.attempts > 0 ||
      sent.landed !== undefined ||
      scopes.some((scope) => shared[scope] !== undefined));
  const isAnyNeeded = own.some(isNeeded);
  const removed = own.filter(
    (operation) =>
      !isNeeded(operation) &&
      !(isAnyNeeded && isOf(operation, 'create') && operation.refusal === undefined),
  );
  return removed.length === 0 ? operations : removeUnsent(transaction, key, operations, removed);
}

/**
 * Removes operations that will not be sent. An operation that was to replace one of their events then replaces the
 * version before it. What has waited for a refused one comes behind those that were sent meanwhile: the remote has seen their
 * numbers.
 *
 * @returns the operations that are left
 */
export async function removeUnsent(
  transaction: CacheTransaction,
  key: CacheKey,
  operations: readonly Operation[],
  removed: readonly Operation[],
): Promise<readonly Operation[]> {
  const rest = operations.filter((operation) => !removed.includes(operation));
  const left = rest.map((operation) => withoutPrevious(operation, removed));
  const put = left.filter((operation, index) => operation !== rest[index]);
  await transaction.outbox.change(key, { put, removed });
  const before = blockersOf(operations);
  const after = blockersOf(left);
  const released = left.filter(({ number }) => {
    const blocker = before.get(number);
    return blocker !== undefined && !blocksAll(blocker) && !after.has(number);
  });
  if (released.length === 0) return left;
  const moved = await moveBehind(transaction, released);
  await transaction.outbox.change(key, { put: moved, removed: released });
  return [...left.filter((operation) => !released.includes(operation)), ...moved];
}

/** Returns an operation that replaces what the removed ones would have replaced, if it was to replace their event. */
function withoutPrevious(operation: Operation, removed: readonly Operation[]): Operation {
  if (!isOfEvent(operation)) return operation;
  let result = operation;
  for (;;) {
    const earlier = removed.find(({ number }) => number === result.basis.previous);
    if (earlier === undefined) return result;
    const replaced: Expectation = isOfEvent(earlier) ? earlier.basis : {};
    const { previous, expected = null, isBound } = replaced;
    result = withBasis(result, {
      ...{ previous, isBound },
      expected: previous === undefined ? expected : undefined,
    });
  }
}
