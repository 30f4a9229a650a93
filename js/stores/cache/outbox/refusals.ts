/** Which mutations wait because the remote has refused another one. */
import type { RewindPlace } from '../../../core/history_types.js';
import {
  isOf,
  isOpen,
  isRefused,
  isWaiting,
  type Mutation,
  ownRefusalOf,
  type Refusal,
} from './mutation.js';

/** By the number of each mutation that waits for a refused one: the refused one. */
export type Blockers = ReadonlyMap<number, Mutation>;

const NONE: Blockers = new Map();
const remembered = new WeakMap<readonly Mutation[], Blockers>();

/**
 * Returns which of the mutations of one session or state wait for a refused one.
 *
 * A refused event blocks what depends on it: its later versions, the other events of an agent in its invocation, and
 * a rewind to it. After a refused creation, rewind or deletion, and after `not_found`, everything waits.
 * `docs/cache.md` has the table.
 */
export function blockersOf(mutations: readonly Mutation[]): Blockers {
  if (!mutations.some(isRefused)) return NONE;
  const found = remembered.get(mutations) ?? findBlockers(mutations);
  remembered.set(mutations, found);
  return found;
}

function findBlockers(mutations: readonly Mutation[]): Blockers {
  const blockers = new Map<number, Mutation>();
  /** By the places of the events that are not sent: the refused mutation. */
  const byPlace = new Map<string, Mutation>();
  let ofAll: Mutation | undefined;
  const refusedBlockerOf = (mutation: Mutation): Mutation | undefined => {
    if (ofAll !== undefined || byPlace.size === 0) return ofAll;
    const place = placesNeeded(mutation).find((each) => byPlace.has(each));
    return place === undefined ? undefined : byPlace.get(place);
  };
  for (const mutation of mutations) {
    // A message that is given up is cancelled, whatever has become of the others.
    if (!isWaiting(mutation) || isOf(mutation, 'cancel')) continue;
    const blocker = isRefused(mutation) ? undefined : refusedBlockerOf(mutation);
    if (blocker !== undefined) blockers.set(mutation.number, blocker);
    const refused = isRefused(mutation) ? mutation : blocker;
    if (refused === undefined) continue;
    if (blocksAll(mutation)) ofAll ??= refused;
    else if (isOf(mutation, 'append')) {
      for (const place of placesWritten(mutation)) byPlace.set(place, refused);
    }
  }
  return blockers;
}

/** Whether everything behind a mutation depends on it. */
export function blocksAll(mutation: Mutation): boolean {
  const isMissing = ownRefusalOf(mutation)?.code === 'not_found';
  return isMissing || isOf(mutation, 'create', 'rewind', 'delete');
}

const eventPlace = (id: string): string => `event ${id}`;
const INVOCATION = 'invocation ';
const invocationPlace = (id: string): string => `${INVOCATION}${id}`;
/** A rewind, by the invocation of its marker. */
const rewindPlace = (id: string): string => `rewind ${id}`;
/** An invocation whose message is not sent: nothing of it is there. */
const turnPlace = (id: string): string => `turn ${id}`;

/** Returns the places on which later mutations may depend. */
function placesWritten(mutation: Mutation<'append'>): string[] {
  const { id, author, invocationId } = mutation.write.events[0];
  const places = [eventPlace(id)];
  if (invocationId) places.push(invocationPlace(invocationId));
  if (invocationId && author === 'user') places.push(turnPlace(invocationId));
  return places;
}

/** Returns the places on which a mutation depends. */
function placesNeeded(mutation: Mutation): string[] {
  if (isOf(mutation, 'rewind')) return placesOf(mutation.write.place);
  if (!isOf(mutation, 'append')) return [];
  const { id, author, invocationId } = mutation.write.events[0];
  const own = eventPlace(id);
  return author === 'user' || !invocationId ? [own] : [own, invocationPlace(invocationId)];
}

/**
 * Returns messages with what makes no sense without them: later versions of a message, rewinds to it or of the rewind
 * that stores it, and what makes no sense without these.
 */
export function withDependents(
  mutations: readonly Mutation[],
  messages: readonly Mutation[],
): Mutation[] {
  const places = new Set(messages.flatMap(turnPlacesOf));
  return mutations.filter((mutation) => {
    if (messages.includes(mutation)) return true;
    const isDependent =
      isWaiting(mutation) && placesNeeded(mutation).some((place) => places.has(place));
    if (isDependent) for (const place of turnPlacesOf(mutation)) places.add(place);
    return isDependent;
  });
}

/** Returns the places to which a rewind may go back, of what a mutation stores. */
function turnPlacesOf(mutation: Mutation): string[] {
  if (isOf(mutation, 'append')) {
    return placesWritten(mutation).filter((place) => !place.startsWith(INVOCATION));
  }
  if (!isOf(mutation, 'rewind')) return [];
  const { marker, message } = mutation.write;
  const places = [rewindPlace(marker.invocationId)];
  if (message !== undefined) places.push(eventPlace(message.id), turnPlace(message.invocationId));
  return places;
}

/**
 * Returns the place of what a rewind undoes first. Other rewinds, to which it may go back, block everything behind by
 * themselves.
 */
function placesOf(place: RewindPlace): string[] {
  if ('turn' in place) return [eventPlace(place.turn)];
  if (!('before' in place)) return [rewindPlace('undo' in place ? place.undo : place.branch)];
  const { before } = place;
  return ['eventId' in before ? eventPlace(before.eventId) : turnPlace(before.invocationId)];
}

/** Returns the mutations that can be sent: those that wait, were not refused, and wait for no refused one. */
export function sendableOf(mutations: readonly Mutation[]): Mutation[] {
  const blockers = blockersOf(mutations);
  return mutations.filter((mutation) => isOpen(mutation) && !blockers.has(mutation.number));
}

/** Returns why a mutation is not sent: its own refusal, or that of the one for which it waits. */
export function refusalOf(mutations: readonly Mutation[], number: number): Refusal | undefined {
  const mutation = mutations.find((other) => other.number === number);
  const own = mutation && ownRefusalOf(mutation);
  const blocker = blockersOf(mutations).get(number);
  return own ?? (blocker && ownRefusalOf(blocker));
}
