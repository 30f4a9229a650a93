/** Rows and writes for tests of a storage's verbs. Counterpart of `verb_rows.rs`. */
import type { Decide, StorageWrite, StorageWriteRequest } from '../core/storage/requests.js';
import type { Storage } from '../core/storage/storage.js';
import type {
  Changes,
  EventRow,
  Found,
  Rows,
  SessionRow,
  SharedRow,
  StorageKey,
} from '../core/storage/rows.js';
import { SHARED_SCOPES } from '../values/state/scope.js';
import { requireArray, requireObject } from '../core/storage/checked_rows.js';
import { NEVER } from '../core/wasm/protocol.js';

export const USER = { appName: 'app', userId: 'user' };
export const KEY = { ...USER, sessionId: 'session' };
/** A time that a storage loses if it stores whole milliseconds or a 32-bit number. */
export const TIME = 1_700_000_000_000.25;
/** Numbers and a key that a storage loses if it parses the text. */
export const STATE = '{"z":1.50,"__proto__":12345678901234567890,"a":{"b":1e400}}';

/** Changes of no shared state. */
export const NO_STATES = { user: undefined, app: undefined } as const;

export const refuse: Decide = () => undefined;
export const changing =
  (rows: Partial<Changes>): Decide =>
  () => ({ ...NO_STATES, events: [], ...rows });

export function eventRow(id: string, seq: number, revision = seq): EventRow {
  return { id, seq, revision, timestamp: TIME, text: `{ "n":1.50, "id":${JSON.stringify(id)} }` };
}

export function sessionRow(revision: number, key = KEY): SessionRow {
  return { ...key, created: 1, revision, lastUpdateTime: TIME, state: STATE };
}

/** Changes of everything, with one event for each id. Their revisions count from 1. */
export function filled(revision: number, ...ids: string[]): Changes {
  const row: SharedRow = { revision, state: STATE };
  const events = ids.map((id, number) => eventRow(id, number + 1));
  return { session: sessionRow(revision), user: row, app: row, events };
}

/** Returns a decision that adds an event and raises the revision. It refuses if there is no session. */
export function appendOf(id: string): Decide {
  return ({ session }) => {
    if (session === undefined) return undefined;
    const revision = session.revision + 1;
    return {
      ...NO_STATES,
      session: { ...session, revision },
      events: [eventRow(id, revision)],
    };
  };
}

/** A write that keeps the rows of its last decision. */
export class RecordedWrite implements StorageWrite {
  readonly request: StorageWriteRequest;
  found: Found | undefined;
  readonly #decide: Decide;

  constructor(decide: Decide, request: Partial<StorageWriteRequest> = {}) {
    const scopes = ['session', ...SHARED_SCOPES] as const;
    this.request = { key: KEY, scopes, eventIds: [], since: NEVER, ...request };
    this.#decide = decide;
  }

  readonly decide = (found: Found): Changes | undefined => {
    this.found = found;
    return this.#decide(found);
  };

  async run(storage: Storage, verb: 'create' | 'append' = 'append'): Promise<Found> {
    await storage[verb](this.request, this.decide);
    const { found } = this;
    if (found === undefined) throw new Error(`${verb} did not call decide`);
    requireObject(verb, 'rows', found);
    for (const list of ['events', 'changed'] as const) requireArray(verb, list, found[list]);
    return found;
  }
}

export async function create(storage: Storage, changes: Changes): Promise<Found> {
  return new RecordedWrite(() => changes).run(storage, 'create');
}

/** Creates a session without events. */
export async function createSession(
  storage: Storage,
  key: typeof KEY,
  row: Partial<SessionRow> = {},
): Promise<void> {
  const session = { ...sessionRow(2, key), ...row };
  await new RecordedWrite(changing({ session }), { key }).run(storage, 'create');
}

/** Returns the rows that `decide` gets, and writes nothing. */
export async function findRows(
  storage: Storage,
  request: Partial<StorageWriteRequest> = {},
  verb: 'create' | 'append' = 'append',
): Promise<Found> {
  return new RecordedWrite(refuse, request).run(storage, verb);
}

export async function read(storage: Storage, key: StorageKey = KEY): Promise<Rows> {
  const rows = await storage.read({ key, window: {} });
  requireObject('read', 'rows', rows);
  requireArray('read', 'events', rows.events);
  return rows;
}

export const head = (row?: SessionRow | null) =>
  row && [row.created, row.revision, row.lastUpdateTime];
export const revisions = (rows: readonly EventRow[]) =>
  [...rows].sort((a, b) => a.seq - b.seq).map(({ id, seq, revision }) => [id, seq, revision]);

/** Returns the numbers from 0 up. */
export const range = (length: number): number[] => Array.from({ length }, (_, number) => number);
