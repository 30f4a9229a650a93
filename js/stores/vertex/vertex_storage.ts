/**
 * The storage over Agent Engine's sessions. The fields correspond as follows:
 *
 * | rows | server |
 * |---|---|
 * | a session's `created` | `createTime`, in microseconds since 1970 |
 * | its `revision` | the latest `timestamp` of its events, in microseconds; `createTime` if there are no events |
 * | its `lastUpdateTime` | `updateTime` |
 * | its `title` and `labels` | `displayName` and `labels` |
 * | its `state`, including the user's and the app's keys | `sessionState` |
 * | an event's `seq` | its `timestamp`, in microseconds |
 * | its `revision` | the `timestamp` of its newest version, in microseconds |
 * | its `timestamp` and `text` | `rawEvent`, with this package's own data beside it, see `event_resource.ts` |
 *
 * - The server has no transactions. One service runs its writes to a session one after another. Two programs
 *   may append at the same time without seeing each other. Both appends are stored, with both deltas, and a
 *   handle gets the events that it missed at its next append.
 * - A posted event cannot be changed: a new version of it is posted as one more event, see `event_list.ts`.
 * - The states of users and apps are stored only in the `sessionState` of their sessions.
 *
 * @module
 */
import { SessionError } from '../../values/errors/errors.js';
import type {
  Decide,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageListRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from '../../core/storage/requests.js';
import {
  type Listing,
  NO_ROWS,
  type PageRows,
  type Rows,
  type StorageKey,
} from '../../core/storage/rows.js';
import type { OwnStorage } from '../../core/storage/store.js';
import type { CreateWrite, DescribeWrite } from '../../core/write.js';
import type { StorageCall } from '../../values/model/diagnostic.js';
import { appendEvents, postEvents } from './verbs/append_events.js';
import { startClosing, CallLimit } from '../http/call_limit.js';
import { createSession, invalidSessionId, type NewSessionParts } from './verbs/create_session.js';
import {
  deleteSession,
  deleteUnchangedSession,
  deleteUser,
  listSessions,
  readStates,
} from './verbs/list_sessions.js';
import { describeSession } from './verbs/describe_session.js';
import type { EngineAddresses } from './rest/engine_address.js';
import { readChanged, readEventPage, readSession } from './verbs/read_session.js';
import { VERTEX_AI, withAdvice } from './rest/rest_errors.js';
import { type RestParts, Rest } from './rest/rest.js';
import { SeenEvents } from './events/seen_events.js';
import { type SharedCaches, type SessionAddress, Sessions } from './verbs/sessions.js';
import { KeyedQueue } from '../../core/call/scheduling.js';

export class VertexStorage implements OwnStorage {
  readonly listsParts = true;
  readonly #connection: RestParts;
  readonly #caches: SharedCaches;
  readonly #callTimeoutMs: number;
  /**
   * The writes to each session. The server has no transactions: two writes that both read before either wrote would
   * take the same position in the order. Writes of other programs are not serialised; their appends are stored too.
   */
  readonly #writes = new KeyedQueue();

  /** @param callTimeoutMs timeout of a whole call, in milliseconds */
  constructor(connection: RestParts, addresses: EngineAddresses, callTimeoutMs: number) {
    this.#connection = connection;
    this.#caches = { addresses, seen: new SeenEvents() };
    this.#callTimeoutMs = callTimeoutMs;
  }

  /** Only here sessions expire, and events may come without changes of the states that the server shares. */
  describing(write: CreateWrite | DescribeWrite): Pick<VertexStorage, 'create' | 'describe'> {
    const { expiry } = write.kind === 'create' ? write.description : write;
    const sharesState = write.kind !== 'create' || write.sharesState;
    return {
      create: (request, decide) => this.create(request, decide, { expiry, sharesState }),
      describe: (request) => this.describe({ ...request, expiry }),
    };
  }

  /** Creates a session, then posts its events. A failure deletes the session again. */
  async create(
    request: StorageWriteRequest,
    decide: Decide,
    given: NewSessionParts = {},
  ): Promise<void> {
    const refuse = (): never => {
      throw invalidSessionId(request.key);
    };
    const postings = await this.#write(request, refuse, (sessions, address) =>
      createSession(sessions, address, given, decide),
    );
    if (postings.length === 0) return;
    try {
      await this.#write(request, refuse, (sessions, address) =>
        postEvents(sessions, address, postings, given.sharesState),
      );
    } catch (error) {
      throw withAdvice(error, await this.#undo({ ...request, signal: undefined }));
    }
  }

  /** Deletes the session. Returns a sentence that says whether it is gone. */
  async #undo(request: StorageWriteRequest): Promise<string> {
    try {
      await this.#write<unknown>(request, isAbsent, deleteSession);
      return 'The session was deleted again, because not all of its events could be stored.';
    } catch {
      const id = JSON.stringify(request.key.sessionId);
      return `Session ${id} may remain with a part of its events; delete it before you create it again.`;
    }
  }

  append(request: StorageWriteRequest, decide: Decide): Promise<void> {
    const notFound = (): void => void decide(NO_ROWS);
    return this.#write(request, notFound, (sessions, address) =>
      appendEvents(sessions, address, request, decide),
    );
  }

  read(request: StorageReadRequest): Promise<Rows> {
    const { key, window } = request;
    const { appName, userId, sessionId } = key;
    return this.#call(request, async (sessions) => {
      if (userId === undefined || sessionId === undefined) return readStates(sessions, key);
      const address = sessions.addressOf({ appName, userId, sessionId });
      const { since } = window;
      const rows =
        address &&
        (since === undefined
          ? await readSession(sessions, address, { window })
          : await readChanged(sessions, address, since));
      return { ...NO_ROWS, ...rows };
    });
  }

  /**
   * Reads back from the newest event to the page: a new version of an event is posted last, and the page has
   * to show it.
   */
  readPage(page: StoragePageRequest): Promise<PageRows> {
    return this.#call(page, async (sessions) => {
      const address = sessions.addressOf(page.key);
      return (address && (await readEventPage(sessions, address, page))) ?? {};
    });
  }

  describe(request: StorageDescribeRequest & Pick<NewSessionParts, 'expiry'>): Promise<boolean> {
    return this.#write(request, isAbsent, (sessions, address) =>
      describeSession(sessions, address, request),
    );
  }

  list(request: StorageListRequest): Promise<Listing> {
    return this.#call(request, (sessions) => listSessions(sessions, request));
  }

  async delete(request: StorageDeleteRequest): Promise<void> {
    const { what, key } = request;
    if (what === 'user') {
      await this.#call(request, (sessions) => deleteUser(sessions, key.appName, key.userId));
    } else {
      if (what !== 'session') throw unsupported(DELETE_ADVICE);
      await this.#write<unknown>(request, isAbsent, deleteSession);
    }
  }

  deleteUnchanged(request: StorageDeleteUnchangedRequest): Promise<boolean> {
    return this.#write(request, isAbsent, (sessions, address) =>
      deleteUnchangedSession(sessions, address, request),
    );
  }

  /** Asks the server for a page of one session. Without the option `agentEngineId` there is no engine to ask. */
  open(call: StorageCall): Promise<void> {
    return this.#call(call, async (sessions) => {
      if (this.#caches.addresses.isFixed) await readStates(sessions, { appName: ANY_APP });
    });
  }

  closing(timeoutMs?: number): void {
    startClosing(this.#connection.closeLimit, timeoutMs);
  }

  close(): void {
    this.#connection.closeLimit.expire();
  }

  #call<T>(call: StorageCall, work: (sessions: Sessions) => Promise<T>): Promise<T> {
    const { signal: closed } = this.#connection.closeLimit;
    const options = { ...call, server: VERTEX_AI, timeoutMs: this.#callTimeoutMs, closed };
    return CallLimit.run(options, (limit) =>
      work(new Sessions(new Rest(this.#connection, limit), this.#caches)),
    );
  }

  /**
   * Runs a write to a session after the earlier ones.
   *
   * @param onInvalidId runs instead if Vertex AI does not allow the session id, so that there is no such session
   */
  #write<T>(
    request: StorageCall & { readonly key: StorageKey },
    onInvalidId: () => T,
    work: (sessions: Sessions, address: SessionAddress) => Promise<T>,
  ): Promise<T> {
    return this.#call(request, async (sessions) => {
      const address = sessions.addressOf(requireSession(request.key));
      if (address === undefined) return onInvalidId();
      const { limit } = sessions.rest;
      const write = (): Promise<T> => work(sessions, address);
      return this.#writes.run(address.url, write, (earlier) => limit.race(earlier));
    });
  }
}

const isAbsent = (): false => false;

/** Stands for all apps: an engine that is given as an option holds the sessions of each. */
const ANY_APP = 'app';

const CHANGE_ADVICE =
  'changed without a session; append user: and app: keys with an event, or give updateState a sessionId';
const DELETE_ADVICE = 'deleted; remove their keys through a session';

function requireSession({ appName, userId, sessionId }: StorageKey): Required<StorageKey> {
  if (userId === undefined || sessionId === undefined) throw unsupported(CHANGE_ADVICE);
  return { appName, userId, sessionId };
}

function unsupported(advice: string): SessionError {
  const message = `On Vertex AI, user and app states cannot be ${advice}.`;
  return new SessionError('unsupported', message, { storage: 'vertexai' });
}
