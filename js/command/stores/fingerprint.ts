import { createHash } from 'node:crypto';
import { digitsOf, parseExactly } from '../../python/numbers.js';
import { timeTextOf } from '../../python/micros.js';
import type { TimeUnit } from '../../python/time.js';
import { SessionError } from '../../errors/errors.js';
import type { Event } from '../../model/event.js';
import { sessionFromFile, sessionToFile } from '../../files/format/session_file.js';
import { copyOfSession, type SessionCopy } from './session_copy.js';

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
  const parse = asFile ? (text: string): unknown => JSON.parse(text) : parseExactly;
  const read = (text: string, what: string): unknown => {
    try {
      return parse(text);
    } catch (cause) {
      const record = `${what} of session ${JSON.stringify(sessionId)}`;
      throw new SessionError('corrupt_record', `There is no JSON in ${record}.`, { record, cause });
    }
  };
  const hash = createHash('sha256');
  const add = (value: unknown): void => void hash.update(`${canonicalText(value)}\n`);
  add([appName, userId, sessionId, timeTextOf(copy.lastUpdateTime)]);
  add(read(copy.state, 'the state'));
  for (const { id, text } of copy.events) {
    const event = read(text, `event ${JSON.stringify(id)}`);
    add([id, asFile ? inFile(event as Event) : event]);
  }
  return { events: copy.events.length, hash: hash.digest('hex') };
}

/**
 * The same of a session that stands in a file.
 *
 * @param timeUnit of the times in it
 */
export function fingerprintOfFile(text: string, timeUnit: TimeUnit): Fingerprint {
  return fingerprintOf(copyOfSession(sessionFromFile(text, { timeUnit })), true);
}

function inFile(event: Event): unknown {
  const around = { id: '', appName: '', userId: '', state: {}, lastUpdateTime: 0 };
  return sessionToFile({ ...around, events: [event] }).events;
}

export function isSame(one: Fingerprint, other: Fingerprint): boolean {
  return one.events === other.events && one.hash === other.hash;
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
