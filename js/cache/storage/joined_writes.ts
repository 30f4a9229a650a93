/** Joins a write of a state, a title or labels with earlier ones of the same keys, so that only the last value is sent. */
import { ownerOf } from '../../storage/scopes.js';
import { SHARED_SCOPES, type SharedScope } from '../../state/scope.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import type { Operation } from '../records/records.js';
import type { JsonState } from '../view/json_state.js';
import { joinedDelta, sharedWrites } from '../view/shared_overlay.js';

/**
 * Stores an operation that changes a state, or a title and labels. It takes the place of the earlier ones that write one
 * of its keys, if they were never sent and nothing stands between: their other values move to its place too.
 */
export async function putJoined(
  transaction: CacheTransaction,
  operation: Operation,
): Promise<void> {
  const removed = await joinable(transaction, operation);
  const put = [removed.length === 0 ? operation : joinedOf([...removed, operation], operation)];
  await transaction.changeOperations(operation.key, { put, removed });
}

/** Returns the operations whose place a new one takes, in their order. */
function joinable(transaction: CacheTransaction, operation: Operation): Promise<Operation[]> {
  return operation.kind === 'update'
    ? joinableUpdates(transaction, operation)
    : joinableDescriptions(transaction, operation);
}

async function joinableUpdates(
  transaction: CacheTransaction,
  { key, shared }: Operation,
): Promise<Operation[]> {
  const namesOf = (scope: SharedScope) => new Set(shared[scope]?.values.map(([name]) => name));
  const names = { user: namesOf('user'), app: namesOf('app') };
  const operations = await transaction.operations(key);
  const joinable: Operation[] = [];
  for (let index = operations.length - 1; index >= 0; index -= 1) {
    const earlier = operations[index]!;
    if (earlier.kind !== 'update' || earlier.refusal !== undefined) break;
    const isSameKey = SHARED_SCOPES.some((scope) =>
      earlier.shared[scope]?.values.some(([name]) => names[scope].has(name)),
    );
    if (!isSameKey || earlier.attempts > 0) continue;
    if (!(await isOvertaken(transaction, earlier, joinable))) joinable.unshift(earlier);
  }
  return joinable;
}

async function joinableDescriptions(
  transaction: CacheTransaction,
  { key, birth, title, labels }: Operation,
): Promise<Operation[]> {
  const operations = await transaction.operations(key);
  const joinable: Operation[] = [];
  /** What operations between write. */
  let [isTitled, isLabelled] = [false, false];
  for (let index = operations.length - 1; index >= 0; index -= 1) {
    const earlier = operations[index]!;
    if (earlier.birth !== birth || earlier.refusal !== undefined) break;
    const writesTitle = earlier.title !== undefined || earlier.rewind !== undefined;
    const writesLabels = earlier.labels !== undefined;
    const isSameKey =
      (writesTitle && title !== undefined) || (writesLabels && labels !== undefined);
    const isBehind = (writesTitle && isTitled) || (writesLabels && isLabelled);
    if (isSameKey && !isBehind && earlier.kind === 'describe' && earlier.attempts === 0) {
      joinable.unshift(earlier);
    } else {
      isTitled ||= writesTitle;
      isLabelled ||= writesLabels;
    }
  }
  return joinable;
}

/** Whether a later operation, of a session or another state, writes one of the keys. */
async function isOvertaken(
  transaction: CacheTransaction,
  { key, number, shared }: Operation,
  joinable: readonly Operation[],
): Promise<boolean> {
  for (const scope of SHARED_SCOPES) {
    const write = shared[scope];
    if (write === undefined) continue;
    const keys = new Set(write.values.map(([name]) => name));
    const isLater = (await transaction.sharedWrites(ownerOf(scope, key))).some(
      (other) =>
        other.number > number &&
        !joinable.some((each) => each.number === other.number) &&
        (other.isCleared || other.values.some(([name]) => keys.has(name))),
    );
    if (isLater) return true;
  }
  return false;
}

/** Returns an operation with what those before it write. */
function joinedOf(operations: readonly Operation[], last: Operation): Operation {
  const earlier = operations.slice(0, -1);
  const joined = earlier.flatMap(({ joined = [], number }) => [...joined, number]);
  if (last.kind === 'update') {
    const delta = joinedDelta(operations);
    return { ...last, delta, shared: sharedWrites([JSON.parse(delta) as JsonState]), joined };
  }
  const title = operations.findLast((each) => each.title !== undefined)?.title;
  const labels = operations.findLast((each) => each.labels !== undefined)?.labels;
  return { ...last, title, labels, joined };
}
