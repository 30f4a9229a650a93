/** The changes that users of a cache make to its outbox. */
import { SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { type CarriedOut, carryOut, tellEdit } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { eventsOf, isOf, isRefused, type Mutation } from '../outbox/mutation.js';
import { withDependents } from '../outbox/refusals.js';
import { writesOfCreation } from '../overlay/shared_overlay.js';
import { type CacheKey, isSession } from '../records/cache_key.js';
import { deleteSession } from '../verbs/deletion.js';
import { numbersOf } from './answers.js';

export function notWaiting(eventId: string): SessionError {
  const message = `Event ${JSON.stringify(eventId)} does not wait for the remote.`;
  return new SessionError('not_found', message, { key: 'eventId' });
}

/** Sends refused mutations again, with what they block. */
export async function retryRefused(
  transaction: CacheTransaction,
  key: CacheKey,
  mutations: readonly Mutation[],
  isChosen: (mutation: Mutation) => boolean,
): Promise<void> {
  const numbers = numbersOf(mutations.filter((each) => isRefused(each) && isChosen(each)));
  await carryOut(transaction, key, { type: 'retried', numbers });
  if (!isSession(key) || (await transaction.view(key)) !== undefined) return;
  // Its deletion waits again.
  transaction.notify({ type: 'deleted', ...key, revision: transaction.counter });
}

/** Gives up unsent mutations, or one of their events. An event of a creation is removed from it. The creation stays. */
export async function dropMutations(
  transaction: CacheTransaction,
  key: CacheKey,
  chosen: readonly Mutation[],
  eventId: string | undefined,
): Promise<void> {
  const isPart = (mutation: Mutation): mutation is Mutation<'create'> =>
    eventId !== undefined && isOf(mutation, 'create');
  const numbers = numbersOf(chosen.filter((mutation) => !isPart(mutation)));
  const shortened = chosen.filter(isPart).map((mutation) => withoutEvent(mutation, eventId!));
  const done = await carryOut(transaction, key, { type: 'dropped', numbers, shortened });
  await giveUpSession(transaction, key, done);
}

/**
 * Gives up a message for the remote's agent, and what makes no sense without it.
 *
 * @param isCancelled whether the remote knows it
 * @returns whether it was in the outbox
 */
export async function giveUpMessage(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  messageId: string,
  isCancelled: boolean,
): Promise<boolean> {
  const done = await carryOut(transaction, key, { type: 'givenUp', messageId, isCancelled });
  await giveUpSession(transaction, key, done);
  return done.outbox !== done.before;
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
  await dropMutations(transaction, key, chosen, undefined);
  await tellEdit(transaction, key);
}

/**
 * Gives up a session that was created for an event which was given up, unless anything else has been done with it. A
 * rewind of that event is nothing else.
 */
async function giveUpSession(
  transaction: CacheTransaction,
  key: CacheKey,
  { before, outbox }: CarriedOut,
): Promise<void> {
  const isLeft = ({ write }: Mutation<'append'>): boolean =>
    outbox.some((each) => isOf(each, 'append') && each.write.events[0].id === write.events[0].id);
  const joint = before.find((each) => isOf(each, 'append') && each.write.isJoint && !isLeft(each));
  if (joint === undefined || !isSession(key)) return;
  const { localId } = joint;
  const view = await transaction.view(key);
  const undone = withDependents(outbox, [joint]);
  const onlyUndoes = (mutation: Mutation): boolean =>
    isOf(mutation, 'rewind') &&
    mutation.write.result.events.length === 1 &&
    undone.includes(mutation);
  const isOther = (mutation: Mutation): boolean =>
    !isOf(mutation, 'create', 'cancel') && !onlyUndoes(mutation);
  const own = outbox.filter((mutation) => mutation.localId === localId);
  const isUsed = view?.localId !== localId || own.some(isOther);
  const copy = view?.copy;
  const isChanged = copy !== undefined && copy.revision !== copy.created;
  if (isUsed || isChanged) return;
  await deleteSession(transaction, key, true);
  transaction.notify({ type: 'deleted', ...key, revision: transaction.counter });
}

/** Returns a creation without an event. */
function withoutEvent(mutation: Mutation<'create'>, eventId: string): Mutation {
  const kept = eventsOf(mutation).filter(({ id }) => id !== eventId);
  const events = mutation.write.events.filter(({ id }) => id !== eventId);
  const numbers = kept.map(({ seq, localVersion }) => ({ seq, localVersion }));
  const write = { ...mutation.write, events };
  return { ...mutation, numbers, write, shared: writesOfCreation(write) };
}
