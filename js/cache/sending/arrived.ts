/** Applies what arrives with operations of any kind: their values in shared states, and their events' revisions. */
import { ownerOf } from '../../storage/scopes.js';
import type { CompositeSessionKey } from '../../model/session.js';
import { SHARED_SCOPES } from '../../state/scope.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isSession } from '../records/cache_key.js';
import type { Operation, SessionRecord } from '../records/records.js';
import { storedEvent } from '../storage/shown_events.js';
import { withArrived } from '../view/shared_overlay.js';
import { stripShared } from './strip.js';

/** Returns the sent operations that still wait in the outbox. */
export async function presentOf(
  transaction: CacheTransaction,
  key: Operation['key'],
  sent: readonly Operation[],
): Promise<Operation[]> {
  const record = isSession(key) ? await transaction.session(key) : undefined;
  const operations = await transaction.operations(key, record);
  const numbers = new Set(sent.map(({ number }) => number));
  return operations.filter(({ number, landed }) => numbers.has(number) && landed === undefined);
}

/** Records the arrived values of shared states. They stay until a fetch that begins later. */
export async function landShared(
  transaction: CacheTransaction,
  operations: readonly Operation[],
): Promise<void> {
  const numbers = new Set(operations.map(({ number }) => number));
  for (const scope of SHARED_SCOPES) {
    const writers = operations.filter(({ shared }) => shared[scope] !== undefined);
    const [first] = writers;
    if (first === undefined) continue;
    const owner = ownerOf(scope, first.key);
    const writes = writers.map(({ shared }) => shared[scope]!);
    const record = await transaction.state(owner);
    await transaction.putState(owner, withArrived(record, writes, transaction.tick()));
    for (const [index, { number }] of writers.entries()) {
      await stripShared(transaction, owner, writes[index]!, number, numbers);
    }
  }
}

/** Gives each operation that replaces an arrived event the present revision of that event, as the expected one. */
export async function expectArrived(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  arrived: readonly Operation[],
  revisions: ReadonlyMap<string, number>,
): Promise<void> {
  const record = await transaction.session(key);
  const numbers = new Set(arrived.map(({ number }) => number));
  const operations = await transaction.operations(key, record);
  const put: Operation[] = [];
  for (const operation of operations) {
    const { previous, event } = operation;
    if (previous === undefined || event === undefined || !numbers.has(previous)) continue;
    const stored = record?.copy && (await storedEvent(transaction, key, event.id));
    const exact = revisions.get(event.id) ?? (stored?.isExact ? stored.revision : undefined);
    const expected = exact ?? stored?.revision ?? record?.copy?.revision ?? null;
    const isBound = exact === undefined && expected !== null;
    put.push({ ...operation, previous: undefined, expected, isBound: isBound || undefined });
  }
  if (put.length > 0) await transaction.changeOperations(key, { put });
}

/** Keeps a session's tick at least as high: its revision must not fall when its operations leave. */
export async function keepTick(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  before: SessionRecord,
  arrived: readonly Operation[],
): Promise<void> {
  const present = await transaction.session(key);
  if (present === undefined) return;
  const tick = Math.max(before.tick, ...arrived.map(({ event, number }) => event?.tick ?? number));
  if (tick > present.tick) await transaction.putSession(key, { ...present, tick });
}
