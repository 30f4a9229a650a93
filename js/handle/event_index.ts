import type { Event } from '../model/event/event.js';
import { idOfLastEvent } from './handle.js';

interface PositionIndex {
  readonly positions: Map<string, number>;
  length: number;
  lastId: string | undefined;
}

/**
 * The position of each event id in a handle's `events`.
 *
 * A search through the array would make each append slower the longer the conversation is.
 * Frameworks push, cut and reorder the array as they like. So a map is used only while the array's
 * length and the id of its last event are unchanged. It compares the id and not the object, because
 * a proxied array (Vue, Svelte, MobX) returns another object than was put in.
 *
 * This check misses an event that was exchanged for another one. Compactors do that, and their
 * events are marked: putting one discards the map.
 */
const indexes = new WeakMap<Event[], PositionIndex>();

/**
 * How many times an array is searched before its map is made. In most turns a handle gets two
 * events, a message and an answer. Making the map for 10,000 events takes as long as a hundred
 * searches. Handles that get more events use the map.
 */
const SEARCHES_BEFORE_INDEX = 2;

const searchCounts = new WeakMap<Event[], number>();

/** Returns the map of an array, or `undefined` while the array is still searched instead. */
function currentIndex(events: Event[]): PositionIndex | undefined {
  const cached = indexes.get(events);
  if (cached?.length === events.length && cached.lastId === idOfLastEvent(events)) return cached;
  if (cached === undefined) {
    const searches = searchCounts.get(events) ?? 0;
    searchCounts.set(events, searches + 1);
    if (searches < SEARCHES_BEFORE_INDEX) return undefined;
  }
  return makeIndex(events);
}

function makeIndex(events: Event[]): PositionIndex {
  const positions = new Map<string, number>();
  for (const [position, event] of (events as readonly (Event | null | undefined)[]).entries()) {
    // A hand-made array may hold anything.
    if (typeof event?.id === 'string') positions.set(event.id, position);
  }
  const index = { positions, length: events.length, lastId: idOfLastEvent(events) };
  indexes.set(events, index);
  return index;
}

function searchFromEnd(events: readonly (Event | null | undefined)[], id: string): number {
  for (let position = events.length - 1; position >= 0; position -= 1) {
    if (events[position]?.id === id) return position;
  }
  return -1;
}

/** Returns the position of the event with that id, or −1. */
export function positionOf(events: Event[], id: string): number {
  const index = currentIndex(events);
  if (index === undefined) return searchFromEnd(events, id);
  const position = index.positions.get(id);
  if (position === undefined) return -1;
  if (events[position]?.id === id) return position;
  // An event in the middle was exchanged, which the length does not show.
  return makeIndex(events).positions.get(id) ?? -1;
}

/**
 * Puts the event at the end, or in place of the event with the same id. Does nothing if the caller
 * has frozen the array since the append began, because a committed append must not fail.
 */
export function putEvent(events: Event[], event: Event, id = event.id): void {
  if (!Object.isExtensible(events)) return;
  const { isCompacted, isScratchpad } = event as { isCompacted?: unknown; isScratchpad?: unknown };
  if (isCompacted === true || isScratchpad === true) indexes.delete(events);
  let index = currentIndex(events);
  let position = -1;
  if (index === undefined) {
    position = searchFromEnd(events, id);
  } else if (index.positions.has(id)) {
    position = positionOf(events, id);
    // `positionOf` may have made a new map.
    index = indexes.get(events);
  }
  if (position >= 0) {
    events[position] = event;
    return;
  }
  events.push(event);
  if (index === undefined) return;
  index.positions.set(id, index.length);
  index.length += 1;
  index.lastId = id;
}

/**
 * Puts new events before others. Does nothing if the array is frozen, as {@link putEvent}. One pass
 * over the array: with one insertion an event, many events would cost their number squared.
 *
 * @param before the new events, by the position of the event that follows them
 */
export function insertEvents(events: Event[], before: ReadonlyMap<number, readonly Event[]>): void {
  if (before.size === 0 || !Object.isExtensible(events)) return;
  const ordered = events.flatMap((event, position) => [...(before.get(position) ?? []), event]);
  for (const [position, event] of ordered.entries()) events[position] = event;
  indexes.delete(events);
}
