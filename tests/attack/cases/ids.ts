// Names of apps, users and sessions, and names that look like another's.

import type { Random } from './random.js';

/** A session's name in three parts. */
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

/** What a storage cannot have in a name. */
export interface NameLimits {
  /** Whether U+0000 is refused. */
  readonly refusesNul?: boolean;
  /** UTF-16 code units; default: only the limit of bytes counts. */
  readonly longest?: number;
  /** Whether a session's name must be as Vertex AI wants it. */
  readonly vertexIds?: boolean;
  /** The only app, where the storage knows no others. */
  readonly app?: string;
}

/** A name that is allowed, however odd it is. */
function name(random: Random, { refusesNul = false, longest = Infinity }: NameLimits): string {
  let text = random.pick(PIECES);
  while (random.once(2)) text += random.pick(PIECES);
  if (!refusesNul && random.once(8)) text += '\0';
  if (random.once(20)) text = text.padEnd(512, 'x');
  text = fitting(text, Math.min(512, longest) - 1);
  // A blank one asks for a fresh id.
  return text.trim() === '' ? `${text}x` : text;
}

const encoder = new TextEncoder();
const buffer = new Uint8Array(512);

/** The beginning that fits into so many bytes, at most 512, without half a character at its end. */
function fitting(text: string, bytes: number): string {
  return text.slice(0, encoder.encodeInto(text, buffer.subarray(0, bytes)).read);
}

function fits(text: string, bytes: number): boolean {
  // A code unit has at most three bytes.
  return text.length * 3 <= bytes || fitting(text, bytes) === text;
}

/** A key for one case; its app belongs to no other case. */
export function caseKey(random: Random, unique: string, limits: NameLimits): Key {
  const room = { ...limits, longest: Math.min(limits.longest ?? 512, 512) - 24 };
  const sessionId = limits.vertexIds ? `s${unique}` : name(random, limits);
  return {
    appName: limits.app ?? unique + name(random, room),
    userId: limits.app === undefined ? name(random, limits) : unique + name(random, room),
    sessionId,
  };
}

/** Another key that a sloppy storage takes for the same. */
export function lookAlike(random: Random, key: Key, limits: NameLimits): Key {
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
  return allowed.length === 0 ? plain : random.pick(allowed);
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
  const isFine = [appName, userId, sessionId].every(
    (name) =>
      name !== '' &&
      name.trim() !== '' &&
      fits(name, Math.min(512, longest)) &&
      !/\p{Surrogate}/u.test(name),
  );
  // At Vertex AI the session's name alone tells sessions apart.
  if (vertexIds) return false;
  return isFine && (app === undefined || appName === app);
}

/** What names nothing. */
export function noName(random: Random): unknown {
  return random.pick<unknown>([
    '', '\ud800', 'a\udc00b', 'x'.repeat(513), '😀'.repeat(129), null, undefined, 7, NaN, 1n, true, {}, [], ['a'],
    Symbol('id'), new String('a'), () => 'a', { toString: () => 'a' }, new Date(0),
    { toString() { throw new Error('toString'); } },
    new Proxy({}, { get() { throw new Error('get'); } }),
  ]); // prettier-ignore
}
