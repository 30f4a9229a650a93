/**
 * Events as a read wants them: not as text, but as objects, made straight of what parsing gives.
 *
 * Nearly all differ from ours by nothing but names and the time. The objects that hold such a name are
 * copied with ours, all others are taken as they are. What is not so plain goes the way of
 * `event_data.ts`, and a test holds both to the same results.
 */
import { EVENT, type Fields, type Shape, snakeName } from '../dialect/fields.js';
import { toMilliseconds } from '../dialect/time.js';
import { createEventActions, type Event } from '../event.js';
import { defineMember } from '../json/member.js';
import { isPlainObject, MAX_EVENT_LEVELS } from '../json/rules.js';
import { replaceLoneSurrogates } from '../json/text.js';
import { isTime } from '../snapshot.js';
import { eventOfData, isDefaultNodeInfo } from './event_data.js';
import { asJson } from '../dialect/numbers.js';

type JsonObject = Record<string, unknown>;

/** What is known of an object of Python's. */
interface Place {
  /** By the name in Python. */
  readonly members: Map<string, Member>;
  /** The one that came first the last time. */
  first: Member | undefined;
  /** The bits of all members that must be there. */
  readonly needed: number;
}

/** Events are alike: which member comes next is guessed by the last one, and looked up where that fails. */
interface Member {
  readonly source: string;
  readonly name: string;
  /** What is known of an object that stands there; absent where all of it is data. */
  readonly place: Place | undefined;
  readonly convert: Convert | undefined;
  readonly bit: number;
  /** The one that came behind it the last time. */
  next: Member | undefined;
}

/** Makes our value of Python's: `null` if there is none, `undefined` if that is not plain. */
type Convert = (value: unknown) => unknown;

const CONVERSIONS: Readonly<Record<string, Convert>> = {
  timestamp(seconds) {
    const time = typeof seconds === 'number' ? toMilliseconds(seconds) : undefined;
    return isTime(time) ? time : undefined;
  },
  actions: (value) => (isPlainObject(value) ? value : undefined),
  nodeInfo: (value) => (isDefaultNodeInfo(value) ? null : value),
};

const ACTIONS = EVENT.members.get('actions');

/** What is filled in where it is missing, which is not plain. */
const NEEDED_OF_EVENT = ['invocationId', 'timestamp', 'actions'];
const NEEDED_OF_ACTIONS = Object.keys(createEventActions());

/** Whose times are turned as well: of an event that was made of others. */
const NOT_PLAIN = ['isCompacted', 'compaction'];

const PLACES = new Map<Shape, Place>();

function placeOf(fields: Fields): Place {
  const known = PLACES.get(fields);
  if (known !== undefined) return known;
  const needed = fields === EVENT ? NEEDED_OF_EVENT : fields === ACTIONS ? NEEDED_OF_ACTIONS : [];
  const place: Place = { members: new Map(), first: undefined, needed: (1 << needed.length) - 1 };
  // Before its members are known, as those of a message are messages.
  PLACES.set(fields, place);
  for (const [name, shape] of fields.members) {
    if (NOT_PLAIN.includes(name)) continue;
    const source = snakeName(name);
    place.members.set(source, {
      source,
      name,
      place: shape === 'data' ? undefined : placeOf(shape),
      convert: fields === EVENT ? CONVERSIONS[name] : undefined,
      bit: needed.includes(name) ? 1 << needed.indexOf(name) : 0,
      next: undefined,
    });
  }
  return place;
}

const WHOLE = placeOf(EVENT);

/**
 * @param id of the row, which is the event's whatever its JSON says
 * @param eventData JSON as the column has it
 * @returns `undefined` if that is damaged, or leaves it to the row's other columns to say something
 *
 * @example
 * ```ts
 * const json = '{"id": "e", "author": "user", "invocation_id": "i", "timestamp": 1.5}';
 * parsedEvent('e', json); // { id: 'e', author: 'user', invocationId: 'i', timestamp: 1500, actions: … }
 * ```
 */
export function parsedEvent(id: string, eventData: string | null): Event | undefined {
  const data = eventData === null ? undefined : parsed(eventData);
  return isPlainObject(data) ? eventOf(id, data) : undefined;
}

