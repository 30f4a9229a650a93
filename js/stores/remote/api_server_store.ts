import type { Call } from '../../core/call/call.js';
import type { CreateWrite, DeleteWrite, ReadyAppend } from '../../core/write.js';
import { SessionError } from '../../values/errors/errors.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { eventInMilliseconds, timeInMilliseconds } from '../../values/python/time.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import { REMOVED } from '../../values/state/scope.js';
import { parseEventText } from '../../core/storage/stored_events.js';
import { sortList } from '../../core/storage/list_place.js';
import type { StorageKey } from '../../core/storage/rows.js';
import { runRead, type WindowRequest, type ReadSession, type ReadVerbs } from '../../core/read.js';
import {
  NO_REVISIONS,
  runWrite,
  type Appended,
  type CreatedSession,
  type Deletion,
  type ListRequest,
  type ReadList,
  type WriteVerbs,
} from '../../core/storage/store.js';
import { rewindTargets, startsIn } from '../../core/history/rules/marks.js';
import { VIEW_PLANS } from '../../core/history/views/read_view.js';
import {
  nothingIn,
  readSessionOf,
  type ResponseSession,
  sessionIn,
  SharedKeys,
} from './responses.js';
import { type HttpConnection, pathOf } from './connection/connection.js';
import { type ServerStore, askServerKind } from './server_store.js';
import { bodyOf, createRequest } from './write_request.js';
import { requestRun } from './run.js';
import type { CheckedRun } from './run_request.js';

/**
 * Sessions behind `adk api_server` of google-adk for Python. It has neither appends nor revisions nor pages: reads
 * fetch everything, and what it lacks fails with `unsupported`.
 */
export class ApiServerStore implements ServerStore, ReadVerbs, WriteVerbs {
  readonly traits = { lacksPages: true, views: VIEW_PLANS };
  readonly #connection: HttpConnection;

  constructor(connection: HttpConnection) {
    this.#connection = connection;
  }

