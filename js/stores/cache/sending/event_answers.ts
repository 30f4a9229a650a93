/** Applies the remote's answers to appends and creations. */
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { Appended, CreatedSession } from '../../../core/storage/store.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import { MOST_CHANGED } from '../../../core/wasm/protocol.js';
import { firstTitleOf } from '../../../values/model/event/auto_title.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { ownStateText, splitByScope, writeKey } from '../../../values/state/keys.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { CopyDraft, isRewind } from '../copies/copy_draft.js';
import { leaveCopied, sweep } from '../copies/copy_writer.js';
import { type ChangedEvent, remoteRevision } from '../copies/remote_connection.js';
import { carryOut, removeCopy } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { localIdOfCopy } from '../overlay/session_overlay.js';
import { parseDelta, sharedWrites } from '../overlay/shared_overlay.js';
import type { Copy } from '../records/records.js';
import { eventOf, type Mutation } from '../outbox/mutation.js';
import {
  applyShared,
  keepLocalVersion,
  type Mutations,
  numbersOf,
  removeStored,
} from './answers.js';

// The answer to appends.

/** What the answer to appends does not tell. */
interface MissingFromAnswer {
  /** Whether the copy has to be fetched. */
  readonly isBehind: boolean;
  /** The users and apps whose states events of others have changed. */
  readonly overtaken: readonly StateOwner[];
}

/**
 * Applies the answer to appends: removes the acknowledged mutations, and updates the copy.
 *
 * @param acknowledged those of the sent mutations that still wait
 * @param sentOver the copy when they were sent
 */
export async function applyAppends(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  sent: Mutations<'append'>,
  acknowledged: Mutations<'append'>,
  appended: Appended,
  sentOver: Copy,
): Promise<MissingFromAnswer> {
  const record = await transaction.copies.require(key);
  const { copy } = record;
  const numbers = numbersOf(acknowledged);
  const { revision, missed, eventRevisions } = appended;
  // The remote may have stored other texts.
  const texts = new Map(appended.texts?.map(({ position, text }) => [position, text]));
  const sentEvents = sent.map((mutation, position) => {
    const event = eventOf(mutation);
    return { ...event, text: texts.get(position) ?? event.text };
  });
  const revisions = new Map(
    sentEvents.flatMap(({ id }, index) => {
      const stored = eventRevisions[index];
      return stored === undefined ? [] : [[id, stored.revision] as const];
    }),
  );
  const isSame = copy?.created === sentOver.created && sentOver.created !== null;
  const told = new Set(missed.map(({ text }) => parseEventText(text)?.id));
  // Not every storage tells where it has stored an event.
  const isTold = sentEvents.every(({ id }) => revisions.has(id) || told.has(id));
  if (copy !== undefined && isSame && revision <= copy.revision) {
    await removeStored(transaction, key, record, acknowledged, revisions);
    await applyShared(transaction, acknowledged);
    return { isBehind: false, overtaken: [] };
  }
  if (
    copy === undefined ||
    !isSame ||
    !isTold ||
    copy.revision < sentOver.revision ||
    missed.length >= MOST_CHANGED - 1 ||
    // The delta of a rewind does not give the state.
    [...missed, ...sentEvents].some(({ text }) => isRewind(text)) ||
    isTitledByOther(copy, sent, missed) ||
    copy.isStale
  ) {
    await carryOut(transaction, key, { type: 'stored', numbers, at: revision, revisions });
    await applyShared(transaction, acknowledged);
    return { isBehind: true, overtaken: [] };
  }
  const events = new Map<string, ChangedEvent>();
  const deltas: { readonly revision: number; readonly text: string; readonly isOwn: boolean }[] =
    [];
  for (const { seq, revision: at, text } of missed) {
    const event = parseEventText(text);
    if (event === undefined || at <= copy.revision) continue;
    events.set(event.id, { id: event.id, timestamp: event.timestamp, text, seq, revision: at });
    deltas.push({ revision: at, text, isOwn: false });
  }
  for (const [index, event] of sentEvents.entries()) {
    const stored = eventRevisions[index];
    if (stored === undefined || stored.revision <= copy.revision) continue;
    const seq = events.get(event.id)?.seq ?? stored.seq;
    events.set(event.id, { ...event, seq, revision: stored.revision });
    deltas.push({ revision: stored.revision, text: event.text, isOwn: true });
  }
  const draft = await CopyDraft.of(transaction, key, record, copy);
  await draft.putChanged([...events.values()]);
  const toldState = appended.state;
  const state = (
    toldState === undefined
      ? JSON.parse(copy.state)
      : splitByScope(JSON.parse(toldState) as StateShape).session
  ) as StateShape;
  // A state in the answer includes the missed events, but not this append.
  const untold = toldState === undefined ? [...deltas] : deltas.filter(({ isOwn }) => isOwn);
  untold.sort((one, other) => one.revision - other.revision);
  for (const { text } of untold) applyDelta(state, text);
  const { lastUpdateTime } = appended;
  const title = copy.title === '' ? (titleOf(acknowledged) ?? '') : copy.title;
  draft.copy = { ...draft.copy, revision, lastUpdateTime, title, state: JSON.stringify(state) };
  // Comes before the copy is stored, which may give the remaining mutations new local versions.
  for (const [id, event] of events) revisions.set(id, revisions.get(id) ?? event.revision);
  await carryOut(transaction, key, { type: 'stored', numbers, revisions });
  const shown = await draft.store();
  await applyShared(transaction, acknowledged);
  // If the fetch after a rewind has failed, its acknowledged mutation is still there.
  await sweep(transaction, key);
  if (draft.isChanged) {
    transaction.notify({ type: 'appended', ...key, revision: shown, scopes: [] });
  }
  // The answer lacks the shared states that the missed events have changed.
  const missedWrites = sharedWrites(
    deltas.filter(({ isOwn }) => !isOwn).map(({ text }) => parseDelta(text)),
  );
  const overtaken = SHARED_SCOPES.filter((scope) => missedWrites[scope] !== undefined);
  return { isBehind: false, overtaken: overtaken.map((scope) => ownerOf(scope, key)) };
}

