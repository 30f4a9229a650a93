/** Applies the answer to a creation: the session exists now, or it existed before. */
import type { CreatedSession } from '../../../core/storage/store.js';
import { CopyDraft } from '../copies/copy_draft.js';
import { removeCopied, removeCopy } from '../copies/copy_writer.js';
import { remoteRevision } from '../copies/remote_connection.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { renumber } from '../data/renumber.js';
import {
  type Copy,
  eventOf,
  eventsOf,
  isOfEvent,
  isOfGivenUp,
  type Operation,
  UNSENT,
  withBasis,
} from '../records/records.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { birthOfCopy } from '../overlay/session_overlay.js';
import { showAgain } from './landing.js';
import { expectArrived, keepTick, landShared, type Operations } from './arrived.js';
import { splitByScope } from '../../../values/state/keys.js';

/** Applies the answer that the session was created. */
export async function landCreation(
  transaction: CacheTransaction,
  operation: Operation<'create'>,
  created: CreatedSession,
): Promise<void> {
  const { write: creation, basis } = operation;
  const { key } = creation;
  await landShared(transaction, [operation]);
  const { created: createdAt, revision, lastUpdateTime, state } = created;
  const remote = remoteRevision(createdAt, revision, lastUpdateTime);
  const record = await transaction.copies.require(key);
  if (record.copy === undefined) {
    const copy: Copy = {
      ...{
        ...remote,
        lastUpdateTime,
        createTime: creation.now,
        initialState: creation.description.initialState,
      },
      state: JSON.stringify(splitByScope(JSON.parse(state) as StateShape).session),
      title: creation.description.title ?? '',
      labels: creation.description.labels ?? '',
      parent: creation.description.parent,
      ...{ describedAt: 0, first: 0, next: 0, hasOlder: false, size: 0, isStale: false },
    };
    const own = { ...record, birth: basis.birth };
    const draft = await CopyDraft.of(transaction, key, own, copy);
    await draft.putWindow(creation.events, false);
    draft.isChanged = false;
    // The answer to a repeated creation includes what others have written since.
    const isStale = createdAt > 0 && revision !== createdAt + creation.events.length;
    draft.copy = { ...draft.copy, isStale };
    await draft.store();
  }
  if (record.copy === undefined) await transaction.outbox.change(key, { removed: [operation] });
  // The copy was fetched while the answer was under way, and may have another device's versions of the events.
  else await removeCopied(transaction, key, [operation]);
  await keepTick(transaction, key, record, [operation]);
  await expectArrived(transaction, key, [operation]);
}

/**
 * Applies the answer that the session existed before, so that it is fetched. The copy may be of an earlier session,
 * whose deletion was given up before the creation. It is then removed, and fetched again.
 */
export async function landExistingSession(
  transaction: CacheTransaction,
  [operation]: Operations<'create'>,
): Promise<void> {
  const { key } = operation.write;
  await transaction.outbox.change(key, { put: [withBasis(operation, { isThere: true })] });
  const birth = birthOfCopy(await transaction.copies.get(key));
  if (birth !== undefined && birth !== operation.basis.birth) await removeCopy(transaction, key);
}

/** Turns a creation into appends: another device created the session before, and the copy has that session now. */
export async function mergeCreation(
  transaction: CacheTransaction,
  operation: Operation<'create'>,
): Promise<void> {
  const { key } = operation.write;
  const { birth } = operation.basis;
  const operations = await transaction.outbox.of(key);
  // Nobody deletes another device's session, only because this one has given up its first message.
  const given = operations.filter(isOfGivenUp);
  const others = operations.filter((each) => each !== operation && !given.includes(each));
  // The appends get new numbers, because the remote has seen those up to the creation's.
  const appends = eventsOf(operation).map(({ seq, tick, ...event }): Operation<'append'> => {
    const basis = { birth, time: event.timestamp, expected: null };
    return {
      number: transaction.nextNumber(),
      write: { kind: 'append', key, events: [event] },
      ...{ numbers: [{ seq, tick }], basis, sent: UNSENT, shared: {} },
    };
  });
  const numbers = new Map(appends.map((append) => [eventOf(append).id, append.number]));
  const later = appends.length === 0 ? [] : others;
  const renumbered = renumber(transaction, later).map((other) =>
    isOfEvent(other) && other.basis.previous === operation.number
      ? withBasis(other, { previous: numbers.get(eventOf(other).id) })
      : other,
  );
  await transaction.outbox.change(key, {
    put: [...appends, ...renumbered],
    removed: [operation, ...given, ...later],
  });
  if (given.length > 0) await showAgain(transaction, key);
}
