/** Makes the operations of a write. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CreateWrite } from '../../../core/write.js';
import type { Changes, EventRow, StorageKey } from '../../../core/storage/rows.js';
import { storageKey } from '../../../core/storage/scopes.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isSession } from '../records/cache_key.js';
import type {
  AppendOperation,
  CreateOperation,
  Expectation,
  OperationEvent,
  UpdateOperation,
} from '../records/records.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { SessionView } from '../view/session_overlay.js';
import { deltaOf, sharedWrites, writesOfCreation } from '../view/shared_overlay.js';

/** What the caller of a write gives. */
interface Given {
  /** The session that is created. */
  readonly creation: CreateWrite | undefined;
  /** The JSON text of the delta of an `update`. */
  readonly delta: string;
}

/** Members that most new operations have. */
export const NEW = { attempts: 0, shared: {} } as const;
export const NEW_OF_SESSION = { ...NEW, time: 0 } as const;

export function sessionKeyOf({
  appName,
  userId,
  sessionId,
}: Required<StorageKey>): CompositeSessionKey {
  return { appName, userId, sessionId };
}

export function ownerKey({ appName, userId }: StorageKey): StorageKey {
  return storageKey({ appName, userId });
}

function operationEvent({ id, text, timestamp, seq, revision }: EventRow): OperationEvent {
  return { id, text, timestamp, seq, tick: revision };
}

/** Returns the operations of a write. */
export async function operationsOf(
  transaction: CacheTransaction,
  key: StorageKey,
  changes: Changes,
  view: SessionView | undefined,
  known: ReadonlySet<string>,
  { creation: created, delta }: Given,
): Promise<readonly (CreateOperation | AppendOperation | UpdateOperation)[]> {
  const { session, user, app, events } = changes;
  if (!isSession(key) || session === undefined) {
    const number = Math.max(user?.revision ?? 0, app?.revision ?? 0);
    const shared = sharedWrites([JSON.parse(delta) as StateShape]);
    return [{ ...NEW, number, kind: 'update', key: ownerKey(key), delta, shared }];
  }
  const rest = { ...NEW_OF_SESSION, key: sessionKeyOf(key), birth: session.created };
  const isTitled = (session.title ?? '') !== (view?.title ?? '');
  const title = isTitled ? session.title : undefined;
  if (created !== undefined) {
    const { state, delta, sharesState, description, lastUpdateTime } = created;
    const creation = {
      ...{ state, delta, sharesState, lastUpdateTime },
      description: { ...description, ...(title !== undefined && { title }) },
      now: session.createTime ?? created.now,
      events: events.map(operationEvent),
    };
    const shared = writesOfCreation(creation);
    const time = session.lastUpdateTime;
    return [{ ...rest, number: session.revision, kind: 'create', time, creation, shared }];
  }
  const operations: AppendOperation[] = [];
  for (const row of events) {
    const event = operationEvent(row);
    const earlier = operations.findLast((other) => other.event.id === row.id);
    const basis = earlier
      ? { previous: earlier.number }
      : view !== undefined && known.has(row.id)
        ? await expectationOf(transaction, key, view, row.id)
        : { expected: null };
    const shared = sharedWrites([deltaOf(row.text)]);
    operations.push({
      ...rest,
      ...{ number: row.revision, kind: 'append', time: row.timestamp, event, shared },
      since: view?.copy?.revision,
      ...basis,
      ...(operations.length === 0 && title !== undefined && { title }),
    });
  }
  return operations;
}

/** Returns the version that the remote must have of an event that is written. */
async function expectationOf(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { overlay, copy }: SessionView,
  id: string,
): Promise<Expectation> {
  const pending = overlay.events.get(id);
  if (pending !== undefined) return { previous: pending.number };
  const stored = copy && (await transaction.copies.events(key).withId(id));
  if (stored === undefined) return { expected: null };
  return { expected: stored.revision, ...(!stored.isExact && { isBound: true }) };
}
