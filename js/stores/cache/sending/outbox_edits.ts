/** The changes that users of a cache make to its outbox. */
import { SessionError } from '../../../values/errors/errors.js';
import type { EventSnapshot } from '../../../values/model/event/snapshot.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { CopyDraft } from '../copies/copy_draft.js';
import { removeCopy } from '../copies/copy_writer.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { renumber } from '../data/renumber.js';
import { type CacheKey, isSession, sessionKeyOf } from '../records/cache_key.js';
import {
  eventsOf,
  isOf,
  isOfEvent,
  isWaiting,
  NEW,
  type Operation,
  type OperationEvent,
  type OutboxEvent,
  UNSENT,
  withBasis,
} from '../records/records.js';
import { blockersOf, blocksAll } from '../records/refusals.js';
import { deleteSession, removeUnsent, withoutPrevious } from '../verbs/deletion.js';
import { moveBehind, withoutOvertaken } from '../verbs/strip.js';
import { deltaOf, sharedWrites, writesOfCreation } from '../overlay/shared_overlay.js';

export function notWaiting(eventId: string): SessionError {
  const message = `Event ${JSON.stringify(eventId)} does not wait for the remote.`;
  return new SessionError('not_found', message, { key: 'eventId' });
}

/** The error for an event that a rewind stores. */
function ofRewind(eventId: string): SessionError {
  const message = `Event ${JSON.stringify(eventId)} is stored with a rewind; drop it, and edit the message again.`;
  return new SessionError('unsupported', message, { key: 'event', storage: 'cache' });
}

/** Refuses operations that were sent without an answer: the remote may have stored them. */
function requireAnswered(operations: readonly Operation[]): void {
  if (operations.every(({ sent }) => sent.attempts === 0)) return;
  const message =
    'The change was sent, and its answer is missing. Append the event again, or wait until the remote answers.';
  throw new SessionError('stale_session', message, { storage: 'cache' });
}

/**
 * Sends refused operations again. Those that alone were refused come behind what waits, with what waits for them. The remote
 * may have seen higher numbers, so they get new ones.
 */
export async function retryRefused(
  transaction: CacheTransaction,
  key: CacheKey,
  operations: readonly Operation[],
  isChosen: (operation: Operation) => boolean,
): Promise<void> {
  const chosen = new Set(operations.filter((each) => each.refusal !== undefined && isChosen(each)));
  const blockers = blockersOf(operations);
  const inPlace = [...chosen].filter(blocksAll);
  const moved = operations.filter((operation) => {
    const refused = operation.refusal === undefined ? blockers.get(operation.number) : operation;
    return refused !== undefined && chosen.has(refused) && !blocksAll(refused);
  });
  const reset = moved.map((each) => (each.refusal === undefined ? each : resetForRetry(each)));
  const put = [...inPlace.map(resetForRetry), ...(await moveBehind(transaction, reset))];
  await transaction.outbox.change(key, { put, removed: moved });
}

function resetForRetry(operation: Operation): Operation {
  const reset = inAnyCase({ ...operation, refusal: undefined, sent: UNSENT });
  if (!isOfEvent(reset) || (reset.basis.expected ?? null) === null) return reset;
  // A retried event may replace whichever version is stored.
  return withBasis(reset, { expected: Number.MAX_SAFE_INTEGER, isBound: true });
}

/** Returns an append that is stored whatever others have appended since; another operation as it is. */
function inAnyCase(operation: Operation): Operation {
  return isOf(operation, 'append') ? withBasis(operation, { since: undefined }) : operation;
}

/** Gives the session and its last event a new tick, so that handles notice a change and read the state again. */
export async function renewTicks(
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
  const tick = transaction.nextNumber();
  await transaction.copies.put(key, { ...record, tick });
  const last = (await transaction.outbox.of(key)).findLast(isOfEvent);
  if (last === undefined) return;
  const [first, ...others] = last.numbers;
  const put = [{ ...last, numbers: [{ ...first!, tick }, ...others] }];
  await transaction.outbox.change(key, { put });
}

export async function dropOperations(
  transaction: CacheTransaction,
  key: CacheKey,
  operations: readonly Operation[],
  chosen: readonly Operation[],
  eventId: string | undefined,
): Promise<void> {
  // An event that belongs to a creation is removed from it. The creation stays.
  const isPart = (operation: Operation): operation is Operation<'create'> =>
    eventId !== undefined && isOf(operation, 'create');
  const removed = chosen.filter((operation) => !isPart(operation));
  const rest = await removeUnsent(transaction, key, operations, removed);
  const put = chosen.filter(isPart).map((operation) => {
    return withEvents(
      operation,
      eventsOf(operation).filter(({ id }) => id !== eventId),
    );
  });
  await transaction.outbox.change(key, { put });
  if (!isSession(key)) return;
  const joint = removed.find(({ basis }) => basis.isJoint === true);
  if (joint && (await giveUpSession(transaction, key, joint.basis.birth, rest))) return;
  const [first, second] = rest;
  // A creation that only stands in was refused: there is no session, and nothing is left that needs one.
  const isOnlyRefused =
    isOf(first, 'create') && first.basis.mustExist === true && first.refusal !== undefined;
  if (isOnlyRefused && second === undefined) {
    await transaction.outbox.change(key, { removed: [first] });
  } else if (first !== undefined) return;
  const record = await transaction.copies.get(key);
  const isGone = removed.some(({ refusal }) => refusal?.code === 'not_found');
  if (record !== undefined && (record.copy === undefined || isGone)) {
    await removeCopy(transaction, key);
  }
}

