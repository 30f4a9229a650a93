/** Makes the mutations of a write. */
import type { AskedRun } from '../../../values/model/asked_run.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CreateWrite } from '../../../core/write.js';
import type { Changes, EventRow, StorageKey } from '../../../core/storage/rows.js';
import { storageKey } from '../../../core/storage/scopes.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { creationMustExist } from '../data/provisional_session.js';
import { isSession, pickSessionKey } from '../records/cache_key.js';
import {
  type EventNumbers,
  type Expectation,
  NEW,
  type Mutation,
  type OutboxEvent,
  UNSENT,
} from '../records/records.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { OverlaidSession } from '../overlay/session_overlay.js';
import { parseDelta, sharedWrites, writesOfCreation } from '../overlay/shared_overlay.js';

/** What the caller of a write gives. */
export interface Given {
  /** The session that is created. */
  readonly creation?: CreateWrite | undefined;
  /** The run that an append asks for. */
  readonly run?: AskedRun | undefined;
  /** The JSON text of the delta of an `update`. */
  readonly delta?: string | undefined;
  /** Whether one write makes the creation and the append. */
  readonly isJoint?: boolean | undefined;
}

export function ownerKey({ appName, userId }: StorageKey): StorageKey {
  return storageKey({ appName, userId });
}

function outboxEvent({ id, text, timestamp }: EventRow): OutboxEvent {
  return { id, text, timestamp };
}

function numbersOf({ seq, revision }: EventRow): EventNumbers {
  return { seq, localVersion: revision };
}

/** Returns the mutations of a write. */
export async function mutationsOf(
  transaction: CacheTransaction,
  given: StorageKey,
  changes: Changes,
  view: OverlaidSession | undefined,
  known: ReadonlySet<string>,
  { creation: created, run, delta = '{}', isJoint }: Given,
): Promise<readonly Mutation<'create' | 'append' | 'update'>[]> {
  const { session, user, app, events } = changes;
  if (!isSession(given) || session === undefined) {
    const number = Math.max(user?.revision ?? 0, app?.revision ?? 0);
    const shared = sharedWrites([JSON.parse(delta) as StateShape]);
    const write = { kind: 'update', key: ownerKey(given), delta } as const;
    return [{ ...NEW, number, write, base: { localId: 0, time: 0 }, shared }];
  }
  const key = pickSessionKey(given);
  const { created: localId, lastUpdateTime: time } = session;
  const isTitled = (session.title ?? '') !== (view?.title ?? '');
  const title = isTitled ? session.title : undefined;
  if (created !== undefined) {
    const write = {
      ...created,
      key,
      ifAbsent: true,
      mutation: undefined,
      description: { ...created.description, ...(title !== undefined && { title }) },
      now: session.createTime ?? created.now,
      events: events.map(outboxEvent),
    };
    const shared = writesOfCreation(write);
    const numbers = events.map(numbersOf);
    const base = { localId, time, ...(isJoint === true && { isJoint }) };
    return [{ number: session.revision, write, numbers, base, sent: UNSENT, shared }];
  }
  const mutations: Mutation<'append'>[] = [];
  for (const row of events) {
    const event = outboxEvent(row);
    const earlier = mutations.findLast(({ write }) => write.events[0].id === row.id);
    const expectation = earlier
      ? { previous: earlier.number }
      : view !== undefined && known.has(row.id)
        ? await expectationOf(transaction, key, view, row.id)
        : { expected: null };
    const firstTitle = mutations.length === 0 ? title : undefined;
    mutations.push({
      number: row.revision,
      write: { kind: 'append', key, events: [event], firstTitle, run },
      numbers: [numbersOf(row)],
      base: {
        localId,
        time: row.timestamp,
        since: view?.copy?.revision,
        ...expectation,
        mustExist: creationMustExist(view?.overlay.creation),
        ...(isJoint === true && mutations.length === 0 && { isJoint }),
      },
      sent: UNSENT,
      shared: sharedWrites([parseDelta(row.text)]),
    });
  }
  return mutations;
}

/** Returns the version that the remote must have of an event that is written. */
async function expectationOf(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { overlay, copy }: OverlaidSession,
  id: string,
): Promise<Expectation> {
  const pending = overlay.events.get(id);
  if (pending !== undefined) return { previous: pending.number };
  const stored = copy && (await transaction.copies.events(key).withId(id));
  if (stored === undefined) return { expected: null };
  return { expected: stored.revision, ...(!stored.isExact && { isBound: true }) };
}
