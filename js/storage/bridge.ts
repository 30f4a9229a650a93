/**
 * Between the wasm and a storage adapter: rows are arrays on the wasm's side, objects on the
 * adapter's. It checks what the adapter answers, so that nonsense is named where it was made, and
 * gives whatever the adapter throws a code.
 */
import { appendOne, type AppendOne } from './append_one.js';
import type {
  DeleteRequest,
  ListRequest,
  ReadRequest,
  Rows,
  StorageAdapter,
  StorageKey,
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
import { abortedError, requireNotAborted } from '../service/call.js';
import { memberOf, ownMembers } from '../json/own.js';
import { onAbort } from '../service/on_abort.js';
import type { OwnAdapter, OwnRows } from './own_adapter.js';
import type { ListedTuple, SharedStates } from '../service/listed_records.js';
import { end_append, requireRoom } from '../core.js';
import { scopesOf } from './scopes.js';
import { failureOf, writeThrough } from './write_through.js';

/** What `src/storage/foreign/mod.rs` calls. */
export class Bridge {
  readonly #adapter: StorageAdapter;
  readonly #own: OwnAdapter | undefined;
  readonly #signal: AbortSignal | undefined;

  /**
   * @param own the adapter, if it is ours
   * @param signal the caller's, if the bridge is for one call; each verb of the call gets it
   */
  constructor(adapter: StorageAdapter, own?: OwnAdapter, signal?: AbortSignal) {
    this.#adapter = adapter;
    this.#own = own;
    this.#signal = signal;
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
    const request = this.#request({ key, scopes: scopesOf(scopes), eventIds, since });
    // Rust waits for a promise whatever comes.
    const written = this.#settled(verb, async () =>
      writeThrough(this.#adapter, verb, request, (found) =>
        decide(verb, place, scopes, key, undefined, found),
      ),
    );
    return written.finally(() => {
      end_append(place);
    });
  }

  /** See {@link appendOne}. */
  readonly appendOne: AppendOne = (...request) => appendOne(this.#adapter, ...request);

  read(
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
    last: number | undefined,
    after: number | undefined,
  ): Promise<unknown[]> {
    const window = ownMembers({
      ...(last !== undefined && { last }),
      ...(after !== undefined && { after }),
    });
    const request = this.#request({ key: storageKey(appName, userId, sessionId), window });
    return this.#settled('read', async () => {
      const rows: OwnRows = await untilAborted(
        request.signal,
        this.#own === undefined ? this.#checked(request) : this.#own.readParsed(request),
      );
      const session = optional(memberOf(rows, 'session'), (row) => sessionTuple('read', row));
      const user = optional(memberOf(rows, 'user'), (row) => scopeTuple('read', row));
      const app = optional(memberOf(rows, 'app'), (row) => scopeTuple('read', row));
      const parsed = memberOf(rows, 'parsed');
      requireRoom(sizeOf(session?.[3]) + sizeOf(user?.[1]) + sizeOf(app?.[1]));
      return [
        session,
        user,
        app,
        // The rows as they are: wasm hands them on, and the reader of a text that is damaged then
        // knows its id. Events as one thing, as it takes long to hand on thousands.
        parsed === undefined ? rows.events : [parsed],
      ];
    });
  }

  /** What an adapter of somebody else's read. */
  async #checked(request: ReadRequest): Promise<Rows> {
    const rows = await this.#adapter.read(request);
    object('read', 'an answer', rows);
    const [session, user, app] = [
      memberOf(rows, 'session'),
      memberOf(rows, 'user'),
      memberOf(rows, 'app'),
    ];
    // An array of our own: what the adapter's throws when it is read is thrown here, and not into the wasm.
    const events = [...list('read', 'events', rows.events)];
    for (const row of events) eventTuple('read', row);
    return { session, user, app, events };
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    offset: number,
    limit: number | undefined,
    withTotal: boolean,
  ): Promise<unknown[]> {
    const request = this.#request<ListRequest>({
      appName,
      ...(userId !== undefined && { userId }),
      order: descending ? 'desc' : 'asc',
      offset,
      ...(limit !== undefined && { limit }),
      ...(!withTotal && { withTotal }),
    });
    return this.#settled('list', async () => {
      const listing = await untilAborted(request.signal, this.#adapter.list(request));
      object('list', 'an answer', listing);
      const sessions = list('list', 'sessions', listing.sessions).map((row): ListedTuple => {
        // First, since it checks that there is a row.
        const session = sessionTuple('list', row);
        const sessionId = text('list', 'sessionId', row.sessionId);
        return [sessionId, text('list', 'userId', row.userId), ...session];
      });
      const users = list('list', 'users', listing.users).flatMap((row) => {
        const [, state] = scopeTuple('list', row);
        return [text('list', 'userId', row.userId), state];
      });
      const app = optional(memberOf(listing, 'app'), (row) => scopeTuple('list', row)[1]);
      const shared: SharedStates = [app, ...users];
      return [sessions, shared, withTotal ? whole('list', 'total', listing.total) : 0];
    });
  }

  /** Runs a verb; whatever it throws becomes an error with a code. */
  async #settled<T>(verb: string, run: () => Promise<T>): Promise<T> {
    try {
      // It may have fired between two verbs of a call.
      requireNotAborted(this.#signal);
      return await run();
    } catch (cause) {
      throw failureOf(verb, cause);
    }
  }

  /** An adapter finds nothing in a request that was left out, whatever stands on `Object.prototype`. */
  #request<Request extends object>(given: Request): Request & { readonly signal?: AbortSignal } {
    const signal = this.#signal === undefined ? {} : { signal: this.#signal };
    return ownMembers({ ...given, ...signal });
  }

  delete(
    what: DeleteRequest['what'],
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
  ): Promise<number | undefined> {
    const key = storageKey(appName, userId, sessionId);
    const request = this.#request({ what, key }) as DeleteRequest;
    return this.#settled('delete', async () => {
      const deleted = (await this.#adapter.delete(request)) as { readonly floor?: unknown } | null;
      // An adapter need not tell it, and may answer whatever its database does.
      const isObject = typeof deleted === 'object' && deleted !== null;
      const floor = isObject ? memberOf(deleted, 'floor') : undefined;
      return floor === undefined ? undefined : whole('delete', 'floor', floor);
    });
  }
}

/** A read changes nothing, and so need not be waited for once nobody wants it. */
async function untilAborted<T>(
  signal: AbortSignal | undefined,
  answer: T | Promise<T>,
): Promise<T> {
  if (signal === undefined) return answer;
  let ignore = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    ignore = onAbort(signal, () => reject(abortedError(signal)));
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    ignore();
  }
}

function sizeOf(state: string | undefined): number {
  return state?.length ?? 0;
}

function storageKey(
  appName: string,
  userId: string | undefined,
  sessionId: string | undefined,
): StorageKey {
  if (userId === undefined) return ownMembers({ appName });
  return ownMembers(sessionId === undefined ? { appName, userId } : { appName, userId, sessionId });
}
