/** Joins a write of a state, a title or labels with earlier ones of the same keys, so that only the last value is sent. */
import { ownerOf } from '../../../core/storage/scopes.js';
import { SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isOf, type Operation } from '../records/records.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { joinedDelta, sharedWrites } from '../overlay/shared_overlay.js';

/**
 * Stores an operation that changes a state, or a title and labels. It replaces the earlier ones that write one of its
 * keys, if they were never sent and no other operation has to come between. Their other values move into it.
 */
export async function putJoined(
  transaction: CacheTransaction,
  operation: Operation<'update'> | Operation<'describe'>,
): Promise<void> {
  const [removed, put] = await (isOf(operation, 'update')
    ? joinUpdate(transaction, operation)
    : joinDescription(transaction, operation));
  const joined = removed.flatMap(({ joined = [], number }) => [...joined, number]);
  await transaction.outbox.change(operation.write.key, {
    put: [removed.length === 0 ? put : { ...put, joined }],
    removed,
  });
}

/** An operation, and the earlier ones whose place it takes. */
type Joined = readonly [removed: readonly Operation[], put: Operation];

async function joinUpdate(
  transaction: CacheTransaction,
  operation: Operation<'update'>,
): Promise<Joined> {
  const removed = await joinableUpdates(transaction, operation);
  if (removed.length === 0) return [removed, operation];
  const delta = joinedDelta([...removed, operation]);
  const shared = sharedWrites([JSON.parse(delta) as StateShape]);
  return [removed, { ...operation, write: { ...operation.write, delta }, shared }];
}

async function joinDescription(
  transaction: CacheTransaction,
  operation: Operation<'describe'>,
): Promise<Joined> {
  const removed = await joinableDescriptions(transaction, operation);
  const all = [...removed, operation].map(({ write }) => write);
  const title = all.findLast((each) => each.title !== undefined)?.title;
  const labels = all.findLast((each) => each.labels !== undefined)?.labels;
  return [removed, { ...operation, write: { ...operation.write, title, labels } }];
}

async function joinableUpdates(
  transaction: CacheTransaction,
  { write: { key }, shared }: Operation<'update'>,
): Promise<Operation<'update'>[]> {
  const namesOf = (scope: SharedScope) => new Set(shared[scope]?.values.map(([name]) => name));
  const names = { user: namesOf('user'), app: namesOf('app') };
  const operations = await transaction.outbox.of(key);
  const joinable: Operation<'update'>[] = [];
  for (let index = operations.length - 1; index >= 0; index -= 1) {
    const earlier = operations[index];
    if (!isOf(earlier, 'update') || earlier.refusal !== undefined) break;
    const isSameKey = SHARED_SCOPES.some((scope) =>
      earlier.shared[scope]?.values.some(([name]) => names[scope].has(name)),
    );
    if (!isSameKey || earlier.sent.attempts > 0) continue;
    if (!(await isOvertaken(transaction, earlier, joinable))) joinable.unshift(earlier);
  }
  return joinable;
}

async function joinableDescriptions(
  transaction: CacheTransaction,
  { write: { key, title, labels }, basis: { birth } }: Operation<'describe'>,
): Promise<Operation<'describe'>[]> {
  const operations = await transaction.outbox.of(key);
  const joinable: Operation<'describe'>[] = [];
  /** Whether an operation in between writes the title or the labels. */
  let [isTitled, isLabelled] = [false, false];
  for (let index = operations.length - 1; index >= 0; index -= 1) {
    const earlier = operations[index];
    if (earlier?.basis.birth !== birth || earlier.refusal !== undefined) break;
    const { write } = earlier;
    const writesTitle =
      write.kind === 'rewind' ||
      (write.kind === 'append' && write.titleChange !== undefined) ||
      (write.kind === 'describe' && write.title !== undefined);
    const writesLabels = write.kind === 'describe' && write.labels !== undefined;
    const isSameKey =
      (writesTitle && title !== undefined) || (writesLabels && labels !== undefined);
    const isBehind = (writesTitle && isTitled) || (writesLabels && isLabelled);
    if (isSameKey && !isBehind && isOf(earlier, 'describe') && earlier.sent.attempts === 0) {
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
  { write: { key }, number, shared }: Operation,
  joinable: readonly Operation[],
): Promise<boolean> {
  for (const scope of SHARED_SCOPES) {
    const change = shared[scope];
    if (change === undefined) continue;
    const keys = new Set(change.values.map(([name]) => name));
    const isLater = (await transaction.states.writes(ownerOf(scope, key))).some(
      (other) =>
        other.number > number &&
        !joinable.some((each) => each.number === other.number) &&
        (other.isCleared || other.values.some(([name]) => keys.has(name))),
    );
    if (isLater) return true;
  }
  return false;
}
