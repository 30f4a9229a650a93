/**
 * The straight road between an event's JSON and Python's: where only names and the time differ, they are
 * exchanged in the text, in a fraction of the time that it takes to parse, project, compare and print it.
 *
 * Nearly all events are plain: all of their fields are Python's, with values that it accepts, and nothing
 * is missing that it has. Whatever is not, or cannot be told here, takes the long road, which a test holds
 * to the same results. On the way back only what we wrote is plain, and not what Python did.
 */
import { toMilliseconds, toSeconds } from '../dialect/time.js';
import { createEventActions } from '../event.js';
import { REMOVED } from '../scope.js';
import { type Member, type ObjectPlace, type Place, PlainText } from './plain_text.js';
import { type Accepted, type Leaf, type Model, PYTHON_EVENT } from '../dialect/python_models.js';

/** Never missing in what Python writes; where it is, the long road fills it in. */
const NEEDED_OF_EVENT = ['id', 'invocationId', 'author', 'timestamp', 'actions'];
const NEEDED_OF_ACTIONS = Object.keys(createEventActions());

/** Python's default, which stands last in what we write and in no event of ours. */
const NODE_INFO = ',"node_info":{"path":""}}';

function placesOf(isToPython: boolean): ObjectPlace {
  const known = new Map<Accepted, Place>();
  const placeOf = (accepted: Accepted, needed: readonly string[] = []): Place => {
    if (typeof accepted === 'string') return accepted;
    const place = known.get(accepted) ?? newPlace(accepted, needed);
    known.set(accepted, place);
    return place;
  };
  const newPlace = (accepted: Exclude<Accepted, Leaf>, needed: readonly string[]): Place => {
    if ('list' in accepted) return { list: placeOf(accepted.list) };
    if ('values' in accepted) return { values: placeOf(accepted.values) };
    return objectPlace(accepted, needed);
  };
  const objectPlace = (model: Model, needed: readonly string[]): ObjectPlace => {
    const members = new Map<string, Member>();
    const isConditional = model.required.length > 0 || model.together.length > 0;
    if (isConditional) return { members, first: undefined, needed: 0 };
    for (const [name, { snakeName, accepted }] of model.members) {
      const place = name === 'actions' ? placeOf(accepted, NEEDED_OF_ACTIONS) : placeOf(accepted);
      const bit = needed.includes(name) ? 1 << needed.indexOf(name) : 0;
      const [from, to] = isToPython ? [name, snakeName] : [snakeName, name];
      const source = `${JSON.stringify(from)}:`;
      members.set(from, { source, name: JSON.stringify(to), place, bit, next: undefined });
    }
    return { members, first: undefined, needed: (1 << needed.length) - 1 };
  };
  const event = objectPlace(PYTHON_EVENT, NEEDED_OF_EVENT);
  const members = new Map(event.members);
  members.delete(isToPython ? 'nodeInfo' : 'node_info');
  const time = members.get('timestamp');
  if (time !== undefined) members.set('timestamp', { ...time, place: 'time' });
  return { members, first: undefined, needed: event.needed };
}

const TO_PYTHON = placesOf(true);
const FROM_PYTHON = placesOf(false);

/** What stands in the columns beside the text. */
export interface PlainColumns {
  readonly id: string;
  readonly invocationId: string;
  readonly eventData: string;
}

/**
 * @param text an event's JSON: camelCase, milliseconds
 * @returns `undefined` if it is not plain
 */
export function toPlainPython(text: string): PlainColumns | undefined {
  // Removals are `null` for Python; halves of characters are no JSON for PostgreSQL.
  if (text.includes(REMOVED) || text.includes('\\ud') || text.includes('\\uD')) return undefined;
  const scan = new PlainText(text, text.length - 1, toSeconds, toMilliseconds);
  const written = scan.event(TO_PYTHON);
  const { id, invocationId } = scan;
  if (written === undefined) return undefined;
  return { id, invocationId, eventData: written + NODE_INFO };
}

/**
 * @param text JSON as we wrote it for Python
 * @returns the event's JSON and its time; `undefined` if it is not plain, or of another id
 */
export function fromPlainPython(
  text: string,
  id: string,
): { text: string; timestamp: number } | undefined {
  if (!text.endsWith(NODE_INFO)) return undefined;
  const scan = new PlainText(text, text.length - NODE_INFO.length, toMilliseconds, toSeconds);
  const written = scan.event(FROM_PYTHON);
  if (written === undefined || scan.id !== id) return undefined;
  return { text: `${written}}`, timestamp: scan.time };
}
