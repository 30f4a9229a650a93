/**
 * Selects the part of an event that Python can read, in Python's form: snake_case, without `null`s, and
 * without values that Python's models refuse.
 */
import { defineMember } from '../members/member.js';
import { isPlainObject, type JsonObject } from '../json/rules.js';
import { REMOVED } from '../state/scope.js';
import { digitsOf } from './numbers.js';
import { isPythonAuthConfig } from './python_auth.js';
import { type Accepted, type Leaf, type Model, PYTHON_EVENT } from './python_models.js';

/** The result of `select` for a value that Python refuses. JSON has no `undefined`. */
const REFUSED = undefined;

/**
 * The most levels of objects and lists that pydantic's parser reads, counting the event as the first. The
 * data in an event of ours may have more.
 */
const MAX_PYTHON_LEVELS = 200;

/**
 * Returns the part of an event that Python can read.
 *
 * @param event camelCase, but with times in seconds; from `parseExactly`. Data in it is shared with the
 *   result.
 *
 * @example
 * ```ts
 * selectForPython({ id: 'e', author: 'user', myField: 1, branch: null }); // { id: 'e', author: 'user' }
 * ```
 */
export function selectForPython(event: JsonObject): Record<string, unknown> {
  return selectFields(event, PYTHON_EVENT, 1) ?? {};
}

/** @param level the level of `value`, if it is an object or a list */
function select(value: unknown, accepted: Accepted, level: number): unknown {
  if (typeof accepted === 'string') {
    return hasAtMostLevels(value, MAX_PYTHON_LEVELS - level + 1)
      ? selectLeaf(value, accepted)
      : REFUSED;
  }
  if ('list' in accepted) {
    return Array.isArray(value) ? selectItems(value, accepted.list, level) : REFUSED;
  }
  if (!isPlainObject(value)) return REFUSED;
  return 'values' in accepted
    ? selectEntries(value, accepted.values, level)
    : selectFields(value, accepted, level);
}

/**
 * Returns the accepted items. Also refuses a list if none of its items is accepted. `selectFields` does
 * the same: a part of a kind that Python does not know must not become an empty part, which models refuse.
 */
function selectItems(
  list: readonly unknown[],
  accepted: Accepted,
  level: number,
): unknown[] | undefined {
  const items = list
    .map((item) => select(item, accepted, level + 1))
    .filter((item) => item !== REFUSED);
  return items.length === 0 && list.length > 0 ? REFUSED : items;
}

function selectFields(
  object: JsonObject,
  { members, required, requiredTogether }: Model,
  level: number,
): Record<string, unknown> | undefined {
  const result: Record<string, unknown> = {};
  let isEmpty = true;
  let hasOnlyNulls = true;
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === null) continue;
    hasOnlyNulls = false;
    const field = members.get(name);
    const member = field === undefined ? REFUSED : select(value, field.accepted, level + 1);
    if (field === undefined || member === REFUSED) continue;
    defineMember(result, field.snakeName, member);
    isEmpty = false;
  }
  if (isEmpty && !hasOnlyNulls) return REFUSED;
  if (required.some((name) => !Object.hasOwn(result, name))) return REFUSED;
  const presentCount = requiredTogether.filter((name) => Object.hasOwn(result, name)).length;
  return presentCount > 0 && presentCount < requiredTogether.length ? REFUSED : result;
}

function selectEntries(
  object: JsonObject,
  accepted: Accepted,
  level: number,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const item = select(object[key], accepted, level + 1);
    if (item !== REFUSED) defineMember(result, key, item);
  }
  return result;
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

function selectLeaf(value: unknown, leaf: Leaf): unknown {
  if (leaf === 'delta') return isPlainObject(value) ? nullRemovedKeys(value) : REFUSED;
  return isAccepted(value, leaf) ? value : REFUSED;
}

function isAccepted(value: unknown, leaf: Exclude<Leaf, 'delta'>): boolean {
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
export function isBase64(text: string): boolean {
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
function nullRemovedKeys(delta: JsonObject): JsonObject {
  if (!Object.values(delta).includes(REMOVED)) return delta;
  return Object.fromEntries(
    Object.entries(delta).map(([key, value]) => [key, value === REMOVED ? null : value]),
  );
}
