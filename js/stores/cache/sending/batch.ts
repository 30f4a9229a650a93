/** What one request sends. */
import type { ExpectedEvents } from '../../../values/model/session.js';
import { askedMessageOf, isOf, type Operation } from '../records/records.js';

/** The most operations, and about the most characters, of one request. */
const MAX_OPERATIONS = 100;
const MAX_CHARACTERS = 500_000;

/** Whether another operation may be sent now. */
export type CanSend = (operation: Operation) => boolean;

/**
 * Takes the operations of one request: one, or several appends or changes of a state. A message that asks for a run is
 * sent alone. Operations that were sent together without an answer are sent together again, under the same number, so
 * that the remote applies them once.
 */
export function batchOf(
  sendable: readonly Operation[],
  most = MAX_OPERATIONS,
  mayGoOn: CanSend,
): Operation[] {
  const [first] = sendable;
  if (first === undefined) return [];
  if (!isOf(first, 'append', 'update') || isAsked(first)) return [first];
  const batch: Operation[] = [];
  let size = 0;
  for (const operation of sendable) {
    const { write, basis, sent } = operation;
    const isAlike =
      write.kind === first.write.kind &&
      basis.birth === first.basis.birth &&
      sent.attempts === first.sent.attempts &&
      !isAsked(operation);
    if (write.kind === 'append') size += write.events[0].text.length;
    if (write.kind === 'update') size += write.delta.length;
    const isFull = batch.length > 0 && (batch.length >= most || size > MAX_CHARACTERS);
    if (!isAlike || isFull || (batch.length > 0 && !mayGoOn(operation))) break;
    batch.push(operation);
  }
  return batch;
}

function isAsked(operation: Operation): boolean {
  return askedMessageOf(operation) !== undefined;
}

/**
 * Returns the revisions that replaced events must have at the remote. If an event is written twice, the first counts.
 */
export function expectedOf(operations: readonly Operation<'append'>[]): ExpectedEvents {
  const expected = new Map<string, number | null>();
  for (const { write, basis } of operations) {
    const [{ id }] = write.events;
    const { expected: revision, isBound } = basis;
    if (revision === undefined || expected.has(id)) continue;
    // Only the highest possible revision is known. With `null` the remote refuses the event, and tells its revision.
    expected.set(id, isBound === true ? null : revision);
  }
  return Object.fromEntries(expected);
}
