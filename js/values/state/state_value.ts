/** Values of a state as JSON: checked at a write, compared, and copied. */
import { checkState } from '../json/check.js';
import { unserializable } from '../json/rules.js';
import { isWellFormed } from '../json/text.js';
import { tooLargeProblem, writeJson } from '../json/write.js';
import { isTemp } from './scope.js';

/**
 * Refuses a value that JSON cannot represent. Checked at the write, so that the stack shows the
 * line that writes it.
 *
 * @throws SessionError `unserializable`
 */
export function requireJson(key: string, value: unknown): void {
  if (!isTemp(key) && !isPlainEntry(key, value)) writeJson(value, { rules: 'state', path: [key] });
}

/**
 * Returns whether a key that is not `temp:` has a value that native `JSON.stringify` prints by the state rules,
 * or is removed. Else the writer prints the value, or tells what is wrong with it.
 *
 * @throws SessionError `unserializable` for the key, or for a value with too many members to print
 */
export function isPlainEntry(key: string, value: unknown): boolean {
  if (!isWellFormed(key)) throw unserializable([key], 'is a key with half of a surrogate pair');
  const verdict = value === undefined ? 'plain' : checkState(value);
  if (verdict === 'too large') throw unserializable([key], tooLargeProblem);
  return verdict === 'plain';
}

/**
 * Returns the JSON text of an object by the state rules.
 *
 * @param path of the object, for errors
 * @throws SessionError `unserializable`
 */
export function stateText(object: object, path: readonly string[] = []): string | undefined {
  if (checkState(object) === 'plain') return JSON.stringify(object);
  return writeJson(object, { rules: 'state', path });
}

/** Returns the JSON text for comparing a value; `undefined` if JSON cannot represent it. */
export function jsonText(value: object): string | undefined {
  try {
    return stateText(value);
  } catch {
    return undefined;
  }
}

/**
 * Returns a copy of a JSON value. Returns anything else unchanged: it was written just now and not
 * refused yet.
 */
export function copyPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || checkState(value) !== 'plain') return value;
  return JSON.parse(JSON.stringify(value));
}
