/**
 * Selects the part of an event that Python can read, in Python's form: snake_case, times in seconds, without
 * `null`s, and without values that Python's models refuse.
 */
import { isTime } from '../model/values/time.js';
import { defineMember } from '../members.js';
import { isPlainObject, type JsonObject } from '../json/rules.js';
import { REMOVED } from '../state/scope.js';
import { digitsOf } from './numbers.js';
import { isPythonAuthConfig } from './python_auth.js';
import {
  type Accepted,
  type Dictionary,
  type Leaf,
  type List,
  type Model,
  PYTHON_EVENT,
} from './python_models.js';
import { toMilliseconds, toSeconds } from './time.js';

/** The result of `select` for a value that Python refuses. JSON has no `undefined`. */
const REFUSED = undefined;

/**
 * The most levels of objects and lists that pydantic's parser reads, counting the event as the first. The
 * data in an event of ours may have more.
 */
const MAX_PYTHON_LEVELS = 200;

/** The part of an event that Python can read. */
export interface PythonSelection {
  readonly fields: Record<string, unknown>;
  /** Whether the fields say all that the event says. */
  readonly isWhole: boolean;
}

/**
 * Returns the part of an event that Python can read.
 *
 * @param event camelCase, with times in milliseconds; from `parseExactly`. Data in it is shared with the
 *   result.
 */
export function selectForPython(event: JsonObject): PythonSelection {
  const selector = new Selector();
  const fields = selector.select(event, PYTHON_EVENT, 1) as Record<string, unknown> | undefined;
  return { fields: fields ?? {}, isWhole: selector.isWhole };
}

/** Selects the parts of a value that Python accepts, and notes whether anything was left out or changed. */
class Selector {
  isWhole = true;

  /** @param level the level of `value`, if it is an object or a list */
  select(value: unknown, accepted: Accepted, level: number): unknown {
    if (typeof accepted === 'string') {
      return hasAtMostLevels(value, MAX_PYTHON_LEVELS - level + 1)
        ? this.#selectLeaf(value, accepted)
        : REFUSED;
    }
    if (isList(accepted)) {
      return Array.isArray(value) ? this.#selectItems(value, accepted.list, level) : REFUSED;
    }
    if (!isPlainObject(value)) return REFUSED;
    return isDictionary(accepted)
      ? this.#selectEntries(value, accepted.values, level)
      : this.#selectFields(value, accepted, level);
  }

  /**
   * Returns the accepted items. Also refuses a list if none of its items is accepted. `#selectFields` does
   * the same: a part of a kind that Python does not know must not become an empty part, which models refuse.
   */
  #selectItems(list: readonly unknown[], accepted: Accepted, level: number): unknown {
    const items = list
      .map((item) => this.select(item, accepted, level + 1))
      .filter((item) => item !== REFUSED);
    if (items.length < list.length) this.isWhole = false;
    return items.length === 0 && list.length > 0 ? REFUSED : items;
  }

  #selectFields(
    object: JsonObject,
    { members, required, requiredTogether }: Model,
    level: number,
  ): unknown {
    const result: Record<string, unknown> = {};
    let isEmpty = true;
    let hasOnlyNulls = true;
    for (const name of Object.keys(object)) {
      const value = object[name];
      const field = members.get(name);
      const member =
        field === undefined || value === null
          ? REFUSED
          : this.select(value, field.accepted, level + 1);
      if (value !== null) hasOnlyNulls = false;
      if (field === undefined || member === REFUSED) {
        this.isWhole = false;
        continue;
      }
      defineMember(result, field.snakeName, member);
      isEmpty = false;
    }
    if (isEmpty && !hasOnlyNulls) return REFUSED;
    if (required.some((name) => !Object.hasOwn(result, name))) return REFUSED;
    const presentCount = requiredTogether.filter((name) => Object.hasOwn(result, name)).length;
    return presentCount > 0 && presentCount < requiredTogether.length ? REFUSED : result;
  }

  #selectEntries(object: JsonObject, accepted: Accepted, level: number): unknown {
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(object)) {
      const item = this.select(object[key], accepted, level + 1);
      if (item === REFUSED) this.isWhole = false;
      else defineMember(result, key, item);
    }
    return result;
  }

  #selectLeaf(value: unknown, leaf: Leaf): unknown {
    if (leaf === 'time') return this.#secondsOf(value);
    if (leaf !== 'delta') return isAccepted(value, leaf) ? value : REFUSED;
    if (!isPlainObject(value)) return REFUSED;
    if (!Object.values(value).includes(REMOVED)) return value;
    this.isWhole = false;
    return withNulls(value);
  }

  #secondsOf(time: unknown): number | undefined {
    if (!isTime(time)) return REFUSED;
    const seconds = toSeconds(time);
    if (toMilliseconds(seconds) !== time) this.isWhole = false;
    return seconds;
  }
}

/** Whether `value` has at most `levels` levels of objects and lists. */
function hasAtMostLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const key in value) {
    if (!hasAtMostLevels((value as JsonObject)[key], levels - 1)) return false;
  }
  return true;
}

const isList = (accepted: object): accepted is List => Object.hasOwn(accepted, 'list');
const isDictionary = (accepted: object): accepted is Dictionary => {
  return Object.hasOwn(accepted, 'values');
};

function isAccepted(value: unknown, leaf: Exclude<Leaf, 'delta' | 'time'>): boolean {
  switch (leaf) {
    case 'text':
      return isText(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'integer':
      return isInteger(value);
    case 'count':
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case 'float':
      // Python's floats are the same doubles; it refuses an integer that a double cannot hold.
      return Number.isFinite(Number(digitsOf(value) ?? (typeof value === 'number' ? value : NaN)));
    case 'bytes':
      return isText(value) && isBase64(value);
    case 'null value':
      return value === 'NULL_VALUE';
    case 'data':
      return true;
    case 'record':
      return isPlainObject(value);
    case 'route':
      return Array.isArray(value) ? value.every(isRoute) : isRoute(value);
    case 'auth config':
      return isPythonAuthConfig(value);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && digitsOf(value) === undefined;
}

function isInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) || digitsOf(value) !== undefined;
}

function isRoute(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || isInteger(value);
}

/** Base64 in the standard alphabet or in the one for URLs, not in both. */
const BASE64 = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/;

/** The characters that may come last if there are two or three beyond a multiple of four. */
const LAST_DIGITS_OF_TWO = 'AQgw';
const LAST_DIGITS_OF_THREE = 'AEIMQUYcgkosw048';

/**
 * Whether Python reads the text as base64: padded, partly padded or not padded, and with no unused bit set.
 */
function isBase64(text: string): boolean {
  if (!BASE64.test(text)) return false;
  const digits = text.replace(/=+$/, '');
  const padding = text.length - digits.length;
  const last = digits.slice(-1);
  switch (digits.length % 4) {
    case 0:
      return padding === 0;
    case 2:
      return LAST_DIGITS_OF_TWO.includes(last);
    case 3:
      return padding <= 1 && LAST_DIGITS_OF_THREE.includes(last);
    default:
      return false;
  }
}

/** Replaces removals by `null`. Python has no removals: there the key is present and `null`. */
function withNulls(delta: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(delta).map(([key, value]) => [key, value === REMOVED ? null : value]),
  );
}