/**
 * The same of several rows, in less time than each alone takes.
 *
 * @returns `undefined` if that is so of any of them
 */
export function parsedEvents(
  ids: readonly string[],
  eventData: readonly (string | null)[],
): Event[] | undefined {
  const together = parsedTogether(eventData);
  const events: Event[] = [];
  for (const [at, id] of ids.entries()) {
    const data = together?.[at];
    // Damage that fits in with its neighbours shows in the ids.
    const isWhole = isPlainObject(data) && data.id === id;
    const event = isWhole ? eventOf(id, data) : parsedEvent(id, eventData[at] ?? null);
    if (event === undefined) return undefined;
    events.push(event);
  }
  return events;
}

function eventOf(id: string, data: JsonObject): Event | undefined {
  const plain = data.id === id ? read(data, WHOLE, 1) : undefined;
  // That its fields are an event's is what its writer was checked for.
  return plain === undefined ? eventOfData(data, id) : (plain as unknown as Event);
}

/** `null` for one that must be parsed alone; `undefined` where all must. */
function parsedTogether(texts: readonly (string | null)[]): unknown[] | undefined {
  const parts = texts.map((text) => (text === null || mayHaveHalves(text) ? 'null' : text));
  const text = `[${parts.join(',')}]`;
  try {
    const values = JSON.parse(text) as unknown[];
    return values.length === texts.length ? values : undefined;
  } catch {
    return undefined;
  }
}

/** An escape that may be half of a pair, mostly of a whole one. */
const HALF = /\\u[dD][89a-fA-F]/;

function mayHaveHalves(text: string): boolean {
  // In a text without the first two characters, which most are, the pattern alone takes a hundred times as long.
  return text.includes('\\u') && HALF.test(text);
}

/**
 * JSON as Python writes it; `undefined` if it is none. What JavaScript cannot say is as in {@link asJson}
 * and `writeExactly`.
 */
function parsed(text: string): unknown {
  return parsedWhole(text) ?? parsedWhole(asJson(text));
}

function parsedWhole(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return mayHaveHalves(text) ? JSON.parse(replaceLoneSurrogates(JSON.stringify(value))) : value;
  } catch {
    // Also where it is too deep to be printed.
    return undefined;
  }
}

/** The object with our names; itself, if they are its own; `undefined` if it is not plain. */
function read(object: JsonObject, place: Place, level: number): JsonObject | undefined {
  if (level > MAX_EVENT_LEVELS) return undefined;
  let result: JsonObject | undefined;
  let last: Member | undefined;
  let found = 0;
  for (const key in object) {
    // What is inherited comes last.
    if (!Object.hasOwn(object, key)) break;
    let member = last === undefined ? place.first : last.next;
    if (member?.source !== key) {
      member = place.members.get(key);
      if (member === undefined) return undefined;
      if (last === undefined) place.first = member;
      else last.next = member;
    }
    last = member;
    const given = object[key];
    let value = member.convert === undefined ? given : member.convert(given);
    if (value !== null && typeof value === 'object' && member.place !== undefined) {
      value = readValue(value, member.place, level + 1);
    }
    if (value === undefined) return undefined;
    if (value !== null) found |= member.bit;
    if (result === undefined) {
      if (value === given && value !== null && key === member.name) continue;
      result = membersUpTo(object, key);
    }
    if (value !== null) defineMember(result, member.name, value);
  }
  if (found !== place.needed) return undefined;
  return result ?? object;
}

function readValue(value: object, place: Place, level: number): object | undefined {
  return Array.isArray(value)
    ? readList(value, place, level)
    : read(value as JsonObject, place, level);
}

function readList(list: readonly unknown[], place: Place, level: number): object | undefined {
  let result: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const item = list[at];
    if (typeof item !== 'object' || item === null) continue;
    const value = readValue(item, place, level + 1);
    if (value === undefined) return undefined;
    if (value === item) continue;
    result ??= list.slice();
    result[at] = value;
  }
  return result ?? list;
}

/** A copy of those that stand before `end`, all of which have the same name for us. */
function membersUpTo(object: JsonObject, end: string): JsonObject {
  const copy: JsonObject = {};
  for (const key in object) {
    if (key === end) break;
    defineMember(copy, key, object[key]);
  }
  return copy;
}
