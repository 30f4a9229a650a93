/** Makes the mutations of a write. */
import type { AskedRun } from '../../../values/model/asked_run.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CreateWrite } from '../../../core/write.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import type { Event } from '../../../values/model/event/event.js';
import type { Changes, EventRow, StorageKey } from '../../../core/storage/rows.js';
import { storageKey } from '../../../core/storage/scopes.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isProvisional } from '../data/provisional_session.js';
import { isSession, pickSessionKey } from '../records/cache_key.js';
import {
  type EventNumbers,
  FRESH,
  type Mutation,
  NEW,
  type OutboxEvent,
  type Replaces,
} from '../outbox/mutation.js';
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
  readonly isJoint?: true | undefined;
}

export function ownerKey({ appName, userId }: StorageKey): StorageKey {
  return storageKey({ appName, userId });
}

function outboxEvent({ id, text, timestamp }: EventRow): OutboxEvent {
  const { author, invocationId }: Partial<Event> = parseEventText(text) ?? {};
  return { id, text, timestamp, author, invocationId };
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
    return [{ ...NEW, number, write, shared }];
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
    const number = session.revision;
    return [{ ...NEW, number, write, numbers, localId, time, creation: 'new', shared }];
  }
  const mutations: Mutation<'append'>[] = [];
  for (const row of events) {
    const event = outboxEvent(row);
    const earlier = mutations.findLast(({ write }) => write.events[0].id === row.id);
    const replaces = earlier
      ? { mutation: earlier.number }
      : view !== undefined && known.has(row.id)
        ? await versionOf(transaction, key, view, row.id)
        : 'nothing';
    const firstTitle = mutations.length === 0 ? title : undefined;
    mutations.push({
      number: row.revision,
      write: {
        kind: 'append',
        key,
        events: [event],
        firstTitle,
        run,
        isJoint: mutations.length === 0 ? isJoint : undefined,
      },
      numbers: [numbersOf(row)],
      localId,
      time: row.timestamp,
      needsSession: isProvisional(view?.overlay.creation),
      phase: FRESH,
      replaces,
      since: view?.copy?.revision,
      shared: sharedWrites([parseDelta(row.text)]),
    });
  }
  return mutations;
}

/** Returns the version of an event that is to be replaced. */
async function versionOf(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { overlay, copy }: OverlaidSession,
  id: string,
): Promise<Replaces> {
  const pending = overlay.events.get(id);
  if (pending !== undefined) return { mutation: pending.number };
  const stored = copy && (await transaction.copies.events(key).withId(id));
  if (stored === undefined) return 'nothing';
  const { revision, isExact } = stored;
  return isExact ? { revision } : { atMost: revision };
}
