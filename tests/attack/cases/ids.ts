// Ids of apps, users and sessions, and pairs of ids that look similar.

import type { Random } from './random.js';

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

/** An allowed id, however odd. */
function name(random: Random, { refusesNul = false, longest = Infinity }: NameLimits): string {
  let text = random.pick(PIECES);
  while (random.once(2)) text += random.pick(PIECES);
  if (!refusesNul && random.once(8)) text += '\0';
  if (random.once(20)) text = text.padEnd(512, 'x');
  text = fitting(text, Math.min(512, longest) - 1);
  // A blank id would count as absent.
  return text.trim() === '' ? `${text}x` : text;
}

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

/** A key for one case. No other case uses its app. */
export function caseKey(random: Random, unique: string, limits: NameLimits): Key {
  const shortened = { ...limits, longest: Math.min(limits.longest ?? 512, 512) - 24 };
  const sessionId = limits.vertexIds ? `s${unique}` : name(random, limits);
  return {
    appName: limits.app ?? unique + name(random, shortened),
    userId: limits.app === undefined ? name(random, limits) : unique + name(random, shortened),
    sessionId,
  };
}

/** A similar key that a faulty storage would confuse with this one. */
export function similarKey(random: Random, key: Key, limits: NameLimits): Key {
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

/** A value that is not a valid id. */
export function invalidId(random: Random): unknown {
  return random.pick<unknown>([
    '', '\ud800', 'a\udc00b', 'x'.repeat(513), '😀'.repeat(129), null, undefined, 7, NaN, 1n, true, {}, [], ['a'],
    Symbol('id'), new String('a'), () => 'a', { toString: () => 'a' }, new Date(0),
    { toString() { throw new Error('toString'); } },
    new Proxy({}, { get() { throw new Error('get'); } }),
  ]); // prettier-ignore
}
