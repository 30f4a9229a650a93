/** Carries out what happens to the outbox of a session or state: the rules themselves are in `outbox_table.ts`. */
import { ownerOf } from '../../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import type { Effect, Happening, OutboxOfKey, Seen, Step } from '../outbox/happening.js';
import {
  eventOf,
  isOf,
  isOfEvent,
  isRefused,
  type NumberedWrite,
  replacedVersionOf,
} from '../outbox/mutation.js';
import { step } from '../outbox/outbox_table.js';
import { type CacheKey, isSession } from '../records/cache_key.js';
import { type EventRecord, hasCopy } from '../records/records.js';
import type { CacheTransaction } from './cache_transaction.js';

/** What became of the outbox. */
export interface CarriedOut extends Step {
  readonly before: OutboxOfKey;
}

/** Changes the mutations of a session or state because something has happened. Only this function does. */
export async function carryOut(
  transaction: CacheTransaction,
  key: CacheKey,
  happening: Happening,
): Promise<CarriedOut> {
  const before = await transaction.outbox.of(key);
  const done = step(before, happening, await seen(transaction, key, before, happening));
  transaction.drawUpTo(done.counter);
  await transaction.outbox.change(key, done.outbox);
  for (const effect of done.effects) await perform(transaction, key, effect);
  return { ...done, before };
}

/** Reads what the rules have to know. What they can do without is not read. */
async function seen(
  transaction: CacheTransaction,
  key: CacheKey,
  outbox: OutboxOfKey,
  { type }: Happening,
): Promise<Seen> {
  const { counter, states, copies } = transaction;
  const writes: Partial<Record<SharedScope, readonly NumberedWrite[]>> = {};
  // Only refusals make mutations move behind others, and lose the values that these have written.
  if (outbox.some(isRefused)) {
    for (const scope of SHARED_SCOPES) writes[scope] = await states.writes(ownerOf(scope, key));
  }
  const revisions = new Map<string, EventRecord>();
  const record = isSession(key) ? await copies.get(key) : undefined;
  if (!isSession(key) || !hasCopy(record)) return { writes, revisions, counter };
  const isAnswer = type === 'stored' || type === 'copied';
  for (const mutation of isAnswer ? outbox : []) {
    if (!isOfEvent(mutation) || replacedVersionOf(mutation).mutation === undefined) continue;
    const event = await copies.events(key).withId(eventOf(mutation).id);
    if (event !== undefined) revisions.set(event.id, event);
  }
  const { localId, copy } = record;
  return { copy: { localId, revision: copy.revision }, writes, revisions, counter };
}

async function perform(
  transaction: CacheTransaction,
  key: CacheKey,
  effect: Effect,
): Promise<void> {
  if (!isSession(key)) {
    if (effect === 'shown otherwise') transaction.notify({ type: 'resync' });
  } else if (effect === 'copy leaves') await removeCopy(transaction, key);
  else if (effect === 'record leaves') await transaction.copies.delete(key);
  else if (effect === 'shown otherwise') await tellEdit(transaction, key);
  else await showAgain(transaction, key);
}

/**
 * Removes a copy, and the mutations that were acknowledged and would leave with the next fetch of it. The other
 * mutations stay, such as those of a session that was created after it.
 */
export async function removeCopy(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
): Promise<void> {
  const record = await transaction.copies.get(key);
  if (record === undefined) return;
  const { localId } = record;
  const happening = { type: 'copied', localId, revision: Infinity } as const;
  const { outbox } = await carryOut(transaction, key, happening);
  if (outbox.length === 0) await transaction.copies.delete(key);
  else {
    await transaction.copies.events(key).clear();
    await transaction.copies.put(key, { ...record, copy: undefined });
  }
  transaction.markDeleted(key);
  transaction.notify({ type: 'deleted', ...key, revision: transaction.counter });
}

/**
 * Shows a session whose deletion was given up, unless another one was created behind: that one is fetched as its own.
 */
async function showAgain(transaction: CacheTransaction, key: CompositeSessionKey): Promise<void> {
  const mutations = await transaction.outbox.of(key);
  if (mutations.some((each) => isOf(each, 'create'))) return removeCopy(transaction, key);
  const view = await transaction.view(key);
  if (view === undefined) return;
  transaction.notify({ type: 'created', ...key, revision: view.revision, scopes: [] });
}

/** Tells handles and watchers that mutations of a session were edited. */
export async function tellEdit(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
): Promise<void> {
  await renewLocalVersions(transaction, key);
  const view = await transaction.view(key);
  if (view === undefined) return;
  transaction.notify({ type: 'appended', ...key, revision: view.revision, scopes: [] });
}

/**
 * Gives the session and its last event a new local version, so that handles notice a change and read the state again.
 */
async function renewLocalVersions(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
): Promise<void> {
  const { copies } = transaction;
  const record = await copies.get(key);
  if (record === undefined) return;
  const { copy, localId } = record;
  if (copy !== undefined && copy.first < copy.next) {
    const events = copies.events(key);
    const position = copy.next - 1;
    const last = await events.at(position);
    await events.put(position, { ...last, localVersion: transaction.nextNumber() }, localId, last);
    await events.store();
    return copies.put(key, { ...record, localVersion: transaction.nextNumber() });
  }
  const localVersion = transaction.nextNumber();
  await copies.put(key, { ...record, localVersion });
  const last = (await transaction.outbox.of(key)).findLast(isOfEvent);
  if (last === undefined) return;
  const [first, ...others] = last.numbers;
  const numbers = new Map([[last.number, [{ ...first!, localVersion }, ...others]]]);
  await carryOut(transaction, key, { type: 'renumbered', numbers });
}
