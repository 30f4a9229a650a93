/** Appends events that may be stored already, without losing what their earlier versions wrote. */
import { isSessionError } from '../../errors/errors.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { AppendRequest } from '../../storage/session_store.js';
import { isSameJson } from '../../wasm/core.js';
import type { Appended } from '../../wasm/protocol.js';
import { type EarlierWrites, newOperation } from '../records/session_record.js';
import type { CacheContext } from './context.js';
import { lastWrittenBy } from './writes.js';

type RewriteParts = Pick<CacheContext, 'local' | 'records'>;

/**
 * Appends to a copy. Before an event is replaced, what its earlier versions wrote is recorded for a revision of the copy.
 * The event is replaced only at that revision, so no tab can write another version in between.
 */
export async function appendOrReplace(
  parts: RewriteParts,
  request: AppendRequest,
): Promise<Appended> {
  const { key, events, expectedEvents } = request;
  let { expectedRevision } = request;
  const isCallers = expectedRevision !== undefined;
  if (isCallers || expectedEvents !== undefined) {
    const revision = await recordEarlier(parts, key, events);
    expectedRevision ??= revision;
  }
  const noEvents = Object.fromEntries(events.map(({ id }) => [id, null]));
  for (;;) {
    const expected = {
      expectedRevision,
      expectedEvents: expectedEvents ?? (expectedRevision === undefined ? noEvents : undefined),
    };
    try {
      return await parts.local.at(key, (store, key) =>
        store.append({ ...request, key, ...expected }),
      );
    } catch (error) {
      if (isCallers || !isSessionError(error, 'stale_session')) throw error;
      // The caller expected other versions of the events.
      if (error.actualEvents !== undefined && expectedEvents !== undefined) throw error;
      // With another revision, the error is about the handle: it is stale, and the service refuses that.
      if (error.actualEvents === undefined && error.expectedRevision !== expectedRevision)
        throw error;
      expectedRevision = await recordEarlier(parts, key, events);
    }
  }
}

/**
 * Records what unsent events have written before they are written again: the copy keeps their last versions only.
 *
 * @returns the revision of the copy for which that is recorded
 */
async function recordEarlier(
  { local, records }: RewriteParts,
  key: CompositeSessionKey,
  events: AppendRequest['events'],
): Promise<number | undefined> {
  const { copy, record, damage } = await local.unsent(key);
  if (damage !== undefined) throw damage;
  if (copy === undefined) return undefined;
  const { revision } = copy;
  // The remote would refuse a refused version again, so the version counts no longer. But its values are still in the
  // copy's state, so the cache must compute that state again.
  const refusedId = record.refused?.eventId;
  if (events.some(({ id }) => id === refusedId)) await records.markStale(key);
  const unsent = copy.events.filter(({ id, isEarlier }) => isEarlier === true || id !== refusedId);
  const ids = new Set(unsent.map(({ id }) => id));
  const notes = events.flatMap(({ id, text }, index): EarlierWrites[] => {
    const isAgain = ids.has(id);
    ids.add(id);
    if (!isAgain) return [];
    const delta = lastWrittenBy(id, [...unsent, ...events.slice(0, index)]);
    return Object.keys(delta).length === 0 ? [] : [{ id, text, revision, delta }];
  });
  if (notes.length === 0) return revision;
  const texts = new Map(copy.events.map(({ id, text }) => [id, text]));
  await records.changeSession(key, ({ earlier }) => {
    // A note counts while the copy has its version. A note of this revision or a later one stays: its version may follow.
    const validNotes = earlier?.value.filter(({ id, text, revision: at }) => {
      const present = texts.get(id);
      return at >= revision || (present !== undefined && isSameJson(text, present));
    });
    return { earlier: newOperation([...(validNotes ?? []), ...notes]) };
  });
  return revision;
}
