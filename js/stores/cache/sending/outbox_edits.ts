/** The changes that users of a cache make to its outbox. */
import { SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { CopyDraft } from '../copies/copy_draft.js';
import { removeCopy } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { renumber, moveBehind } from '../verbs/strip.js';
import { type CacheKey, isSession, pickSessionKey } from '../records/cache_key.js';
import {
  eventsOf,
  isOf,
  isOfEvent,
  NEW,
  type Mutation,
  UNSENT,
  withBase,
} from '../records/records.js';
import { blockersOf, onlyUndoes } from '../records/refusals.js';
import { deleteSession, removeUnsent } from '../verbs/deletion.js';
import { writesOfCreation } from '../overlay/shared_overlay.js';

export function notWaiting(eventId: string): SessionError {
  const message = `Event ${JSON.stringify(eventId)} does not wait for the remote.`;
  return new SessionError('not_found', message, { key: 'eventId' });
}

/**
 * Sends refused mutations again. A creation keeps its place, because all its session waits for it. Everything else
 * comes behind what waits, with what it blocks. The remote may have seen higher numbers, so the moved mutations get new
 * ones.
 */
export async function retryRefused(
  transaction: CacheTransaction,
  key: CacheKey,
  mutations: readonly Mutation[],
  isChosen: (mutation: Mutation) => boolean,
): Promise<void> {
  const chosen = new Set(mutations.filter((each) => each.refusal !== undefined && isChosen(each)));
  const blockers = blockersOf(mutations);
  const inPlace = [...chosen].filter((each) => isOf(each, 'create'));
  const moved = mutations.filter((mutation) => {
    const refused = mutation.refusal === undefined ? blockers.get(mutation.number) : mutation;
    return refused !== undefined && chosen.has(refused) && !isOf(refused, 'create');
  });
  const reset = moved.map((each) => (each.refusal === undefined ? each : resetForRetry(each)));
  const put = [...inPlace.map(resetForRetry), ...(await moveBehind(transaction, reset))];
  await transaction.outbox.change(key, { put, removed: moved });
  if (!isSession(key) || (await transaction.view(key)) !== undefined) return;
  // Its deletion waits again.
  transaction.notify({ type: 'deleted', ...key, revision: transaction.counter });
}

function resetForRetry(mutation: Mutation): Mutation {
  const unsent = { ...mutation, refusal: undefined, sent: UNSENT };
  // A retried append is stored whatever others have appended since.
  const reset = isOf(unsent, 'append') ? withBase(unsent, { since: undefined }) : unsent;
  if (!isOfEvent(reset) || (reset.base.expected ?? null) === null) return reset;
  // A retried event may replace whichever version is stored.
  return withBase(reset, { expected: Number.MAX_SAFE_INTEGER, isBound: true });
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
  const record = await transaction.copies.get(key);
  if (record === undefined) return;
  const { copy } = record;
  if (copy !== undefined && copy.first < copy.next) {
    const { id } = await transaction.copies.events(key).at(copy.next - 1);
    const draft = await CopyDraft.of(transaction, key, record, copy);
    await draft.renumber(id);
    await draft.store();
    return;
  }
  const localVersion = transaction.nextNumber();
  await transaction.copies.put(key, { ...record, localVersion });
  const last = (await transaction.outbox.of(key)).findLast(isOfEvent);
  if (last === undefined) return;
  const [first, ...others] = last.numbers;
  const put = [{ ...last, numbers: [{ ...first!, localVersion }, ...others] }];
  await transaction.outbox.change(key, { put });
}

export async function dropMutations(
  transaction: CacheTransaction,
  key: CacheKey,
  mutations: readonly Mutation[],
  chosen: readonly Mutation[],
  eventId: string | undefined,
): Promise<void> {
  // An event that belongs to a creation is removed from it. The creation stays.
  const isPart = (mutation: Mutation): mutation is Mutation<'create'> =>
    eventId !== undefined && isOf(mutation, 'create');
  const removed = chosen.filter((mutation) => !isPart(mutation));
  const rest = await removeUnsent(transaction, key, mutations, removed);
  const put = chosen.filter(isPart).map((mutation) => withoutEvent(mutation, eventId!));
  await transaction.outbox.change(key, { put });
  if (!isSession(key)) return;
  const joint = removed.find(({ base }) => base.isJoint === true);
  if (joint && (await giveUpSession(transaction, key, joint, rest))) return;
  const [first, second] = rest;
  // A provisional creation was refused: the remote has no session, and no mutation is left that needs one.
  const isOnlyRefused =
    isOf(first, 'create') && first.base.mustExist === true && first.refusal !== undefined;
  if (isOnlyRefused && second === undefined) {
    await transaction.outbox.change(key, { removed: [first] });
  } else if (first !== undefined) return;
  const record = await transaction.copies.get(key);
  const isGone = removed.some(({ refusal }) => refusal?.code === 'not_found');
  if (record !== undefined && (record.copy === undefined || isGone)) {
    await removeCopy(transaction, key);
  }
}

/** Takes back the mutations of a call, because there is no session for them. */
export async function takeBack(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  numbers: readonly number[],
): Promise<void> {
  const mutations = await transaction.outbox.of(key);
  const chosen = mutations.filter(({ number }) => numbers.includes(number));
  if (chosen.length === 0) return;
  await dropMutations(transaction, key, mutations, chosen, undefined);
  await tellEdit(transaction, key);
}

/**
 * Gives up a session that was created for an event which is given up, unless anything else has been done with it. A
 * rewind of that event is nothing else. Returns whether it did.
 */
async function giveUpSession(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  joint: Mutation,
  rest: readonly Mutation[],
): Promise<boolean> {
  const { localId } = joint.base;
  const view = await transaction.view(key);
  const own = rest.filter(({ base }) => base.localId === localId);
  const isOther = (mutation: Mutation): boolean =>
    !isOf(mutation, 'create') && !onlyUndoes(mutation, joint);
  const isUsed = view?.localId !== localId || own.some(isOther);
  const copy = view?.copy;
  const isChanged = copy !== undefined && copy.revision !== copy.created;
  if (isUsed || isChanged) return false;
  await deleteSession(transaction, key, true);
  transaction.notify({ type: 'deleted', ...key, revision: transaction.counter });
  return true;
}

/** Puts the cancelling of a message's run in the place of the mutation that may have begun it. */
export async function cancelFirst(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { number, base: { localId } }: Mutation,
  messageId: string,
): Promise<void> {
  // A session that is gone from here was never sent.
  if ((await transaction.copies.get(key)) === undefined) return;
  const later = (await transaction.outbox.of(key)).filter((other) => other.number > number);
  const write = { kind: 'cancel', key: pickSessionKey(key), messageId } as const;
  // A number of its own, so that a late answer to the message is none to the cancelling.
  const cancelling = {
    ...NEW,
    number: transaction.nextNumber(),
    write,
    base: { localId, time: 0 },
  };
  const put = [cancelling, ...renumber(transaction, later)];
  await transaction.outbox.change(key, { put, removed: later });
}

/** Returns a creation without an event, to be sent again. */
function withoutEvent(mutation: Mutation<'create'>, eventId: string): Mutation {
  const kept = eventsOf(mutation).filter(({ id }) => id !== eventId);
  const events = kept.map(({ id, timestamp, text }) => ({ id, timestamp, text }));
  const numbers = kept.map(({ seq, localVersion }) => ({ seq, localVersion }));
  const write = { ...mutation.write, events };
  return { ...mutation, refusal: undefined, numbers, write, shared: writesOfCreation(write) };
}
