/** What the tables cannot hold, or would not hold for long, is refused before anything is written. */
import { SessionError } from '../../errors/errors.js';
import { formatPath, type PathSegment } from '../../json/path.js';
import { invalid } from '../../call/call.js';
import type { Changes, Found, StorageKey, WriteRequest } from '../../storage/adapter.js';
import type { EngineKind } from '../engines/engine.js';

const MAX_ID = 128;
const MAX_INVOCATION_ID = 256;

/** Whether a row with that key can exist. */
export function fitsKey(kind: EngineKind, key: StorageKey): boolean {
  if (kind === 'sqlite') return true;
  const ids = [key.appName, key.userId ?? '', key.sessionId ?? ''];
  return ids.every((id) => fits(id, MAX_ID));
}

/** Characters as the engines count them: an astral one is one. */
function fits(id: string, most: number): boolean {
  return !id.includes('\0') && (id.length <= most || [...id].length <= most);
}

/** @throws SessionError `invalid_argument` for an id that is too long, or has a NUL in it */
export function checkIds(kind: EngineKind, { key, eventIds }: WriteRequest): void {
  if (kind === 'sqlite') return;
  for (const [name, id] of Object.entries(key) as [string, string][])
    requireFitting(kind, name, id, MAX_ID);
  for (const id of eventIds) requireFitting(kind, 'event.id', id, MAX_ID);
}

/**
 * @throws SessionError `invalid_argument` for an invocationId that is too long, or has a NUL in it;
 *   `unserializable` for text with one, which JSONB cannot hold
 */
export function checkEvent(kind: EngineKind, invocationId: string, text: string): void {
  if (kind === 'sqlite') return;
  requireFitting(kind, 'event.invocationId', invocationId, MAX_INVOCATION_ID);
  if (kind === 'postgresql') requireNoNul(text);
}

/** @throws SessionError `unserializable` for a state with U+0000 in it, which JSONB cannot hold */
export function checkStates(kind: EngineKind, changes: Changes): void {
  if (kind !== 'postgresql') return;
  for (const [scope, prefix] of SCOPES) {
    const { state } = changes[scope] ?? {};
    if (state !== undefined) requireNoNul(state, prefix);
  }
}

/** With the prefix that a key of that scope has. */
const SCOPES = [
  ['session', ''],
  ['user', 'user:'],
  ['app', 'app:'],
] as const;

/**
 * Where Python changes states by SQLite's JSON functions, its next write to a state ends each of the
 * state's keys, and each value that is a string, at U+0000. Within lists and objects they stay whole.
 * What Python has stored itself may stay.
 *
 * @throws SessionError `unserializable` with the path to what would be cut off
 */
export function checkMergeable(found: Found, changes: Changes): void {
  for (const [scope, prefix] of SCOPES) {
    const state = changes[scope]?.state;
    if (state?.includes('\\u0000') !== true) continue;
    const stored = new Map(Object.entries(JSON.parse(found[scope]?.state ?? '{}') as object));
    for (const [key, value] of Object.entries(JSON.parse(state) as object)) {
      const isCut = key.includes('\0') || (typeof value === 'string' && value.includes('\0'));
      const isStored = stored.has(key) && JSON.stringify(stored.get(key)) === JSON.stringify(value);
      if (isCut && !isStored) throw holdsNul([prefix + key], CUTS_OFF);
    }
  }
}

const CUTS_OFF = "at which google-adk's SqliteSessionService would cut it off";

function requireFitting(kind: EngineKind, name: string, id: string, most: number): void {
  if (fits(id, most)) return;
  throw invalid(name, `must be of at most ${most} characters and without NUL for ${kind}`);
}

/** @param prefix of the state's keys */
function requireNoNul(text: string, prefix = ''): void {
  if (!text.includes('\\u0000')) return;
  const path = pathToNul(JSON.parse(text));
  if (path === undefined) return;
  const [first = '', ...rest] = path;
  const whole = prefix === '' ? path : [`${prefix}${first}`, ...rest];
  throw holdsNul(whole, "which PostgreSQL's JSONB cannot hold");
}

function holdsNul(path: readonly PathSegment[], why: string): SessionError {
  const place = formatPath(path);
  const message = `${place} holds U+0000, ${why}; take it out.`;
  return new SessionError('unserializable', message, { path: place });
}

/** The path to the first string that holds U+0000, or to the member whose key does. */
function pathToNul(value: unknown): PathSegment[] | undefined {
  if (typeof value === 'string') return value.includes('\0') ? [] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, member] of members as [PathSegment, unknown][]) {
    if (typeof key === 'string' && key.includes('\0')) return [key];
    const path = pathToNul(member);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}
