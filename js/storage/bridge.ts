/**
 * Between the wasm and a storage adapter: rows are arrays on the wasm's side, objects on the
 * adapter's. It checks what the adapter answers, so that nonsense is named where it was made, and
 * gives whatever the adapter throws a code.
 */
import { toSessionError } from '../core.js';
import { isSessionError, SessionError } from '../errors.js';
import { kindOf } from '../json/rules.js';
import { MAX_TIMESTAMP } from '../snapshot.js';
import type {
  Changes,
  DeleteRequest,
  EventRow,
  Found,
  ScopeRow,
  SessionRow,
  StorageAdapter,
  StorageKey,
  WriteRequest,
} from './adapter.js';

type SessionTuple = [created: number, revision: number, lastUpdateTime: number, state: string];
type ScopeTuple = [revision: number, state: string];
type EventTuple = [id: string, seq: number, revision: number, timestamp: number, text: string];
type FoundTuple = [
  floor: number,
  session: SessionTuple | undefined,
  user: ScopeTuple | undefined,
  app: ScopeTuple | undefined,
  events: EventTuple[],
  changed: EventTuple[],
];
type ChangesTuple = [
  session: SessionTuple | undefined,
  user: ScopeTuple | undefined,
  app: ScopeTuple | undefined,
  events: EventTuple[],
];

const SCOPES = ['session', 'user', 'app'] as const;

/** What `src/storage/foreign.rs` calls. */
export class Bridge {
  readonly #adapter: StorageAdapter;
  readonly #isOurs: boolean;

  /** @param isOurs whether the rows of a read need no check, which would ask each for its text */
  constructor(adapter: StorageAdapter, isOurs: boolean) {
    this.#adapter = adapter;
    this.#isOurs = isOurs;
  }

  write(
    creates: boolean,
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
    scopeBits: number,
    eventIds: string[],
    since: number,
    decide: (found: FoundTuple) => ChangesTuple | undefined,
  ): Promise<void> {
    const verb = creates ? 'create' : 'append';
    const request: WriteRequest = {
      key: storageKey(appName, userId, sessionId),
      scopes: SCOPES.filter((_, bit) => (scopeBits >> bit) & 1),
      eventIds,
      since,
    };
    let state: 'unasked' | 'asked' | 'answered' = 'unasked';
    let refusal: SessionError | undefined;
    const ask = (found: Found): Changes | undefined => {
      if (state === 'answered') throw nonsense(verb, 'called decide after it had answered');
      state = 'asked';
      refusal = undefined;
      try {
        const changes = decide(foundTuple(verb, found));
        if (changes === undefined) return undefined;
        const [session, user, app] = changes;
        const revision = Math.max(session?.[1] ?? 0, user?.[0] ?? 0, app?.[0] ?? 0);
        if (!Number.isSafeInteger(revision)) {
          throw nonsense(verb, 'gave a floor or a revision that no other one can follow');
        }
        return readChanges(request.key, changes);
      } catch (thrown) {
        throw (refusal = toSessionError(thrown));
      }
    };
    return settled(verb, async () => {
      try {
        await this.#adapter[verb](request, ask);
        if (state === 'unasked') throw nonsense(verb, 'answered without asking decide');
      } catch (error) {
        throw refusal ?? error;
      } finally {
        state = 'answered';
      }
      // A storage must let it through. This one did not.
      if (refusal !== undefined) throw refusal;
    });
  }

  read(
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
    last: number | undefined,
    after: number | undefined,
  ): Promise<unknown[]> {
    const window = { ...(last !== undefined && { last }), ...(after !== undefined && { after }) };
    const key = storageKey(appName, userId, sessionId);
    return settled('read', async () => {
      const rows = await this.#adapter.read({ key, window });
      object('read', 'an answer', rows);
      const events = list('read', 'events', rows.events);
      if (!this.#isOurs) for (const row of events) eventTuple('read', row);
      return [
        optional(rows.session, (row) => sessionTuple('read', row)),
        optional(rows.user, (row) => scopeTuple('read', row)),
        optional(rows.app, (row) => scopeTuple('read', row)),
        // The rows as they are: wasm hands them on, and the reader of a text that is damaged then
        // knows its id.
        events,
      ];
    });
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    offset: number,
    limit: number | undefined,
  ): Promise<unknown[]> {
    return settled('list', async () => {
      const listing = await this.#adapter.list({
        appName,
        ...(userId !== undefined && { userId }),
        order: descending ? 'desc' : 'asc',
        offset,
        ...(limit !== undefined && { limit }),
      });
      object('list', 'an answer', listing);
      return [
        list('list', 'sessions', listing.sessions).map((row) => [
          ...sessionTuple('list', row),
          text('list', 'sessionId', row.sessionId),
          text('list', 'userId', row.userId),
        ]),
        list('list', 'users', listing.users).map((row) => [
          ...scopeTuple('list', row),
          text('list', 'userId', row.userId),
        ]),
        optional(listing.app, (row) => scopeTuple('list', row)),
        whole('list', 'total', listing.total),
      ];
    });
  }

  delete(
    what: DeleteRequest['what'],
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
  ): Promise<number | undefined> {
    const request = { what, key: storageKey(appName, userId, sessionId) } as DeleteRequest;
    return settled('delete', async () => {
      const deleted: unknown = await this.#adapter.delete(request);
      // An adapter need not tell it, and may answer whatever its database does.
      const isTold = typeof deleted === 'object' && deleted !== null && 'floor' in deleted;
      return isTold ? whole('delete', 'floor', deleted.floor) : undefined;
    });
  }
}

