/** Applies what the remote has said to copies, in the transaction of the caller. */
import { isEqualText } from '../../../values/json/equal.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { ownerOf, scopeOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { ListedSession } from '../../../core/storage/store.js';
import { stateNotice } from '../../../core/watch/watcher.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { refusalOfDeleted } from '../records/failures.js';
import {
  type CopiedRecord,
  type Copy,
  hasCopy,
  newRecord,
  type SessionRecord,
} from '../records/records.js';
import type { Happening } from '../outbox/happening.js';
import { eventsOf, isOf, isRefused } from '../outbox/mutation.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { withFetched } from '../overlay/shared_overlay.js';
import { CopyDraft, withStarts } from './copy_draft.js';
import type { OlderEvents, RemoteSession, WholeSession } from './remote_connection.js';
import { splitByScope } from '../../../values/state/keys.js';

/** What a fetch found here when it began. */
export interface FetchStart {
  /** The last number that was drawn before. */
  readonly began: number;
  /** The `created` of the copy. `undefined`: there was no copy. */
  readonly created: number | null | undefined;
  readonly localId: number;
}

/**
 * Takes a fetched session.
 *
 * @returns the users and apps whose states are to be fetched again, because they have changed since the fetch began;
 *   `'gone'` if the copy is gone whose changes were fetched
 */
export async function applySession(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  session: RemoteSession | undefined,
  start: FetchStart,
  now: number,
): Promise<readonly StateOwner[] | 'gone'> {
  const { began } = start;
  const overtaken: StateOwner[] = [];
  const record = await transaction.copies.get(key);
  if (session === undefined) {
    await applyAbsence(transaction, key, record, start);
    return overtaken;
  }
  if (await isDeletedSince(transaction, key, record, began)) return overtaken;
  const copy = record?.copy;
  if (session.state !== undefined) {
    const states = splitByScope(session.state);
    for (const scope of SHARED_SCOPES) {
      const owner = ownerOf(scope, key);
      const isTaken = await applyState(transaction, owner, JSON.stringify(states[scope]), began);
      if (!isTaken) overtaken.push(owner);
    }
  }
  let present = record;
  if (copy !== undefined && copy.created !== session.created) {
    if (isBefore(session.created, copy.created)) return overtaken;
    await applyAbsence(transaction, key, record, { ...start, created: copy.created });
    present = await transaction.copies.get(key);
    if (present?.copy !== undefined) return overtaken;
  }
  if (!hasCopy(present)) {
    if (session.since !== undefined) return 'gone';
    await makeCopy(transaction, key, present, session, now);
    return overtaken;
  }
  const { revision } = present.copy;
  const isLate = session.revision < revision || (session.since ?? 0) > revision;
  if (!isLate) await updateCopy(transaction, key, present, session, began);
  return overtaken;
}

function isBefore(one: number | null, other: number | null): boolean {
  return one !== null && other !== null && one < other;
}

/** Whether the session or its user was deleted here since a fetch began, or is about to be. */
async function isDeletedSince(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  record: SessionRecord | undefined,
  began: number,
): Promise<boolean> {
  if (record?.copy !== undefined) return false;
  if (transaction.deletedAt(key) > began) return true;
  const { appName, userId } = key;
  const user = { appName, userId };
  if (((await transaction.states.get(user))?.clearedAt ?? 0) > began) return true;
  const mutations = await transaction.outbox.of(key);
  const first = mutations.find(
    (mutation) => isOf(mutation, 'create') || (isOf(mutation, 'delete') && !isRefused(mutation)),
  );
  // A deletion after the creation hides the copy, and is sent for it.
  if (isOf(first, 'create')) return false;
  if ((await transaction.states.userDeletions(user)).length > 0) return true;
  // The session that a deletion without a copy deletes is still at the remote.
  return first !== undefined;
}

async function makeCopy(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  present: SessionRecord | undefined,
  session: RemoteSession,
  now: number,
): Promise<void> {
  const mutations = await transaction.outbox.of(key);
  const creation = mutations.find((mutation) => isOf(mutation, 'create'));
  const evicted = await transaction.copies.evicted(key);
  // Handles of a copy that was evicted stay valid only if all events come: they may lack any of them.
  const isWholeAgain = evicted?.created === session.created && !session.hasOlder;
  const before = isWholeAgain ? evicted.localId : undefined;
  const localId = creation?.localId ?? before ?? transaction.nextNumber();
  if (evicted !== undefined) await transaction.copies.forgetEvicted(key);
  const record: SessionRecord = { ...newRecord(localId, now), ...present, localId };
  const draft = await CopyDraft.of(transaction, key, record, copyOf(session));
  const isNew = creation === undefined && before === undefined;
  await draft.putWindow(session.events, isNew);
  if (creation !== undefined) draft.isChanged = true;
  draft.copy = withStarts({ ...draft.copy, hasOlder: session.hasOlder }, session.rewindStarts);
  const revision = Math.max(await draft.store(), localId);
  await sweep(transaction, key);
  const type = creation === undefined ? 'created' : 'appended';
  transaction.notify({ type, ...key, revision, scopes: [] });
}

