/** Which operations wait because the remote has refused another one. */
import { parseEventText } from '../../../core/storage/stored_events.js';
import type { RewindPlace } from '../../../core/history_types.js';
import { eventsOf, isOf, isWaiting, type Operation, type Refusal } from './records.js';

/** By the number of each operation that waits for a refused one: the refused one. */
export type Blockers = ReadonlyMap<number, Operation>;

const NONE: Blockers = new Map();
const known = new WeakMap<readonly Operation[], Blockers>();

/**
 * Returns which of the operations of one session or state wait for a refused one.
 *
 * A refused event blocks what depends on it: its later versions, the other events of an agent in its invocation, and
 * a rewind to it. Everything depends on a creation, a rewind or a deletion, and on a session that is not there.
 */
export function blockersOf(operations: readonly Operation[]): Blockers {
  if (operations.every(({ refusal }) => refusal === undefined)) return NONE;
  const found = known.get(operations) ?? findBlockers(operations);
  known.set(operations, found);
  return found;
}

function findBlockers(operations: readonly Operation[]): Blockers {
  const blockers = new Map<number, Operation>();
  /** By the ids of the events that are not sent, and of their invocations. */
  const byPlace = new Map<string, Operation>();
  let ofAll: Operation | undefined;
  for (const operation of operations) {
    // A message that is given up is cancelled, whatever has become of the others.
    if (!isWaiting(operation) || isOf(operation, 'cancel')) continue;
    const isRefused = operation.refusal !== undefined;
    const blocker = ofAll ?? placesNeeded(operation).flatMap((at) => byPlace.get(at) ?? [])[0];
    if (!isRefused && blocker === undefined) continue;
    if (!isRefused) blockers.set(operation.number, blocker!);
    const refused = isRefused ? operation : blocker!;
    if (blocksAll(operation)) ofAll ??= refused;
    for (const { id, text } of eventsOf(operation)) {
      byPlace.set(eventPlace(id), refused);
      const { invocationId } = partsOf(text);
      if (invocationId) byPlace.set(invocationPlace(invocationId), refused);
    }
  }
  return blockers;
}

/** Whether everything behind an operation depends on it. */
export function blocksAll(operation: Operation): boolean {
  const isMissing = operation.refusal?.code === 'not_found';
  return isMissing || isOf(operation, 'create', 'rewind', 'delete');
}

const eventPlace = (id: string): string => `event ${id}`;
const invocationPlace = (id: string): string => `invocation ${id}`;

/** Returns the events and invocations without which an operation makes no sense. */
function placesNeeded(operation: Operation): string[] {
  const own = eventsOf(operation).map(({ id }) => eventPlace(id));
  if (isOf(operation, 'rewind')) return [...own, ...placesOf(operation.write.place)];
  if (!isOf(operation, 'append')) return own;
  const { author, invocationId } = partsOf(operation.write.events[0].text);
  return author === 'user' || !invocationId ? own : [...own, invocationPlace(invocationId)];
}

function placesOf(place: RewindPlace): string[] {
  if ('turn' in place) return [eventPlace(place.turn)];
  if ('undo' in place) return [invocationPlace(place.undo)];
  if ('branch' in place) return [invocationPlace(place.branch)];
  const { before } = place;
  return ['eventId' in before ? eventPlace(before.eventId) : invocationPlace(before.invocationId)];
}

function partsOf(text: string): { readonly author?: string; readonly invocationId?: string } {
  return parseEventText(text) ?? {};
}

/** Returns the operations that can be sent: those that wait, were not refused, and wait for no refused one. */
export function sendableOf(operations: readonly Operation[]): Operation[] {
  const blockers = blockersOf(operations);
  return operations.filter(
    (operation) =>
      isWaiting(operation) && operation.refusal === undefined && !blockers.has(operation.number),
  );
}

/** Returns why an operation is not sent: its own refusal, or that of the one for which it waits. */
export function refusalOf(operations: readonly Operation[], number: number): Refusal | undefined {
  const own = operations.find((operation) => operation.number === number)?.refusal;
  return own ?? blockersOf(operations).get(number)?.refusal;
}
