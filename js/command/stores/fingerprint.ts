import { createHash } from 'node:crypto';
import { writeNames } from '../../python/casing.js';
import { EVENT } from '../../python/fields.js';
import { digitsOf, parseExactly } from '../../python/numbers.js';
import { millisecondsToTimeText } from '../../python/micros.js';
import type { TimeUnit } from '../../python/time.js';
import { SessionError } from '../../errors/errors.js';
import { isTemp } from '../../state/scope.js';
import type { Event } from '../../model/event/event.js';
import { storedSessionIn } from '../../files/format/session_file.js';
import { toSessionCopy, type SessionCopy } from './session_copy.js';

/** A digest that is equal for two stores with the same session. */
export interface Fingerprint {
  /** Number of events. */
  readonly events: number;
  /** SHA-256 in hexadecimal over the ids, the times, the state and the events in order. */
  readonly hash: string;
}

/**
 * Computes the fingerprint of a session.
 *
 * @param asFile compare only what is read from a session file: known fields that are `null` and `temp:` keys are
 *   left out, and numbers are rounded to JavaScript's; otherwise numbers are compared to the digit
 * @throws SessionError `corrupt_record` if a stored text is not JSON
 */
export function fingerprintOf(
  copy: Omit<SessionCopy, 'created' | 'shared'>,
  asFile: boolean,
): Fingerprint {
  const { appName, userId, sessionId } = copy.key;
  const parse = asFile ? (text: string): unknown => JSON.parse(text) : parseExactly;
  const parsed = (text: string, problem: string): unknown => {
    try {
      return parse(text);
    } catch (cause) {
      const record = `${problem} of session ${JSON.stringify(sessionId)}`;
      throw new SessionError('corrupt_record', `The ${record} is not JSON.`, { record, cause });
    }
  };
  const hash = createHash('sha256');
  const add = (value: unknown): void => void hash.update(`${canonicalText(value)}\n`);
  add([appName, userId, sessionId, millisecondsToTimeText(copy.lastUpdateTime)]);
  const { title = '', labels = '' } = copy;
  add([title, labels === '' ? {} : parsed(labels, 'the labels')]);
  add(parsed(copy.state, 'the state'));
  for (const { id, text } of copy.events) {
    const event = parsed(text, `event ${JSON.stringify(id)}`);
    add([id, asFile ? asInFile(event as Event) : event]);
  }
  return { events: copy.events.length, hash: hash.digest('hex') };
}

/**
 * Computes the fingerprint of a session file.
 *
 * @param timeUnit unit of the times in the file
 */
export function fingerprintOfFile(text: string, timeUnit: TimeUnit): Fingerprint {
  return fingerprintOf(toSessionCopy(storedSessionIn(text, { timeUnit })), true);
}

function asInFile({ actions, ...event }: Event): unknown {
  // A database may hold events with `temp:` keys, which other programs stored there.
  const entries = Object.entries(actions.stateDelta).filter(([key]) => !isTemp(key));
  const stateDelta = Object.fromEntries(entries);
  return writeNames({ ...event, actions: { ...actions, stateDelta } }, EVENT, 'camel');
}

export function isSameFingerprint(one: Fingerprint, other: Fingerprint): boolean {
  return one.events === other.events && one.hash === other.hash;
}

/**
 * Returns the same text for equal values: members are sorted by name, and numbers have one spelling.
 * PostgreSQL's JSONB preserves neither.
 *
 * @param value result of `parseExactly`
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
  // Without a prototype, so that `__proto__` is an ordinary member.
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    sorted[key] = canonical(member);
  }
  return sorted;
}

/**
 * Returns a number's text in an array, so that it differs from an equal string. Large powers of ten are
 * written out, as JSONB does.
 */
function numberText(text: string): [string] {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d+))?e\+(\d+)$/.exec(text) ?? [];
  return [exponent === '' ? text : sign + whole + fraction.padEnd(Number(exponent), '0')];
}
