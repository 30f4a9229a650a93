import { createHash } from 'node:crypto';
import { digitsOf, parseExactly } from '../database/numbers.js';
import { timeTextOf } from '../database/times.js';
import { isSessionError, SessionError } from '../errors.js';
import { sessionToFile } from '../files/session_file.js';
import type { SessionCopy } from './session_copy.js';
import { sessionOfCopy } from './session_copy.js';

/** What two stores that hold the same session agree on. */
export interface Fingerprint {
  /** How many events. */
  readonly events: number;
  /** SHA-256, hexadecimal, over ids, times, the state and the events in their order. */
  readonly hash: string;
}

/**
 * @param asFile by what a session file can hold: known fields that are `null` are left out there, and
 *   numbers are JavaScript's. Else to the digit.
 * @throws SessionError `corrupt_record`, if what is stored is no JSON
 */
export function fingerprintOf(copy: SessionCopy, asFile: boolean): Fingerprint {
  const { appName, userId, sessionId } = copy.key;
  const hash = createHash('sha256');
  const add = (value: unknown): void => void hash.update(`${canonicalText(value)}\n`);
  add([appName, userId, sessionId, timeTextOf(copy.lastUpdateTime)]);
  add(parsed(copy.state, 'the state', copy));
  if (asFile) {
    for (const { id, text } of copy.events) parsed(text, `event ${JSON.stringify(id)}`, copy);
    const { events } = sessionToFile({ ...sessionOfCopy(copy), state: {} });
    add(events);
  } else {
    for (const { id, text } of copy.events) {
      add([id, parsed(text, `event ${JSON.stringify(id)}`, copy)]);
    }
  }
  return { events: copy.events.length, hash: hash.digest('hex') };
}

export function isSame(one: Fingerprint, other: Fingerprint): boolean {
  return one.events === other.events && one.hash === other.hash;
}

function parsed(text: string, what: string, { key }: SessionCopy): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    if (isSessionError(cause)) throw cause;
    const record = `${what} of session ${JSON.stringify(key.sessionId)}`;
    throw new SessionError('corrupt_record', `There is no JSON in ${record}.`, { record, cause });
  }
}

/**
 * One text for equal values: members in order of their names, numbers in one spelling. PostgreSQL's JSONB
 * keeps neither.
 *
 * @param value from `parseExactly`
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(canonical(value));
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value === 'number') return numberText(String(value));
  if (typeof value === 'string') {
    const digits = digitsOf(value);
    return digits === undefined ? value : numberText(digits);
  }
  if (typeof value !== 'object' || value === null) return value;
  // Without a prototype, so that a member called `__proto__` is one.
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    sorted[key] = canonical(member);
  }
  return sorted;
}

/** In an array, so that no text is equal to it; large powers of ten written out, as JSONB does. */
function numberText(text: string): [string] {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d+))?e\+(\d+)$/.exec(text) ?? [];
  return [exponent === '' ? text : sign + whole + fraction.padEnd(Number(exponent), '0')];
}
