/**
 * The storage adapter over Agent Engine's sessions. The fields correspond as follows:
 *
 * | adapter | server |
 * |---|---|
 * | a session's `created` | `createTime`, in microseconds since 1970 |
 * | its `revision` | the latest `timestamp` of its events, in microseconds; `createTime` if there are no events |
 * | its `lastUpdateTime` | `updateTime` |
 * | its `state`, including the user's and the app's keys | `sessionState` |
 * | an event's `seq` | its `timestamp`, in microseconds |
 * | its `revision` | the `timestamp` of its newest version, in microseconds |
 * | its `timestamp` and `text` | `rawEvent`, with this package's own data beside it, see `event_resource.ts` |
 *
 * - The server has no transactions. One service runs its writes to a session one after another. Two programs
 *   may append at the same time without seeing each other. Both appends land, with both deltas, and a handle
 *   gets the events that it missed at its next append.
 * - A posted event cannot be changed: a new version of it is posted as one more event, see `fold.ts`.
 * - The states of users and apps are stored only in the `sessionState` of their sessions.
 *
 * @module
 */
import { SessionError } from '../errors/errors.js';
import type {
  Decide,
  DeleteRequest,
  Listing,
  ListRequest,
  ReadRequest,
  Rows,
  StorageKey,
  WriteRequest,
} from '../storage/adapter.js';
import type { OwnAdapter } from '../storage/own_adapter.js';
import { appendEvents, NOTHING } from './verbs/append_events.js';
import { CallLimit } from './rest/call_limit.js';
import { createSession, requireSessionId } from './verbs/create_session.js';
import { deleteSession, deleteUser } from './verbs/delete_sessions.js';
import type { EngineAddresses } from './rest/engine_address.js';
import { listSessions } from './verbs/list_sessions.js';
import { NewestFirst } from './events/newest_first.js';
import { readSession } from './verbs/read_session.js';
import { readStates } from './verbs/read_states.js';
import { type Connection, Rest } from './rest/rest.js';
import { SeenEvents } from './events/seen_events.js';
import { type Known, type SessionPlace, Sessions } from './verbs/sessions.js';
import { Turns } from './rest/turns.js';

export class VertexAdapter implements OwnAdapter {
  readonly kind = 'vertexai';
  readonly durable = true;
  readonly #connection: Connection;
  readonly #known: Known;
  readonly #callTimeoutMs: number;
  readonly #turns = new Turns();

  /** @param callTimeoutMs timeout of a whole call, in milliseconds */
  constructor(connection: Connection, addresses: EngineAddresses, callTimeoutMs: number) {
    this.#connection = connection;
    this.#known = { addresses, seen: new SeenEvents(), newestFirst: new NewestFirst() };
    this.#callTimeoutMs = callTimeoutMs;
  }

  create({ key, signal }: WriteRequest, decide: Decide): Promise<void> {
    return this.#call(signal, async (sessions) => {
      const session = requireSession(key);
      requireSessionId(session);
      const place = sessions.placeOf(session);
      if (place === undefined) return;
      await this.#inTurn(sessions, place, () => createSession(sessions, place, decide));
    });
  }

  append(request: WriteRequest, decide: Decide): Promise<void> {
    return this.#call(request.signal, async (sessions) => {
      const place = sessions.placeOf(requireSession(request.key));
      if (place === undefined) {
        decide(NOTHING);
        return;
      }
      await this.#inTurn(sessions, place, () => appendEvents(sessions, place, request, decide));
    });
  }

  read({ key, window, signal }: ReadRequest): Promise<Rows> {
    const { appName, userId, sessionId } = key;
    return this.#call(signal, async (sessions) => {
      if (userId === undefined || sessionId === undefined) return readStates(sessions, key);
      const place = sessions.placeOf({ appName, userId, sessionId });
      const rows = place && (await readSession(sessions, place, { window }));
      return rows ?? { events: [] };
    });
  }

  /** Same as `read`: the events arrive in pages, and this package's own events already are JSON text. */
  readParsed(request: ReadRequest): Promise<Rows> {
    return this.read(request);
  }

  list(request: ListRequest): Promise<Listing> {
    return this.#call(request.signal, (sessions) => listSessions(sessions, request));
  }

  delete({ what, key, signal }: DeleteRequest): Promise<void> {
    return this.#call(signal, async (sessions) => {
      if (what === 'user') return deleteUser(sessions, key.appName, key.userId);
      if (what !== 'session') throw unsupported(DELETING);
      const place = sessions.placeOf(key);
      if (place === undefined) return;
      await this.#inTurn(sessions, place, () => deleteSession(sessions, place));
    });
  }

  closing(): void {
    this.#connection.closing.begin();
  }

  close(): void {
    this.#connection.closing.end();
  }

  explain(error: SessionError): SessionError {
    return error;
  }

  #call<T>(signal: AbortSignal | undefined, work: (sessions: Sessions) => Promise<T>): Promise<T> {
    const { signal: closed } = this.#connection.closing;
    const ends = { timeoutMs: this.#callTimeoutMs, signal, closed };
    return CallLimit.during(ends, (limit) =>
      work(new Sessions(new Rest(this.#connection, limit), this.#known)),
    );
  }

  #inTurn({ rest }: Sessions, place: SessionPlace, work: () => Promise<void>): Promise<void> {
    return this.#turns.take(place.url, rest.limit, work);
  }
}

const CHANGING =
  'changed apart from a session; append an event with user: and app: keys in its delta, or give updateState a sessionId';
const DELETING = 'deleted; remove the keys in the sessions that show them';

function requireSession({ appName, userId, sessionId }: StorageKey): Required<StorageKey> {
  if (userId === undefined || sessionId === undefined) throw unsupported(CHANGING);
  return { appName, userId, sessionId };
}

function unsupported(doing: string): SessionError {
  const message = `On Vertex AI the states of users and apps cannot be ${doing}.`;
  return new SessionError('unsupported', message, { storage: 'vertexai' });
}
