/**
 * Refuses, before anything is written, data that the tables cannot hold or that Python would cut off later.
 */
import { invalidValue } from '../../../values/errors/invalid.js';
import { SessionError } from '../../../values/errors/errors.js';
import { isEqualJson } from '../../../values/json/equal.js';
import { formatPath, type PathSegment } from '../../../values/json/rules.js';
import { STORED_PREFIXES } from '../../../values/state/scope.js';
import type { StorageWriteRequest } from '../../../core/storage/requests.js';
import type { Changes, Found, StorageKey } from '../../../core/storage/rows.js';
import type { Engine } from '../engine/engine.js';

const MAX_ID = 128;
const MAX_INVOCATION_ID = 256;

/** Whether a row with this key can exist. */
export function fitsKey({ tables: { limitsIds } }: Engine, key: StorageKey): boolean {
  if (!limitsIds) return true;
  const ids = [key.appName, key.userId ?? '', key.sessionId ?? ''];
  return ids.every((id) => fits(id, MAX_ID));
}

/** Counts characters as the engines do: an astral character counts as one. */
function fits(id: string, most: number): boolean {
  return !id.includes('\0') && (id.length <= most || [...id].length <= most);
}

/** @throws SessionError `invalid_argument` if an id is too long or contains NUL */
export function checkIds(
  engine: Engine,
  { key, eventIds }: Pick<StorageWriteRequest, 'key' | 'eventIds'>,
): void {
  if (!engine.tables.limitsIds) return;
  for (const [name, id] of Object.entries(key) as [string, string][])
    requireFitting(engine, name, id, MAX_ID);
  for (const id of eventIds) requireFitting(engine, 'event.id', id, MAX_ID);
}

/**
 * @throws SessionError `invalid_argument` if the invocationId is too long or contains NUL; `unserializable`
 *   if the text contains U+0000 and the engine cannot hold it
 */
export function checkEvent(engine: Engine, invocationId: string, text: string): void {
  if (engine.tables.limitsIds)
    requireFitting(engine, 'event.invocationId', invocationId, MAX_INVOCATION_ID);
  if (engine.queries.refusesNul) requireNoNul(engine, text);
}

/** @throws SessionError `unserializable` if a state contains U+0000 and the engine cannot hold it */
export function checkStates(engine: Engine, changes: Changes): void {
  if (!engine.queries.refusesNul) return;
  for (const [scope, prefix] of STORED_PREFIXES) {
    const { state } = changes[scope] ?? {};
    if (state !== undefined) requireNoNul(engine, state, prefix);
  }
}

/** The most bytes that a column of a row needs beside its text. */
const COLUMN_BYTES = 9;

/**
 * @param what names the row, as the begin of a sentence
 * @throws SessionError `quota_exceeded` if a row of these values is larger than the database takes
 */
export function checkRow({ kind, name, queries }: Engine, what: string, values: object): void {
  const { maxRowBytes } = queries;
  if (maxRowBytes === undefined) return;
  const texts = Object.values(values).map((value) => String(value ?? ''));
  const length = texts.reduce((sum, text) => sum + text.length + COLUMN_BYTES, 0);
  // A character has at most three bytes for each of its code units.
  if (length * 3 <= maxRowBytes) return;
  const encoder = new TextEncoder();
  const bytes = texts.reduce((sum, text) => sum + encoder.encode(text).length + COLUMN_BYTES, 0);
  if (bytes <= maxRowBytes) return;
  const message = `${what} needs a row of ${bytes} bytes, and one of this ${name} database holds ${maxRowBytes}. Nothing was written; store less, or keep large data elsewhere.`;
  throw new SessionError('quota_exceeded', message, { storage: kind });
}

/**
 * Refuses keys and values that Python's next write would cut off. SQLite's JSON functions, by which Python
 * changes states, end each key and each string value at U+0000. Strings within lists and objects stay whole.
 * Values that are stored already are accepted.
 *
 * @throws SessionError `unserializable` with the path to the value that would be cut off
 */
export function checkMergeable(found: Found, changes: Changes): void {
  for (const [scope, prefix] of STORED_PREFIXES) {
    const state = changes[scope]?.state;
    if (state?.includes('\\u0000') !== true) continue;
    const stored = new Map(Object.entries(JSON.parse(found[scope]?.state ?? '{}') as object));
    for (const [key, value] of Object.entries(JSON.parse(state) as object)) {
      const isCut = key.includes('\0') || (typeof value === 'string' && value.includes('\0'));
      const isStored = stored.has(key) && isEqualJson(stored.get(key), value);
      if (isCut && !isStored) throw holdsNul([prefix + key], CUTS_OFF);
    }
  }
}

const CUTS_OFF = "at which google-adk's SqliteSessionService would cut it off";

function requireFitting({ name: engine }: Engine, name: string, id: string, most: number): void {
  if (fits(id, most)) return;
  throw invalidValue(
    name,
    `must be of at most ${most} characters and without NUL for ${engine}`,
    id,
  );
}

/** @param prefix the prefix of the state's keys */
function requireNoNul({ name }: Engine, text: string, prefix = ''): void {
  if (!text.includes('\\u0000')) return;
  const path = pathToNul(JSON.parse(text));
  if (path === undefined) return;
  const [first = '', ...rest] = path;
  const whole = prefix === '' ? path : [`${prefix}${first}`, ...rest];
  throw holdsNul(whole, `which ${name} cannot hold in JSON`);
}

function holdsNul(path: readonly PathSegment[], why: string): SessionError {
  const text = formatPath(path);
  const message = `${text} holds U+0000, ${why}; take it out.`;
  return new SessionError('unserializable', message, { path: text });
}

/** Returns the path to the first string that contains U+0000, or to the member whose key does. */
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
