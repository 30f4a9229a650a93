import type { Event } from '../../values/model/event/event.js';
import { idOfLastEvent } from './handle.js';

/** The events of a handle. */
interface HandleEvents {
  readonly events: Event[];
  /** The caller's object that holds them. */
  readonly given: object;
}

interface PositionIndex {
  readonly positions: Map<string, number>;
  length: number;
  lastId: string | undefined;
}

/** What is known of a handle's events. */
interface KnownEvents {
  /** How often the array was searched. */
  searches: number;
  /**
   * The position of each event id in the array.
   *
   * A search through the array would make each append slower the longer the conversation is.
   * Frameworks push, cut and reorder the array as they like. So the map is used only while the array's
   * length and the id of its last event are unchanged. It compares the id and not the object, because
   * a proxied array (Vue, Svelte, MobX) returns another object than was put in.
   *
   * This check misses an event that was exchanged for another one. Compactors do that, and their
   * events are marked: putting one discards the map.
   */
  index: PositionIndex | undefined;
}

/** By the array, so that copies of a handle share it; and by the handle, since a proxy may return another array at each read. */
const knownEvents = new WeakMap<object, KnownEvents>();

/**
 * How many times an array is searched before its map is made. In most turns a handle gets two
 * events, a message and an answer. Making the map for 10,000 events takes as long as a hundred
 * searches. Handles that get more events use the map.
 */
const SEARCHES_BEFORE_INDEX = 2;

function knownOf({ events, given }: HandleEvents): KnownEvents {
  let known = knownEvents.get(events);
  if (known !== undefined) return known;
  known = knownEvents.get(given);
  // With another length or end, it is not the same array behind a proxy.
  if (known?.index && !isCurrent(known.index, events)) known = undefined;
  known ??= { searches: 0, index: undefined };
  knownEvents.set(events, known);
  knownEvents.set(given, known);
  return known;
}

/** Returns the map of an array, or `undefined` while the array is still searched instead. */
function currentIndex(handle: HandleEvents, known = knownOf(handle)): PositionIndex | undefined {
  const { index } = known;
  if (index && isCurrent(index, handle.events)) return index;
  if (index === undefined) {
    known.searches += 1;
    if (known.searches <= SEARCHES_BEFORE_INDEX) return undefined;
  }
  return makeIndex(handle);
}

function isCurrent({ length, lastId }: PositionIndex, events: Event[]): boolean {
  return length === events.length && lastId === idOfLastEvent(events);
}

function makeIndex(handle: HandleEvents): PositionIndex {
  const { events } = handle;
  const positions = new Map<string, number>();
  for (const [position, event] of (events as readonly (Event | null | undefined)[]).entries()) {
    // A hand-made array may hold anything.
    if (typeof event?.id === 'string') positions.set(event.id, position);
  }
  const index = { positions, length: events.length, lastId: idOfLastEvent(events) };
  knownOf(handle).index = index;
  return index;
}

function searchFromEnd(events: readonly (Event | null | undefined)[], id: string): number {
  for (let position = events.length - 1; position >= 0; position -= 1) {
    if (events[position]?.id === id) return position;
  }
  return -1;
}

/** Returns the position of the event with that id, or −1. */
export function positionOf(handle: HandleEvents, id: string): number {
  const { events } = handle;
  const index = currentIndex(handle);
  if (index === undefined) return searchFromEnd(events, id);
  const position = index.positions.get(id);
  if (position === undefined) return -1;
  if (events[position]?.id === id) return position;
  // An event in the middle was exchanged, which the length does not show.
  return makeIndex(handle).positions.get(id) ?? -1;
}

/**
 * Puts the event at the end, or in place of the event with the same id. Does nothing if the caller
 * has frozen the array since the append began, because a committed append must not fail.
 */
export function putEvent(handle: HandleEvents, event: Event, id = event.id): void {
  const { events } = handle;
  if (!Object.isExtensible(events)) return;
  const { isCompacted, isScratchpad } = event as { isCompacted?: unknown; isScratchpad?: unknown };
  const known = knownOf(handle);
  if (isCompacted === true || isScratchpad === true) known.index = undefined;
  let index = currentIndex(handle, known);
  let position = -1;
  if (index === undefined) {
    position = searchFromEnd(events, id);
  } else if (index.positions.has(id)) {
    position = positionOf(handle, id);
    // `positionOf` may have made a new map.
    index = known.index;
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
export function insertEvents(
  handle: HandleEvents,
  before: ReadonlyMap<number, readonly Event[]>,
): void {
  const { events } = handle;
  if (before.size === 0 || !Object.isExtensible(events)) return;
  const ordered = events.flatMap((event, position) => [...(before.get(position) ?? []), event]);
  for (const [position, event] of ordered.entries()) events[position] = event;
  knownOf(handle).index = undefined;
}

/** Replaces all events. Events that the handle has already stay the same objects. Does nothing if the array is frozen. */
export function replaceEvents(handle: HandleEvents, replacing: readonly Event[]): void {
  const { events } = handle;
  if (!Object.isExtensible(events)) return;
  const held = new Map(events.map((event) => [event.id, event]));
  events.length = replacing.length;
  for (const [position, event] of replacing.entries())
    events[position] = held.get(event.id) ?? event;
  knownOf(handle).index = undefined;
}