async function updateCopy(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  record: CopiedRecord,
  session: RemoteSession,
  began: number,
): Promise<void> {
  const before = record.copy;
  const draft = await CopyDraft.of(transaction, key, record, before);
  const isDescribed = began < before.describedAt;
  if (session.since === undefined) {
    draft.copy = { ...before, revision: session.revision };
    await draft.putWindow(session.events, false);
    const { hasOlder } = session;
    draft.copy = { ...draft.copy, rewindStarts: undefined, hasOlder, isStale: false };
  } else {
    await draft.putChanged(session.events);
  }
  draft.copy = withStarts(draft.copy, session.rewindStarts);
  const description = isDescribed ? { title: before.title, labels: before.labels } : {};
  draft.copy = { ...draft.copy, ...headOf(session), ...description };
  if (draft.copy.state !== before.state) draft.isChanged = true;
  const revision = await draft.store();
  await sweep(transaction, key);
  if (draft.isChanged) transaction.notify({ type: 'appended', ...key, revision, scopes: [] });
  const isRenamed = draft.copy.title !== before.title || draft.copy.labels !== before.labels;
  if (isRenamed && !draft.isChanged) transaction.notify({ type: 'updated', ...key });
}

/** Takes a page of older events. @returns whether the copy still begins with the event after them */
export async function applyOlder(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  older: OlderEvents & { readonly before: string },
): Promise<boolean> {
  const record = await transaction.copies.get(key);
  if (!hasCopy(record) || record.copy.created !== older.created) return false;
  const first = await firstEventId(transaction, key, record.copy);
  if (first !== older.before) return false;
  const draft = await CopyDraft.of(transaction, key, record, record.copy);
  await draft.putOlder(older);
  await transaction.copies.put(key, { ...record, copy: draft.copy });
  return true;
}

export async function firstEventId(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { first, next }: Copy,
): Promise<string | undefined> {
  if (first === next) return undefined;
  return (await transaction.copies.events(key).at(first)).id;
}

/** Takes a session of a list. @returns whether the session is to be fetched */
export async function applyListed(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  session: RemoteSession,
  began: number,
  now: number,
): Promise<boolean> {
  const record = await transaction.copies.get(key);
  if (hasCopy(record)) {
    const { copy } = record;
    if (copy.created !== session.created) return !isBefore(session.created, copy.created);
    // The events of a copy that was only listed are fetched when it is read.
    const isListedOnly = copy.first === copy.next && copy.hasOlder;
    if (session.revision > copy.revision && !isListedOnly) return true;
    const isDescribed = session.title === copy.title && session.labels === copy.labels;
    // A list that was asked before an append lacks the title that the append has given.
    const isLate = session.revision < copy.revision;
    const isSame = session.revision === copy.revision && (isDescribed || began < copy.describedAt);
    const since = copy.revision;
    if (!isLate && !isSame) {
      await updateCopy(transaction, key, record, { ...session, since, events: [] }, began);
    }
    return copy.isStale;
  }
  if (await isDeletedSince(transaction, key, record, began)) return false;
  // A handle of a session that was created here too needs all events of others.
  if (record !== undefined) return true;
  await makeCopy(transaction, key, undefined, session, Math.min(now, session.lastUpdateTime));
  return false;
}

/** Returns a session of a list as the remote has it, without its events. */
export function listedSession(
  listed: ListedSession,
): WholeSession & { readonly state: StateShape } {
  const { created, revision, lastUpdateTime, createTime, state, parent } = listed;
  const { title = '', labels = '' } = listed;
  const hasRevisions = created > 0;
  return {
    created: hasRevisions ? created : null,
    revision: hasRevisions ? revision : lastUpdateTime,
    lastUpdateTime,
    createTime,
    title,
    labels,
    parent,
    events: [],
    state: JSON.parse(state) as StateShape,
    hasOlder: !hasRevisions || revision > created,
    since: undefined,
  };
}

