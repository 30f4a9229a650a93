import type { Event } from '../../values/model/event/event.js';
import { idOfLastEvent } from './handle.js';

/** The events of a handle. */
interface HandleEvents {
  readonly events: Event[];
  /** The caller's object that holds them. */
  readonly given: object;
}

interface IndexMap {
  readonly indices: Map<string, number>;
  length: number;
  lastId: string | undefined;
}

/** What is known of a handle's events. */
interface KnownEvents {
  /** How often the array was searched. */
  searches: number;
  /**
   * The index of each event in the array, by its id.
   *
   * A search through the array would make each append slower the longer the conversation is.
   * Frameworks push, cut and reorder the array as they like. So the map is used only while the array's
   * length and the id of its last event are unchanged. It compares the id and not the object, because
   * a proxied array (Vue, Svelte, MobX) returns another object than was put in.
   *
   * This check misses an event that was exchanged for another one. Compactors do that, and their
   * events are marked: putting one discards the map.
   */
  map: IndexMap | undefined;
}

/**
 * By the array, so that copies of a handle share it; and by the handle, since a proxy may return another array at each
 * read.
 */
const knownEvents = new WeakMap<object, KnownEvents>();

/**
 * How many times an array is searched before its map is made. In most turns a handle gets two
 * events, a message and an answer. Making the map for 10,000 events takes as long as a hundred
 * searches. Handles that get more events use the map.
 */
const SEARCHES_BEFORE_MAP = 2;

function knownOf({ events, given }: HandleEvents): KnownEvents {
  let known = knownEvents.get(events);
  if (known !== undefined) return known;
  known = knownEvents.get(given);
  // With another length or end, it is not the same array behind a proxy.
  if (known?.map && !isCurrent(known.map, events)) known = undefined;
  known ??= { searches: 0, map: undefined };
  knownEvents.set(events, known);
  knownEvents.set(given, known);
  return known;
}

/** Returns the map of an array, or `undefined` while the array is still searched instead. */
function currentMap(handle: HandleEvents, known = knownOf(handle)): IndexMap | undefined {
  const { map } = known;
  if (map && isCurrent(map, handle.events)) return map;
  if (map === undefined) {
    known.searches += 1;
    if (known.searches <= SEARCHES_BEFORE_MAP) return undefined;
  }
  return makeMap(handle);
}

function isCurrent({ length, lastId }: IndexMap, events: Event[]): boolean {
  return length === events.length && lastId === idOfLastEvent(events);
}

function makeMap(handle: HandleEvents): IndexMap {
  const { events } = handle;
  const indices = new Map<string, number>();
  for (const [index, event] of (events as readonly (Event | null | undefined)[]).entries()) {
    // A hand-made array may hold anything.
    if (typeof event?.id === 'string') indices.set(event.id, index);
  }
  const map = { indices, length: events.length, lastId: idOfLastEvent(events) };
  knownOf(handle).map = map;
  return map;
}

function searchFromEnd(events: readonly (Event | null | undefined)[], id: string): number {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    if (events[index]?.id === id) return index;
  }
  return -1;
}

/** Returns the index of the event with that id, or −1. */
export function indexOfId(handle: HandleEvents, id: string): number {
  const { events } = handle;
  const map = currentMap(handle);
  if (map === undefined) return searchFromEnd(events, id);
  const index = map.indices.get(id);
  if (index === undefined) return -1;
  if (events[index]?.id === id) return index;
  // An event in the middle was exchanged, which the length does not show.
  return makeMap(handle).indices.get(id) ?? -1;
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
  if (isCompacted === true || isScratchpad === true) known.map = undefined;
  let map = currentMap(handle, known);
  let index = -1;
  if (map === undefined) {
    index = searchFromEnd(events, id);
  } else if (map.indices.has(id)) {
    index = indexOfId(handle, id);
    // `indexOfId` may have made a new map.
    map = known.map;
  }
  if (index >= 0) {
    events[index] = event;
    return;
  }
  events.push(event);
  if (map === undefined) return;
  map.indices.set(id, map.length);
  map.length += 1;
  map.lastId = id;
}

/**
 * Puts new events before others. Does nothing if the array is frozen, as {@link putEvent}. One pass
 * over the array: with one insertion an event, many events would cost their number squared.
 *
 * @param before the new events, by the index of the event that follows them
 */
export function insertEvents(
  handle: HandleEvents,
  before: ReadonlyMap<number, readonly Event[]>,
): void {
  const { events } = handle;
  if (before.size === 0 || !Object.isExtensible(events)) return;
  const ordered = events.flatMap((event, index) => [...(before.get(index) ?? []), event]);
  for (const [index, event] of ordered.entries()) events[index] = event;
  knownOf(handle).map = undefined;
}

/**
 * Replaces all events. Events that the handle has already stay the same objects. Does nothing if the array is frozen.
 */
export function replaceEvents(handle: HandleEvents, replacing: readonly Event[]): void {
  const { events } = handle;
  if (!Object.isExtensible(events)) return;
  const held = new Map(events.map((event) => [event.id, event]));
  events.length = replacing.length;
  for (const [index, event] of replacing.entries()) events[index] = held.get(event.id) ?? event;
  knownOf(handle).map = undefined;
}
