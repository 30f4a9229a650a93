/** Which operations wait because the remote has refused another one. */
import { parseEventText } from '../../../core/storage/stored_events.js';
import type { RewindPlace } from '../../../core/history_types.js';
import type { Event } from '../../../values/model/event/event.js';
import { isOf, isWaiting, type Operation, type Refusal } from './records.js';

/** By the number of each operation that waits for a refused one: the refused one. */
export type Blockers = ReadonlyMap<number, Operation>;

const NONE: Blockers = new Map();
const remembered = new WeakMap<readonly Operation[], Blockers>();

/**
 * Returns which of the operations of one session or state wait for a refused one.
 *
 * A refused event blocks what depends on it: its later versions, the other events of an agent in its invocation, and
 * a rewind to it. After a refused creation, rewind or deletion, and after `not_found`, everything waits. `docs/cache.md` has
 * the table.
 */
export function blockersOf(operations: readonly Operation[]): Blockers {
  if (operations.every(({ refusal }) => refusal === undefined)) return NONE;
  const found = remembered.get(operations) ?? findBlockers(operations);
  remembered.set(operations, found);
  return found;
}

function findBlockers(operations: readonly Operation[]): Blockers {
  const blockers = new Map<number, Operation>();
  /** By the places of the events that are not sent: the refused operation. */
  const byPlace = new Map<string, Operation>();
  let ofAll: Operation | undefined;
  const blockerOf = (operation: Operation): Operation | undefined => {
    if (ofAll !== undefined || byPlace.size === 0) return ofAll;
    const place = placesNeeded(operation).find((each) => byPlace.has(each));
    return place === undefined ? undefined : byPlace.get(place);
  };
  for (const operation of operations) {
    // A message that is given up is cancelled, whatever has become of the others.
    if (!isWaiting(operation) || isOf(operation, 'cancel')) continue;
    const blocker = operation.refusal === undefined ? blockerOf(operation) : undefined;
    if (blocker !== undefined) blockers.set(operation.number, blocker);
    const refused = operation.refusal === undefined ? blocker : operation;
    if (refused === undefined) continue;
    if (blocksAll(operation)) ofAll ??= refused;
    else if (isOf(operation, 'append')) {
      for (const place of placesWritten(operation)) byPlace.set(place, refused);
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
/** An invocation whose message is not sent: nothing of it is there. */
const turnPlace = (id: string): string => `turn ${id}`;

/** Returns the places on which later operations may depend. */
function placesWritten(operation: Operation<'append'>): string[] {
  const { author, invocationId } = originOf(operation);
  const places = [eventPlace(operation.write.events[0].id)];
  if (invocationId) places.push(invocationPlace(invocationId));
  if (invocationId && author === 'user') places.push(turnPlace(invocationId));
  return places;
}

/** Returns the places on which an operation depends. */
function placesNeeded(operation: Operation): string[] {
  if (isOf(operation, 'rewind')) return placesOf(operation.write.place);
  if (!isOf(operation, 'append')) return [];
  const { author, invocationId } = originOf(operation);
  const own = eventPlace(operation.write.events[0].id);
  return author === 'user' || !invocationId ? [own] : [own, invocationPlace(invocationId)];
}

/** Returns the place of what a rewind undoes first. Other rewinds, to which it may go back, block everything behind by themselves. */
function placesOf(place: RewindPlace): string[] {
  if ('turn' in place) return [eventPlace(place.turn)];
  if (!('before' in place)) return [];
  const { before } = place;
  return ['eventId' in before ? eventPlace(before.eventId) : turnPlace(before.invocationId)];
}

type Origin = Partial<Pick<Event, 'author' | 'invocationId'>>;

const origins = new WeakMap<Operation['write'], Origin>();

/** Returns who has made an event, and in which invocation. The text of an event is read once. */
function originOf({ write }: Operation<'append'>): Origin {
  const known = origins.get(write);
  if (known !== undefined) return known;
  const { author, invocationId }: Origin = parseEventText(write.events[0].text) ?? {};
  const origin = { author, invocationId } as Origin;
  origins.set(write, origin);
  return origin;
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