/** Returns the copy of a session that has none of its events yet. */
function copyOf(session: RemoteSession): Copy {
  return {
    createTime: session.lastUpdateTime,
    state: '{}',
    describedAt: 0,
    first: 0,
    next: 0,
    hasOlder: true,
    size: 0,
    isStale: false,
    ...headOf(session),
  };
}

/** Returns what a copy has of a session beside its events. Some answers lack what never changes. */
function headOf(session: RemoteSession) {
  const { created, revision, lastUpdateTime, createTime, title, labels, parent, state } = session;
  return {
    created,
    revision,
    lastUpdateTime,
    title,
    labels,
    ...(createTime !== undefined && { createTime }),
    ...(parent !== undefined && { parent }),
    ...(state !== undefined && { state: JSON.stringify(splitByScope(state).session) }),
  };
}

/** Takes the answer that the remote does not have a session, if the copy is still the one that the fetch found. */
async function applyAbsence(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  record: SessionRecord | undefined,
  { created, localId }: FetchStart,
): Promise<void> {
  if (!hasCopy(record) || record.copy.created !== created || record.localId !== localId) return;
  await applyGone(transaction, key, record);
}

/** Takes the answer that the remote has deleted the session of a copy. */
export async function applyGone(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { localId }: SessionRecord,
): Promise<void> {
  await carryOut(transaction, key, { type: 'gone', localId, refusal: refusalOfDeleted(key) });
}

/**
 * Takes a fetched state of a user or an app.
 *
 * @returns `false` if it is to be fetched again, because it has changed since the fetch began
 */
export async function applyState(
  transaction: CacheTransaction,
  owner: StateOwner,
  state: string,
  began: number,
): Promise<boolean> {
  const record = await transaction.states.get(owner);
  const next = withFetched(record, state, began, transaction.nextNumber());
  if (next === undefined) return false;
  await transaction.states.put(owner, next);
  if (state !== (record?.state ?? '{}')) {
    transaction.notify(stateNotice(owner.appName, owner.userId, [scopeOf(owner)]));
  }
  return true;
}

/** Removes the mutations that the copy has reached since they were acknowledged. */
export async function sweep(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
): Promise<void> {
  const record = await transaction.copies.get(key);
  if (!hasCopy(record)) return;
  const { localId, copy } = record;
  await leaveCopied(transaction, key, { type: 'copied', localId, revision: copy.revision });
}

/** Lets a copy be fetched as a whole when it is read next. */
export async function leaveStale(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
): Promise<void> {
  const record = await transaction.copies.get(key);
  if (!hasCopy(record) || record.copy.isStale) return;
  await transaction.copies.put(key, { ...record, copy: { ...record.copy, isStale: true } });
}

/**
 * Leaves a copy stale because there is no room for what was fetched, and removes the mutations that the remote has
 * stored by then: they need room, and the next fetch brings their events.
 */
export async function leaveUnfetched(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  { created, revision }: RemoteSession,
): Promise<void> {
  const record = await transaction.copies.get(key);
  if (!hasCopy(record) || record.copy.created !== created) return;
  await carryOut(transaction, key, { type: 'copied', localId: record.localId, revision });
  await leaveStale(transaction, key);
}

/**
 * Lets mutations leave whose effect the copy has.
 *
 * Until now the mutations lay over the copy. They may have hidden a state, a value or a version of an event that
 * others have stored since. A handle that has read the mutations lacks no event, so it would not notice. Each event
 * that hid something therefore gets a new local number: handles then read it again, with the whole state.
 */
export async function leaveCopied(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  happening: Happening,
): Promise<void> {
  const shown = await transaction.view(key);
  const { before, outbox } = await carryOut(transaction, key, happening);
  const left = new Set(outbox.map(({ number }) => number));
  const removed = before.filter(({ number }) => !left.has(number));
  if (removed.length === 0) return;
  const record = await transaction.copies.get(key);
  if (!hasCopy(record)) return;
  const state = (await transaction.view(key))?.state;
  const isStateHidden = !isEqualText(state ?? '', shown?.state ?? '');
  const draft = await CopyDraft.of(transaction, key, record, record.copy);
  for (const mutation of removed) {
    for (const [index, { id, text }] of eventsOf(mutation).entries()) {
      // The remote has computed the delta of a marker.
      const isMarker = index === 0 && isOf(mutation, 'rewind');
      const isHidden =
        !isMarker && (await transaction.copies.events(key).withId(id))?.text !== text;
      if (isStateHidden || isHidden) await draft.renumber(id);
    }
  }
  if (!draft.isChanged) return;
  const revision = await draft.store();
  transaction.notify({ type: 'appended', ...key, revision, scopes: [] });
}
