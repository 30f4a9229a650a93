/** Puts events of the remote into a copy, and gives them local numbers. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { foldOf } from '../data/operation_memory.js';
import {
  type Copy,
  type EventRecord,
  type Operation,
  type SessionRecord,
} from '../records/records.js';
import { rewindTargetOf } from '../../../core/history/marks.js';
import type { RewindStart } from '../../../core/read.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import { withoutOlder, withReplacedOlder } from './older_sums.js';
import type { ChangedEvent, OlderEvents, RemoteEvent } from './remote_connection.js';
import type { OverlayEvent, SessionOverlay } from '../overlay/session_overlay.js';

/** A session while a transaction changes the events of its copy. */
export interface CopyDraft {
  readonly key: CompositeSessionKey;
  record: SessionRecord;
  copy: Copy;
  readonly overlay: SessionOverlay;
  /** Whether events of others came before events of this device. */
  isReordered: boolean;
  /** Whether a reader sees another event than before. */
  isChanged: boolean;
}

export function makeDraft(
  key: CompositeSessionKey,
  record: SessionRecord,
  copy: Copy,
  operations: readonly Operation[],
): CopyDraft {
  const overlay = foldOf(record.birth, operations);
  return { key, record, copy, overlay, isReordered: false, isChanged: false };
}

/** Puts events that have changed since the copy's revision, in the order of their `seq`. */
export async function putChanged(
  transaction: CacheTransaction,
  draft: CopyDraft,
  events: readonly ChangedEvent[],
): Promise<void> {
  const since = draft.copy.revision;
  const copied = transaction.copies.events(draft.key);
  noteOrder(draft, events);
  for (const event of [...events].sort((one, other) => one.seq - other.seq)) {
    if (event.revision > since) noteRewind(draft, event, event.revision);
    const position = await copied.positionOf(event.id);
    if (position !== undefined) {
      const stored = await copied.at(position);
      await replaceEvent(transaction, draft, position, stored, event);
      continue;
    }
    if (event.seq > since) await appendEvent(transaction, draft, event);
    // An SQL database also lists events that have not changed.
    else if (event.revision > since) noteReplacedOlder(draft);
  }
}

function noteRewind(draft: CopyDraft, { text }: RemoteEvent, revision: number): void {
  if (!isRewind(text)) return;
  const { rewoundAt = 0 } = draft.copy;
  draft.copy = { ...draft.copy, rewoundAt: Math.max(rewoundAt, revision) };
}

/** Returns whether the text is that of a rewind. */
export function isRewind(text: string): boolean {
  const event = text.includes('rewindBeforeInvocationId') ? parseEventText(text) : undefined;
  return event !== undefined && rewindTargetOf(event) !== undefined;
}

/** Notes that an event before the copy was replaced. Its new invocation may be one at which a rewind starts. */
function noteReplacedOlder(draft: CopyDraft): void {
  const { rewindStarts = [], isStale } = draft.copy;
  draft.copy = { ...withReplacedOlder(draft.copy), isStale: isStale || rewindStarts.length > 0 };
}

/** Returns a copy with the starts of further rewinds. They replace the known starts of the same invocations. */
export function withStarts(copy: Copy, starts: readonly RewindStart[] = []): Copy {
  const { hasOlder, rewindStarts: before = [] } = copy;
  const all = new Map([...before, ...starts].map((start) => [start.invocationId, start]));
  return { ...copy, rewindStarts: hasOlder && all.size > 0 ? [...all.values()] : undefined };
}

/** Notes if events of others come while this device has operations with events: the remote's order then counts. */
function noteOrder(draft: CopyDraft, events: readonly RemoteEvent[]): void {
  const own = draft.overlay.events;
  draft.isReordered ||= own.size > 0 && events.some(({ id, text }) => !hasText(own.get(id), text));
}

/** Whether the text is one of those that operations of this device have given the event. */
function hasText(over: OverlayEvent | undefined, text: string): over is OverlayEvent {
  return over?.texts.includes(text) === true;
}

async function replaceEvent(
  transaction: CacheTransaction,
  draft: CopyDraft,
  position: number,
  stored: EventRecord,
  event: RemoteEvent,
): Promise<void> {
  const { id, text, timestamp, revision = draft.copy.revision } = event;
  const isExact = event.revision !== undefined;
  // The answer is late: the copy has a newer version.
  if (isExact && stored.isExact && revision < stored.revision) return;
  const over = draft.overlay.events.get(id);
  let { tick } = stored;
  // A page of older events may have brought this text before the copy had the state that the event makes.
  if (text !== stored.text || revision > draft.copy.revision) {
    // If the event got a higher tick since its edit, it keeps that, so that handles still notice the change.
    tick =
      hasText(over, text) && !draft.isReordered
        ? Math.max(over.tick, tick)
        : transaction.nextNumber();
    if (!hasText(over, text)) draft.isChanged = true;
  }
  const size = draft.copy.size + text.length - stored.text.length;
  draft.copy = { ...draft.copy, size };
  const next: EventRecord = { id, text, timestamp, seq: stored.seq, tick, revision, isExact };
  await putEvent(transaction, draft, position, next, stored);
}

async function appendEvent(
  transaction: CacheTransaction,
  draft: CopyDraft,
  event: ChangedEvent,
): Promise<void> {
  const { id, text, timestamp, revision } = event;
  const over = draft.overlay.events.get(id);
  const own = hasText(over, text) ? over : undefined;
  const isEdited = own === undefined ? event.seq !== revision : own.seq !== own.tick;
  const isKept = own !== undefined && !draft.isReordered;
  const { seq, tick } = isKept ? own : newNumbers(transaction, isEdited);
  if (own === undefined) draft.isChanged = true;
  const { next, size, revision: atMost } = draft.copy;
  draft.copy = { ...draft.copy, next: next + 1, size: size + text.length };
  const isExact = revision !== undefined;
  const record = { id, text, timestamp, seq, tick, revision: revision ?? atMost, isExact };
  await putEvent(transaction, draft, next, record);
}

