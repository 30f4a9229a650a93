/** Which mutations wait because the remote has refused another one. */
import { parseEventText } from '../../../core/storage/stored_events.js';
import type { RewindPlace } from '../../../core/history_types.js';
import type { Event } from '../../../values/model/event/event.js';
import { isOf, isWaiting, type Mutation, type Refusal } from './records.js';

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
  if (mutations.every(({ refusal }) => refusal === undefined)) return NONE;
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
    const blocker = mutation.refusal === undefined ? refusedBlockerOf(mutation) : undefined;
    if (blocker !== undefined) blockers.set(mutation.number, blocker);
    const refused = mutation.refusal === undefined ? blocker : mutation;
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
  const isMissing = mutation.refusal?.code === 'not_found';
  return isMissing || isOf(mutation, 'create', 'rewind', 'delete');
}

const eventPlace = (id: string): string => `event ${id}`;
const invocationPlace = (id: string): string => `invocation ${id}`;
/** An invocation whose message is not sent: nothing of it is there. */
const turnPlace = (id: string): string => `turn ${id}`;

/** Returns the places on which later mutations may depend. */
function placesWritten(mutation: Mutation<'append'>): string[] {
  const { author, invocationId } = originOf(mutation);
  const places = [eventPlace(mutation.write.events[0].id)];
  if (invocationId) places.push(invocationPlace(invocationId));
  if (invocationId && author === 'user') places.push(turnPlace(invocationId));
  return places;
}

/** Returns the places on which a mutation depends. */
function placesNeeded(mutation: Mutation): string[] {
  if (isOf(mutation, 'rewind')) return placesOf(mutation.write.place);
  if (!isOf(mutation, 'append')) return [];
  const { author, invocationId } = originOf(mutation);
  const own = eventPlace(mutation.write.events[0].id);
  return author === 'user' || !invocationId ? [own] : [own, invocationPlace(invocationId)];
}

/** Whether a mutation is a rewind to what an append writes, and stores nothing but its marker. */
export function onlyUndoes(mutation: Mutation, append: Mutation): boolean {
  if (!isOf(mutation, 'rewind') || !isOf(append, 'append')) return false;
  const { place, message, events = [] } = mutation.write;
  const written = placesWritten(append);
  const isTo = placesOf(place).some((each) => written.includes(each));
  return isTo && message === undefined && events.length === 0;
}

/**
 * Returns the place of what a rewind undoes first. Other rewinds, to which it may go back, block everything behind by
 * themselves.
 */
function placesOf(place: RewindPlace): string[] {
  if ('turn' in place) return [eventPlace(place.turn)];
  if (!('before' in place)) return [];
  const { before } = place;
  return ['eventId' in before ? eventPlace(before.eventId) : turnPlace(before.invocationId)];
}

type Origin = Partial<Pick<Event, 'author' | 'invocationId'>>;

const origins = new WeakMap<Mutation['write'], Origin>();

/** Returns who has made an event, and in which invocation. The text of an event is read once. */
function originOf({ write }: Mutation<'append'>): Origin {
  const known = origins.get(write);
  if (known !== undefined) return known;
  const { author, invocationId }: Origin = parseEventText(write.events[0].text) ?? {};
  const origin = { author, invocationId } as Origin;
  origins.set(write, origin);
  return origin;
}

/** Returns the mutations that can be sent: those that wait, were not refused, and wait for no refused one. */
export function sendableOf(mutations: readonly Mutation[]): Mutation[] {
  const blockers = blockersOf(mutations);
  return mutations.filter(
    (mutation) =>
      isWaiting(mutation) && mutation.refusal === undefined && !blockers.has(mutation.number),
  );
}

/** Returns why a mutation is not sent: its own refusal, or that of the one for which it waits. */
export function refusalOf(mutations: readonly Mutation[], number: number): Refusal | undefined {
  const own = mutations.find((mutation) => mutation.number === number)?.refusal;
  return own ?? blockersOf(mutations).get(number)?.refusal;
}
