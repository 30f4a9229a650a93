/**
 * Between the wasm and a storage adapter: rows are arrays on the wasm's side, objects on the
 * adapter's. It checks what the adapter answers, so that nonsense is named where it was made, and
 * gives whatever the adapter throws a code.
 */
import { appendOne, type AppendOne } from './append_one.js';
import type {
  DeleteRequest,
  ReadRequest,
  Rows,
  StorageAdapter,
  StorageKey,
  WriteRequest,
} from './adapter.js';
import {
  eventTuple,
  list,
  object,
  optional,
  scopeTuple,
  sessionTuple,
  text,
  whole,
} from './checked_rows.js';
import { decide } from './decide.js';
import type { OwnAdapter, OwnRows } from './own_adapter.js';
import { scopesOf } from './scopes.js';
import { failureOf, writeThrough } from './write_through.js';

/** What `src/storage/foreign/mod.rs` calls. */
export class Bridge {
  readonly #adapter: StorageAdapter;
  readonly #own: OwnAdapter | undefined;

  /** @param own the adapter, if it is ours */
  constructor(adapter: StorageAdapter, own?: OwnAdapter) {
    this.#adapter = adapter;
    this.#own = own;
  }

  write(
    creates: boolean,
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
    scopes: number,
    eventIds: string[],
    since: number,
    place: number,
  ): Promise<void> {
    const verb = creates ? 'create' : 'append';
    const key = storageKey(appName, userId, sessionId);
    const request: WriteRequest = { key, scopes: scopesOf(scopes), eventIds, since };
    // Rust waits for a promise whatever comes.
    return settled(verb, async () =>
      writeThrough(this.#adapter, verb, request, (found) =>
        decide(verb, place, scopes, key, undefined, found),
      ),
    );
  }

  /** See {@link appendOne}. */
  readonly appendOne: AppendOne = (session, known, policy, event, now) =>
    appendOne(this.#adapter, session, known, policy, event, now);

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
      const rows: OwnRows = await (this.#own === undefined
        ? this.#checked(key, window)
        : this.#own.readParsed({ key, window }));
      return [
        optional(rows.session, (row) => sessionTuple('read', row)),
        optional(rows.user, (row) => scopeTuple('read', row)),
        optional(rows.app, (row) => scopeTuple('read', row)),
        // The rows as they are: wasm hands them on, and the reader of a text that is damaged then
        // knows its id. Events as one thing, as it takes long to hand on thousands.
        rows.parsed === undefined ? rows.events : [rows.parsed],
      ];
    });
  }

  /** What an adapter of somebody else's read. */
  async #checked(key: StorageKey, window: ReadRequest['window']): Promise<Rows> {
    const rows = await this.#adapter.read({ key, window });
    object('read', 'an answer', rows);
    for (const row of list('read', 'events', rows.events)) eventTuple('read', row);
    return rows;
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
    throw failureOf(verb, cause);
  }
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
