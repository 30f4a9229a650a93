/** Words for values, in the messages of errors. */

/** The most characters of a text that a message shows. */
const MAX_SHOWN = 40;

/**
 * Returns a value for messages: a text as JSON and shortened, a number or a boolean as it is, and the kind of any
 * other value. Never throws. Not for secrets, and not for values of states.
 */
export function describeValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return kindOf(value);
  const { length } = value;
  if (length <= MAX_SHOWN) return JSON.stringify(value);
  return `${JSON.stringify(`${value.slice(0, MAX_SHOWN)}…`)} of ${length} characters`;
}

/** Returns the kind of a value for messages, such as `an array`. Never throws. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'bigint') return 'a BigInt';
  if (typeof value !== 'object') return `a ${typeof value}`;
  try {
    if (Array.isArray(value)) return 'an array';
    const constructorValue: unknown = (value as { constructor?: unknown }).constructor;
    const name = typeof constructorValue === 'function' ? constructorValue.name : '';
    // Class names are short; other values may be long.
    return /^[\p{ID_Continue}$]{1,64}$/u.test(name) ? `an instance of ${name}` : 'a class instance';
  } catch {
    return 'an object that cannot be read';
  }
}

/** Returns the message of what was thrown, without a full stop at its end: for a sentence that has its own. */
export function reasonOf(thrown: unknown): string {
  return messageOf(thrown).replace(/\.\s*$/, '');
}

/** Returns the message of a thrown Error, a thrown string, or the kind of another value. Never throws. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    if (thrown instanceof Error) return String(thrown.message);
  } catch {
    // A revoked proxy, or a getter that throws.
  }
  return kindOf(thrown);
}