/**
 * Returns new local numbers. They differ if an event was written again: a handle that lacks it gets the whole state.
 */
function newNumbers(
  transaction: CacheTransaction,
  isEdited: boolean,
): { readonly seq: number; readonly tick: number } {
  const seq = transaction.nextNumber();
  return { seq, tick: isEdited ? transaction.nextNumber() : seq };
}

/** Gives an event another local number, as if it was written again: handles then get the whole state. */
export async function renumberEvent(
  transaction: CacheTransaction,
  draft: CopyDraft,
  id: string,
): Promise<void> {
  const events = transaction.copies.events(draft.key);
  const position = await events.positionOf(id);
  if (position === undefined) return;
  const stored = await events.at(position);
  await putEvent(
    transaction,
    draft,
    position,
    { ...stored, tick: transaction.nextNumber() },
    stored,
  );
  draft.isChanged = true;
}

function putEvent(
  transaction: CacheTransaction,
  { key, record }: CopyDraft,
  position: number,
  event: EventRecord,
  earlier?: EventRecord,
): Promise<void> {
  return transaction.copies.events(key).put(position, event, record.birth, earlier);
}

/**
 * Replaces the events by the newest ones of the remote, which may reach further back.
 *
 * @param isNew whether no handle has any of them, because the session was not here before
 */
export async function putWindow(
  transaction: CacheTransaction,
  draft: CopyDraft,
  events: readonly RemoteEvent[],
  isNew: boolean,
): Promise<void> {
  const { key, copy, record, overlay } = draft;
  const copied = transaction.copies.events(key);
  const stored = new Map(
    (await copied.between(copy.first, copy.next)).map((each) => [each.id, each]),
  );
  const firstKnown = events.findIndex(({ id }) => stored.has(id));
  const isNews = ({ id, text }: RemoteEvent, index: number): boolean => {
    const known = stored.get(id);
    return known === undefined ? !isNew && index >= firstKnown : known.text !== text;
  };
  noteOrder(draft, events.filter(isNews));
  if (stored.size > 0) await copied.clear();
  draft.copy = { ...copy, first: 0, next: 0, size: 0 };
  for (const [index, event] of events.entries()) {
    const known = stored.get(event.id);
    const over = overlay.events.get(event.id);
    const revision = event.revision ?? draft.copy.revision;
    const isExact = event.revision !== undefined;
    let { seq, tick } = known ?? { seq: record.birth, tick: record.birth };
    if (isNews(event, index)) {
      noteRewind(draft, event, revision);
      const isOwn = hasText(over, event.text) && !draft.isReordered;
      // A whole session does not tell which events were written again.
      ({ seq, tick } = isOwn ? over : newNumbers(transaction, true));
      seq = known?.seq ?? seq;
      if (!isOwn) draft.isChanged = true;
    }
    const { id, text, timestamp } = event;
    const isSame = known?.text === text && known.isExact && !isExact;
    const numbers = isSame ? { revision: known.revision, isExact: true } : { revision, isExact };
    await putEvent(transaction, draft, index, { id, text, timestamp, seq, tick, ...numbers });
    draft.copy = { ...draft.copy, next: index + 1, size: draft.copy.size + text.length };
  }
}

/** Puts events before those of the copy. They get the birth as their numbers, so no handle takes them for changes. */
export async function putOlder(
  transaction: CacheTransaction,
  draft: CopyDraft,
  { events, hasOlder, rewindStarts }: OlderEvents,
): Promise<void> {
  const { birth } = draft.record;
  const put: RemoteEvent[] = [];
  for (const older of [...events].reverse()) {
    const { id, text, timestamp } = older;
    if ((await transaction.copies.events(draft.key).positionOf(id)) !== undefined) continue;
    put.push(older);
    const { first, size, revision } = draft.copy;
    draft.copy = { ...draft.copy, first: first - 1, size: size + text.length };
    const event = { id, text, timestamp, seq: birth, tick: birth, revision, isExact: false };
    await putEvent(transaction, draft, first - 1, event);
  }
  draft.copy = withoutOlder(withStarts({ ...draft.copy, hasOlder }, rewindStarts), put);
}

/**
 * Stores the copy.
 *
 * If events of others came before unsent ones, the unsent ones get new local numbers. Otherwise an open handle would
 * apply the deltas of the others last.
 */
export async function storeDraft(
  transaction: CacheTransaction,
  { key, record, copy, overlay, isReordered, isChanged }: CopyDraft,
): Promise<SessionRecord> {
  if (isChanged) transaction.nextNumber();
  const tick = Math.max(record.tick, overlay.tick, isChanged ? transaction.counter : 0);
  const confirmedAt = record.copy === undefined ? transaction.nextNumber() : record.confirmedAt;
  const next: SessionRecord = { ...record, copy, tick, confirmedAt };
  await transaction.copies.put(key, next);
  if (!isReordered) return next;
  const put = (await transaction.outbox.of(key))
    .filter(({ numbers }) => numbers.length > 0)
    .map((operation) => restamped(transaction, operation));
  await transaction.outbox.change(key, { put });
  return next;
}

function restamped(transaction: CacheTransaction, operation: Operation): Operation {
  const numbers = operation.numbers.map(({ seq, tick: before }) => {
    const tick = transaction.nextNumber();
    return { seq: seq === before ? tick : seq, tick };
  });
  return { ...operation, numbers };
}