/** Returns whether a missed message may have given the title that the sent message would have given. */
function isTitledByOther(
  copy: Copy,
  sent: Mutations<'append'>,
  missed: readonly { readonly text: string }[],
): boolean {
  if (copy.title !== '' || titleOf(sent) === undefined) return false;
  const own = new Set(sent.map((mutation) => eventOf(mutation).id));
  const others = missed.filter(({ text }) => !own.has(parseEventText(text)?.id ?? ''));
  return firstTitleOf(others) !== undefined;
}

/** Returns the title that appends give a session without one. */
export function titleOf(mutations: Mutations<'append'>): string | undefined {
  return mutations.find(({ write }) => write.firstTitle !== undefined)?.write.firstTitle;
}

function applyDelta(state: StateShape, text: string): void {
  const { session } = splitByScope(parseDelta(text));
  for (const [name, value] of Object.entries(session)) writeKey(state, name, value);
}

/**
 * Returns the revision that appends are sent with: mostly that of the copy. If a rewind has come to the copy since they
 * were made, it is the one from before the rewind. The remote then refuses the appends of a run that the rewind has
 * undone.
 */
export function revisionBefore(
  mutations: Mutations<'append'>,
  { revision, rewoundAt = 0 }: Copy,
): number {
  const earlier = mutations.flatMap(({ since }) =>
    since !== undefined && since < rewoundAt ? [since] : [],
  );
  return Math.min(revision, ...earlier);
}

// The answer to a creation: the session exists now, or it existed before.

/**
 * Applies the answer that the session was created.
 *
 * @param hasRoom whether the local storage has room for the events. Otherwise they are fetched later
 */
export async function applyCreation(
  transaction: CacheTransaction,
  mutation: Mutation<'create'>,
  created: CreatedSession,
  hasRoom: boolean,
): Promise<void> {
  const { write: creation, localId } = mutation;
  const { key } = creation;
  const { created: createdAt, revision, lastUpdateTime, state } = created;
  const { initialState } = creation.description;
  const remote = remoteRevision(createdAt, revision, lastUpdateTime);
  const record = await transaction.copies.require(key);
  if (record.copy === undefined) {
    const copy: Copy = {
      ...remote,
      lastUpdateTime,
      createTime: creation.now,
      initialState: initialState && ownStateText(initialState),
      state: JSON.stringify(splitByScope(JSON.parse(state) as StateShape).session),
      title: creation.description.title ?? '',
      labels: creation.description.labels ?? '',
      parent: creation.description.parent,
      describedAt: 0,
      first: 0,
      next: 0,
      hasOlder: false,
      size: 0,
      isStale: false,
    };
    const own = { ...record, localId };
    const draft = await CopyDraft.of(transaction, key, own, copy);
    await draft.putWindow(hasRoom ? creation.events : [], false);
    draft.isChanged = false;
    // The answer to a repeated creation includes what others have written since.
    const hasMore = createdAt > 0 && revision !== createdAt + creation.events.length;
    const hasOlder = !hasRoom && creation.events.length > 0;
    draft.copy = { ...draft.copy, hasOlder, isStale: hasMore || hasOlder };
    await draft.store();
  }
  const happening = { type: 'stored', numbers: [mutation.number] } as const;
  if (record.copy === undefined) await carryOut(transaction, key, happening);
  // The copy was fetched while the answer was under way, and may have another device's versions of the events.
  else await leaveCopied(transaction, key, happening);
  await keepLocalVersion(transaction, key, record, [mutation]);
  await applyShared(transaction, [mutation]);
}

/**
 * Applies the answer that the session existed before, so that it is fetched. The copy may be of an earlier session,
 * whose deletion was given up before the creation. It is then removed, and fetched again.
 */
export async function applyExistingSession(
  transaction: CacheTransaction,
  [{ write, number, localId }]: Mutations<'create'>,
): Promise<void> {
  const { key } = write;
  await carryOut(transaction, key, { type: 'existed', number });
  const copied = localIdOfCopy(await transaction.copies.get(key));
  if (copied !== undefined && copied !== localId) await removeCopy(transaction, key);
}
