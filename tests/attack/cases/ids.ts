// Ids of apps, users and sessions, and pairs of ids that look similar.

import fc from 'fast-check';
import { sometimes } from './planned.js';

/** The three ids of a session. */
export interface Key {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

const PIECES = [
  '/', ':', '%', '%2F', '\\', '..', '.', "'", '"', '`', ';--', '\u001d', '\u001f', '\u0001', '\uffff', '😀', '👩‍👩‍👧',
  'é', 'e\u0301', 'İ', 'ß', 'A', 'a', ' ', '\t', '\n', '__proto__', 'constructor', 'toString', 'user:', 'app:', 'temp:',
  '{', '}', '$1', '$&', '*', '?', '#', '[object Object]', 'null', 'undefined', '0', '-1', 'true', '🏳️‍🌈', '\u202e', '\ufeff',
]; // prettier-ignore

/** The limits of a storage for ids. */
export interface NameLimits {
  /** Whether U+0000 is refused. */
  readonly refusesNul?: boolean;
  /** The maximum of UTF-16 code units; by default, only the limit of bytes applies. */
  readonly longest?: number;
  /** Whether session ids must follow the rules of Vertex AI. */
  readonly vertexIds?: boolean;
  /** The only app of a storage that has no others. */
  readonly app?: string;
}

/** Allowed ids, however odd. */
function name({ refusesNul = false, longest = Infinity }: NameLimits): fc.Arbitrary<string> {
  const nul = refusesNul ? fc.constant(undefined) : sometimes(8, fc.constant('\0'));
  const pieces = fc.string({ unit: fc.constantFrom(...PIECES), minLength: 1, maxLength: 4 });
  return fc.tuple(pieces, nul, sometimes(20, fc.constant(512))).map(([text, end = '', length = 0]) => {
    const fit = fitting((text + end).padEnd(length, 'x'), Math.min(512, longest) - 1);
    // A blank id would count as absent.
    return fit.trim() === '' ? `${fit}x` : fit;
  });
} // prettier-ignore

const encoder = new TextEncoder();
const buffer = new Uint8Array(512);

/** The longest beginning that fits into the given bytes, at most 512, without half a character at its end. */
function fitting(text: string, bytes: number): string {
  return text.slice(0, encoder.encodeInto(text, buffer.subarray(0, bytes)).read);
}

function fits(text: string, bytes: number): boolean {
  // A code unit has at most three bytes.
  return text.length * 3 <= bytes || fitting(text, bytes) === text;
}

/** The names of an attacked session, and which similar names another session has. */
export interface Names extends Key {
  readonly similar: number;
}

export function names(limits: NameLimits): fc.Arbitrary<Names> {
  const shortened = { ...limits, longest: Math.min(limits.longest ?? 512, 512) - 24 };
  return fc.record({
    appName: name(shortened),
    userId: name(shortened),
    sessionId: name(limits),
    similar: fc.nat({ max: 15 }),
  });
}

/** Returns a key whose app, or user, nothing else uses. */
export function uniqueKey({ appName, userId, sessionId }: Key, unique: string, limits: NameLimits): Key {
  return {
    appName: limits.app ?? unique + appName,
    userId: limits.app === undefined ? userId : unique + userId,
    sessionId: limits.vertexIds ? `s${unique}` : sessionId,
  };
} // prettier-ignore

/** A similar key that a faulty storage would confuse with this one. */
export function similarKey(key: Key, similar: number, limits: NameLimits): Key {
  const { appName, userId, sessionId } = key;
  const others: Key[] = [
    { ...key, sessionId: `${sessionId} ` },
    { ...key, sessionId: sessionId.toUpperCase() },
    { ...key, sessionId: sessionId.toLowerCase() },
    { ...key, sessionId: sessionId.normalize('NFD') },
    { ...key, sessionId: `${sessionId}/` },
    { ...key, sessionId: encodeURIComponent(sessionId) },
    { ...key, sessionId: `${userId}:${sessionId}` },
    { ...key, userId: `${userId}:${sessionId}`, sessionId: userId },
    { ...key, userId: userId.toUpperCase() },
    { ...key, userId: `${userId}%` },
    { ...key, userId: userId.slice(0, -1) },
    { ...key, userId: sessionId, sessionId: userId },
    { appName: appName + userId, userId: sessionId, sessionId: userId },
    { ...key, appName: `${appName}/${userId}`, userId: sessionId },
    { ...key, userId: `${userId}\u001d`, sessionId: `\u001d${sessionId}` },
    { ...key, userId: `${userId}\u0001` },
  ];
  const allowed = others.filter((other) => isAllowed(other, limits) && !isSame(other, key));
  const plain = { ...key, userId: 'bystander' };
  return allowed[similar % allowed.length] ?? plain;
}

function isSame(one: Key, other: Key): boolean {
  return (
    one.appName === other.appName &&
    one.userId === other.userId &&
    one.sessionId === other.sessionId
  );
}

function isAllowed({ appName, userId, sessionId }: Key, limits: NameLimits): boolean {
  const { longest = 512, vertexIds = false, app } = limits;
  const isValid = [appName, userId, sessionId].every(
    (name) =>
      name !== '' &&
      name.trim() !== '' &&
      fits(name, Math.min(512, longest)) &&
      !/\p{Surrogate}/u.test(name),
  );
  // At Vertex AI, the session id alone distinguishes sessions.
  if (vertexIds) return false;
  return isValid && (app === undefined || appName === app);
}

/** Values that are not valid ids. */
export const INVALID_IDS: readonly unknown[] = [
  '', '\ud800', 'a\udc00b', 'x'.repeat(513), '😀'.repeat(129), null, undefined, 7, NaN, 1n, true, {}, [], ['a'],
  Symbol('id'), new String('a'), () => 'a', { toString: () => 'a' }, new Date(0),
  { toString() { throw new Error('toString'); } },
  new Proxy({}, { get() { throw new Error('get'); } }),
]; // prettier-ignore
