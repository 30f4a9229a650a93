/** Applies the answer to appends: removes the arrived operations, and updates the copy. */
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { firstTitleOf } from '../../../values/model/event/auto_title.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import type { Appended } from '../../../core/storage/store.js';
import { MOST_CHANGED } from '../../../core/wasm/protocol.js';
import { CopyDraft, isRewind } from '../copies/copy_draft.js';
import { sweep } from '../copies/copy_writer.js';
import type { ChangedEvent } from '../copies/remote_connection.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { type Copy, eventOf } from '../records/records.js';
import { splitByScope, writeKey } from '../../../values/state/keys.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import { deltaOf, sharedWrites } from '../overlay/shared_overlay.js';
import {
  expectArrived,
  keepArrived,
  landShared,
  type Operations,
  removeArrived,
} from './arrived.js';

/** What the answer to appends does not tell. */
interface MissingFromAnswer {
  /** Whether the copy has to be fetched. */
  readonly isBehind: boolean;
  /** The users and apps whose states events of others have changed. */
  readonly overtaken: readonly StateOwner[];
}

/**
 * Applies the answer to appends.
 *
 * @param arrived those of the sent operations that still wait
 * @param sentOver the copy when they were sent
 */
export async function landAppends(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  sent: Operations<'append'>,
  arrived: Operations<'append'>,
  appended: Appended,
  sentOver: Copy,
): Promise<MissingFromAnswer> {
  await landShared(transaction, arrived);
  const record = await transaction.copies.require(key);
  const { copy } = record;
  const { revision, missed, placed } = appended;
  const { message } = appended;
  // The remote's agent may have changed its message.
  const sentEvents = sent.map((operation) => {
    const event = eventOf(operation);
    return message === undefined ? event : { ...event, text: message };
  });
  const revisions = new Map(
    sentEvents.flatMap(({ id }, index) => {
      const place = placed[index];
      return place === undefined ? [] : [[id, place.revision] as const];
    }),
  );
  const isSame = copy?.created === sentOver.created && sentOver.created !== null;
  const told = new Set(missed.map(({ text }) => parseEventText(text)?.id));
  // Not every storage tells where it has stored an event.
  const isTold = sentEvents.every(({ id }) => revisions.has(id) || told.has(id));
  if (copy !== undefined && isSame && revision <= copy.revision) {
    await removeArrived(transaction, key, record, arrived, revisions);
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
    await keepArrived(transaction, key, arrived, revision, revisions);
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
    const place = placed[index];
    if (place === undefined || place.revision <= copy.revision) continue;
    const seq = events.get(event.id)?.seq ?? place.seq;
    events.set(event.id, { ...event, seq, revision: place.revision });
    deltas.push({ revision: place.revision, text: event.text, isOwn: true });
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
  const title = copy.title === '' ? (titleOf(arrived) ?? '') : copy.title;
  draft.copy = { ...draft.copy, revision, lastUpdateTime, title, state: JSON.stringify(state) };
  // Comes before the copy is stored, which may give the remaining operations new ticks.
  await transaction.outbox.change(key, { removed: arrived });
  const shown = await draft.store();
  await expectArrived(transaction, key, arrived, revisions);
  // Removes a rewind that arrived before, if the fetch after it has failed.
  await sweep(transaction, key);
  if (draft.isChanged) {
    transaction.notify({ type: 'appended', ...key, revision: shown, scopes: [] });
  }
  // The answer lacks the shared states that the missed events have changed.
  const missedWrites = sharedWrites(
    deltas.filter(({ isOwn }) => !isOwn).map(({ text }) => deltaOf(text)),
  );
  const overtaken = SHARED_SCOPES.filter((scope) => missedWrites[scope] !== undefined);
  return { isBehind: false, overtaken: overtaken.map((scope) => ownerOf(scope, key)) };
}

/** Returns whether a missed message may have given the title that the sent message would have given. */
function isTitledByOther(
  copy: Copy,
  sent: Operations<'append'>,
  missed: readonly { readonly text: string }[],
): boolean {
  if (copy.title !== '' || titleOf(sent) === undefined) return false;
  const own = new Set(sent.map((operation) => eventOf(operation).id));
  const others = missed.filter(({ text }) => !own.has(parseEventText(text)?.id ?? ''));
  return firstTitleOf(others) !== undefined;
}

/** Returns the title that appends give a session without one. */
export function titleOf(operations: Operations<'append'>): string | undefined {
  return operations.find(({ write }) => write.firstTitle !== undefined)?.write.firstTitle;
}

function applyDelta(state: StateShape, text: string): void {
  const { session } = splitByScope(deltaOf(text));
  for (const [name, value] of Object.entries(session)) writeKey(state, name, value);
}

/**
 * Returns the revision that appends are sent with: mostly that of the copy. If a rewind has come to the copy since they
 * were made, it is the one from before the rewind. The remote then refuses the appends of a run that the rewind has
 * undone.
 */
export function revisionBefore(
  operations: Operations<'append'>,
  { revision, rewoundAt = 0 }: Copy,
): number {
  const earlier = operations.flatMap(({ basis: { since } }) =>
    since !== undefined && since < rewoundAt ? [since] : [],
  );
  return Math.min(revision, ...earlier);
}
