import type { Event } from '../model/event.js';
import { lastIdOf } from './handle.js';

interface Index {
  readonly positions: Map<string, number>;
  length: number;
  lastId: string | undefined;
}

/**
 * Where an event of an id stands in a handle's `events`.
 *
 * A search through the array would make each append as slow as the conversation is long. The map is
 * kept by array and believed as long as its length and the id of its last event are those it was made for:
 * frameworks push, cut and reorder the array as they like. The id and not the event, which a proxied array
 * (Vue, Svelte, MobX) gives out as another object than was put there. What that does not show is one event
 * exchanged for another, which compactors do, whose events say so.
 */
const indexes = new WeakMap<Event[], Index>();

/**
 * How often an array is searched before it gets its map. In most turns a handle gets a message and an
 * answer, and to make the map of 10,000 events takes as long as a hundred searches. Not oftener, since
 * whatever else is appended is to find the map.
 */
const SEARCHES = 2;

const searched = new WeakMap<Event[], number>();

/** The map of an array; `undefined` as long as it is searched instead. */
function indexOf(events: Event[]): Index | undefined {
  const known = indexes.get(events);
  if (known?.length === events.length && known.lastId === lastIdOf(events)) return known;
  if (known === undefined) {
    const searches = searched.get(events) ?? 0;
    searched.set(events, searches + 1);
    if (searches < SEARCHES) return undefined;
  }
  return makeIndex(events);
}

function makeIndex(events: Event[]): Index {
  const positions = new Map<string, number>();
  for (const [position, event] of (events as readonly (Event | null | undefined)[]).entries()) {
    // A hand-made array may hold anything.
    if (typeof event?.id === 'string') positions.set(event.id, position);
  }
  const index = { positions, length: events.length, lastId: lastIdOf(events) };
  indexes.set(events, index);
  return index;
}

function search(events: readonly (Event | null | undefined)[], id: string): number {
  for (let position = events.length - 1; position >= 0; position -= 1) {
    if (events[position]?.id === id) return position;
  }
  return -1;
}

/** The position of the event with that id, or −1. */
export function positionOf(events: Event[], id: string): number {
  const index = indexOf(events);
  if (index === undefined) return search(events, id);
  const position = index.positions.get(id);
  if (position === undefined) return -1;
  if (events[position]?.id === id) return position;
  // Something was exchanged in the middle, which the length does not show.
  return makeIndex(events).positions.get(id) ?? -1;
}

/**
 * Puts the event at the end, or in the place of the one that has its id. Leaves an array alone that
 * the caller froze since the append began: what was committed must not fail for it.
 */
export function putEvent(events: Event[], event: Event, id = event.id): void {
  if (!Object.isExtensible(events)) return;
  const { isCompacted, isScratchpad } = event as { isCompacted?: unknown; isScratchpad?: unknown };
  if (isCompacted === true || isScratchpad === true) indexes.delete(events);
  let index = indexOf(events);
  let position = -1;
  if (index === undefined) {
    position = search(events, id);
  } else if (index.positions.has(id)) {
    position = positionOf(events, id);
    // That one may have been made anew.
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