/** Runs a verb; whatever it throws becomes an error with a code. */
async function settled<T>(verb: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (isSessionError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : kindOf(cause);
    throw new SessionError('storage_failed', `The storage's ${verb} failed: ${reason}`, { cause });
  }
}

function nonsense(verb: string, what: string): SessionError {
  return new SessionError(
    'storage_failed',
    `The storage's ${verb} ${what}. Correct the adapter; the suite in adk-session-wasm/testing shows where.`,
  );
}

function storageKey(
  appName: string,
  userId: string | undefined,
  sessionId: string | undefined,
): StorageKey {
  // Each written out: spreading takes as long as all else that is done here.
  if (userId === undefined) return { appName };
  return sessionId === undefined ? { appName, userId } : { appName, userId, sessionId };
}

function optional<Row, Tuple>(row: Row | undefined | null, tuple: (row: Row) => Tuple) {
  return row === undefined || row === null ? undefined : tuple(row);
}

function object(verb: string, what: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) return;
  throw nonsense(verb, `gave ${what} that is no object but ${kindOf(value)}`);
}

function list<T>(verb: string, field: string, value: readonly T[]): readonly T[] {
  const given: unknown = value;
  if (Array.isArray(given)) return value;
  throw nonsense(verb, `gave ${field} that are no array but ${kindOf(value)}`);
}

function text(verb: string, field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw nonsense(verb, `gave a ${field} that is no string but ${kindOf(value)}`);
}

function whole(verb: string, field: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw nonsense(verb, `gave a ${field} that is no whole number from 0 up`);
}

function time(verb: string, field: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MAX_TIMESTAMP) return value;
  throw nonsense(verb, `gave a ${field} that is no time`);
}

function sessionTuple(verb: string, row: SessionRow): SessionTuple {
  object(verb, 'a session', row);
  return [
    whole(verb, 'created', row.created),
    whole(verb, 'revision', row.revision),
    time(verb, 'lastUpdateTime', row.lastUpdateTime),
    text(verb, 'state', row.state),
  ];
}

function scopeTuple(verb: string, row: ScopeRow): ScopeTuple {
  object(verb, 'a state', row);
  return [whole(verb, 'revision', row.revision), text(verb, 'state', row.state)];
}

function eventTuple(verb: string, row: EventRow): EventTuple {
  object(verb, 'an event', row);
  return [
    text(verb, 'id', row.id),
    whole(verb, 'seq', row.seq),
    whole(verb, 'revision', row.revision),
    time(verb, 'timestamp', row.timestamp),
    text(verb, 'text', row.text),
  ];
}

function foundTuple(verb: string, found: Found): FoundTuple {
  object(verb, 'decide', found);
  return [
    whole(verb, 'floor', found.floor),
    optional(found.session, (row) => sessionTuple(verb, row)),
    optional(found.user, (row) => scopeTuple(verb, row)),
    optional(found.app, (row) => scopeTuple(verb, row)),
    list(verb, 'events', found.events).map((row) => eventTuple(verb, row)),
    list(verb, 'changed', found.changed).map((row) => eventTuple(verb, row)),
  ];
}

function readChanges(key: StorageKey, changes: ChangesTuple): Changes {
  const [session, user, app, events] = changes;
  const { appName, userId = '', sessionId = '' } = key;
  return {
    session: optional(session, ([created, revision, lastUpdateTime, state]) => {
      return { appName, userId, sessionId, created, revision, lastUpdateTime, state };
    }),
    user: optional(user, ([revision, state]) => ({ revision, state })),
    app: optional(app, ([revision, state]) => ({ revision, state })),
    events: events.map(([id, seq, revision, timestamp, text]) => {
      return { id, seq, revision, timestamp, text };
    }),
  };
}