  async open(call: Call): Promise<void> {
    await askServerKind(this.#connection, call);
  }

  readonly write: ServerStore['write'] = (write, call) => runWrite(this, write, call);

  async create(write: CreateWrite, call: Call): Promise<CreatedSession | undefined> {
    const { key, events, delta, description, lastUpdateTime, sharesState, mutation } = write;
    const { title, labels } = description;
    const isPlain = events.length === 0 && delta === '{}' && !title && !labels && sharesState;
    if (!isPlain || lastUpdateTime !== undefined) {
      throw unsupported('creates sessions with nothing but an id and a state');
    }
    const given = { ...write, description: { initialState: write.state } };
    const request = { ...createRequest(sessionsPath(key), given), mutation };
    return this.#connection.request(request, call, (json) => {
      // Some storages of the server strip white space from the id.
      const session = pythonSession(json, key);
      return session && { ...readSessionOf(session), shared: NO_REVISIONS };
    });
  }

  readonly read: ServerStore['read'] = (request, call) => runRead(this, request, call);

  async window({ key, last, after }: WindowRequest, call: Call): Promise<ReadSession | undefined> {
    const path = sessionPath(key);
    const request = { method: 'GET', path, none: 'not_found' } as const;
    const session = await this.#connection.request(request, call, (json) =>
      pythonSession(json, key),
    );
    if (session === undefined) return undefined;
    const { events: all } = session;
    const later = after === undefined ? all : all.filter(({ timestamp }) => timestamp >= after);
    const events = typeof last !== 'number' ? later : later.slice(Math.max(0, later.length - last));
    const rewindStarts = startsIn(all, rewindTargets(events));
    return { ...readSessionOf({ ...session, events }), rewindStarts };
  }

  async list(list: ListRequest, call: Call): Promise<ReadList> {
    const { appName, userId, order, orderBy, offset, limit, after } = list;
    if (userId === undefined) throw unsupported('lists only the sessions of one user');
    if (orderBy === 'createTime') throw unsupported('does not tell when a session was created');
    const path = sessionsPath({ appName, userId });
    const request = { method: 'GET', path } as const;
    const all = (await this.#connection.request(request, call, pythonSessions))!;
    const places = all.map((session) => ({ ...session, sessionId: session.id }));
    const end = limit === undefined ? undefined : offset + limit;
    const sorted = sortList(places, { order, after }).slice(offset, end);
    const shared = new SharedKeys();
    const sessions = sorted.map((session) =>
      shared.takeOut({ ...session, created: 0, revision: 0, createTime: undefined }),
    );
    return { sessions, total: all.length, shared: shared.states };
  }

  /** A change of a session's state arrives as an event without a handle. The server makes its own event of it. */
  async append(append: ReadyAppend, call: Call): Promise<Appended> {
    const { key, position, events, compute, mutation } = append;
    const [event] = events;
    requireNoRemoval(event && (JSON.parse(event.deltaText) as JsonObject));
    // A cache that did not know the server may send a message. The server would drop its content.
    const hasContent = event !== undefined && parseEventText(event.text)?.content !== undefined;
    const isState = compute === undefined && !hasContent;
    if (position.kind !== 'latest' || !isState || event === undefined) {
      throw unsupported('has no route to append events; only its agents append');
    }
    const body = bodyOf({ stateDelta: event.deltaText });
    const request = { method: 'PATCH', path: sessionPath(key), body, mutation } as const;
    const { lastUpdateTime } = (await this.#connection.request(request, call, (json) =>
      pythonSession(json, key),
    ))!;
    const unknown = { created: 0, revision: 0, shared: NO_REVISIONS };
    return { ...unknown, lastUpdateTime, unchanged: [], missed: [], eventRevisions: [] };
  }

  async delete(deletion: DeleteWrite, call: Call): Promise<Deletion> {
    if (deletion.what !== 'session') throw unsupported('deletes only sessions');
    const { key, created, unchanged, mutation } = deletion;
    if (created !== undefined || unchanged !== undefined) throw unsupported('has no revisions');
    const request = { method: 'DELETE', path: sessionPath(key), mutation } as const;
    await this.#connection.request(request, call, nothingIn);
    return { isDeleted: true };
  }

  run(run: CheckedRun, stopped: HostAbortSignal): AsyncGenerator<Event, void, undefined> {
    requireNoRemoval(run.stateDelta);
    const connection = this.#connection;
    const read = (signal: HostAbortSignal): Promise<ReadSession | undefined> =>
      this.window({ key: run.key }, { signal });
    return requestRun({ connection, read, toEvent: eventInMilliseconds }, run, stopped);
  }

  readonly describe = refusal('keeps no titles and no labels');
  readonly page = refusal('has no pages of events; use getSession');
  readonly since = refusal('has no revisions');
  readonly ids = refusal('has no revisions');
  readonly update = refusal('changes state only through a session; give a sessionId');
  readonly state = refusal('shows states only through a session');
}

function sessionsPath({ appName, userId }: { appName: string; userId: string }): string {
  return pathOf('apps', requireSegment(appName), 'users', requireSegment(userId), 'sessions');
}

function sessionPath(key: Required<StorageKey>): string {
  return `${sessionsPath(key)}${pathOf(requireSegment(key.sessionId))}`;
}

/** The server would store the text of a removal as a value. */
function requireNoRemoval(delta: Readonly<Record<string, unknown>> = {}): void {
  if (!Object.values(delta).includes(REMOVED)) return;
  throw unsupported('removes no keys of a state; set them to null');
}

/** The server has no escape for names that `pathOf` escapes for the handler. */
function requireSegment(name: string): string {
  if (!/^[.~]/.test(name)) return name;
  throw unsupported('has no names that begin with . or ~');
}

function pythonSession(json: unknown, key?: Required<StorageKey>): ResponseSession | undefined {
  if (!isPlainObject(json) || !Array.isArray(json.events)) return undefined;
  const events = json.events.map((event: unknown) => {
    return isPlainObject(event) ? eventInMilliseconds(event) : event;
  });
  const lastUpdateTime = timeInMilliseconds(json.lastUpdateTime);
  return sessionIn({ ...json, events, lastUpdateTime }, key);
}

function pythonSessions(json: unknown): ResponseSession[] | undefined {
  if (!Array.isArray(json)) return undefined;
  const sessions = json.map((item) => pythonSession(item)).filter((item) => item !== undefined);
  return sessions.length === json.length ? sessions : undefined;
}

function unsupported(what: string): SessionError {
  return new SessionError('unsupported', `The server is adk api_server, which ${what}.`, {
    storage: 'remote',
  });
}

/** Returns a verb that the server lacks. */
function refusal(what: string): () => Promise<never> {
  return () => Promise.reject(unsupported(what));
}