/** Takes back the operations of a call, because there is no session for them. */
export async function takeBack(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  numbers: readonly number[],
): Promise<void> {
  const operations = await transaction.outbox.of(key);
  const chosen = operations.filter(
    ({ number, joined = [] }) =>
      numbers.includes(number) || joined.some((other) => numbers.includes(other)),
  );
  if (chosen.length === 0) return;
  await dropOperations(transaction, key, operations, chosen, undefined);
  await renewTicks(transaction, key);
  const view = await transaction.view(key);
  if (view === undefined) return;
  transaction.notify({ type: 'appended', ...key, revision: view.revision, scopes: [] });
}

/**
 * Gives up a session that was created for an event which is given up, unless anything else has been done with it. Returns
 * whether it did.
 */
async function giveUpSession(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  birth: number,
  rest: readonly Operation[],
): Promise<boolean> {
  const view = await transaction.view(key);
  const own = rest.filter(({ basis }) => basis.birth === birth);
  const isUsed = view?.birth !== birth || own.some((operation) => !isOf(operation, 'create'));
  const copy = view?.copy;
  const isChanged = copy !== undefined && copy.revision !== copy.created;
  if (isUsed || isChanged) return false;
  await deleteSession(transaction, key, true);
  transaction.notify({ type: 'deleted', ...key, revision: transaction.counter });
  return true;
}

/** Puts the cancelling of a message's run in the place of the operation that may have begun it. */
export async function cancelFirst(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { number, basis: { birth } }: Operation,
  messageId: string,
): Promise<void> {
  // A session that is gone from here was never sent.
  if ((await transaction.copies.get(key)) === undefined) return;
  const later = (await transaction.outbox.of(key)).filter((other) => other.number > number);
  const write = { kind: 'cancel', key: sessionKeyOf(key), messageId } as const;
  // A number of its own, so that a late answer to the message is none to the cancelling.
  const cancelling = { ...NEW, number: transaction.nextNumber(), write, basis: { birth, time: 0 } };
  const put = [cancelling, ...renumber(transaction, later)];
  await transaction.outbox.change(key, { put, removed: later });
}

/** Returns an operation with other events, to be sent again. An append that was refused is then stored in any case. */
function withEvents(
  operation: Operation<'create' | 'append'>,
  events: readonly OperationEvent[],
): Operation {
  const texts = events.map(({ id, timestamp, text }) => ({ id, timestamp, text }));
  const numbers = events.map(({ seq, tick }) => ({ seq, tick }));
  const accepted = { ...operation, refusal: undefined, numbers };
  if (isOf(accepted, 'append')) {
    const [event] = texts as [OutboxEvent];
    const shared = sharedWrites([deltaOf(event.text)]);
    const append = { ...accepted, write: { ...accepted.write, events: [event] as const }, shared };
    return operation.refusal === undefined ? append : inAnyCase(append);
  }
  const write = { ...(operation as Operation<'create'>).write, events: texts };
  return { ...accepted, write, shared: writesOfCreation(write) };
}

/**
 * Replaces an event in all its unsent versions. The operation and those behind it get new numbers, so that a late
 * request with the old text does not count as the new one. The new numbers would also make their values of shared keys
 * newer than those that other sessions have written since. So these values are removed.
 */
export async function changeEvent(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  operations: readonly Operation[],
  { id, text, timestamp }: EventSnapshot,
): Promise<void> {
  const isVersion = (operation: Operation): boolean =>
    eventsOf(operation).some((event) => event.id === id);
  const versions = operations.filter(isWaiting).filter(isVersion);
  const [operation, ...laterVersions] = versions;
  if (operation === undefined) throw notWaiting(id);
  requireAnswered(versions);
  if (!isOf(operation, 'create', 'append')) throw ofRewind(id);
  const index = operations.indexOf(operation);
  const version = { text, timestamp, tick: transaction.nextNumber() };
  const changed = withEvents(
    operation,
    eventsOf(operation).map((each) => (each.id === id ? { ...each, ...version } : each)),
  );
  const behind = operations
    .slice(index + 1)
    .filter((other) => !laterVersions.includes(other))
    .map((other) => withoutPrevious(other, laterVersions));
  const numbers = new Set(operations.map(({ number }) => number));
  const all: Operation[] = [];
  for (const each of [changed, ...behind]) {
    all.push(await withoutOvertaken(transaction, each, numbers));
  }
  const put = renumber(transaction, all);
  await transaction.outbox.change(key, { put, removed: operations.slice(index) });
}
