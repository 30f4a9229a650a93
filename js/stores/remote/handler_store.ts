import type {
  BranchesRead,
  HistoryState,
  SessionBranches,
  StateAtRead,
} from '../../core/history_types.js';
import { type CursorList, listCursor, readListCursor } from '../../core/storage/reads/cursors.js';
import type { ReadyWrite, WriteKind } from '../../core/write.js';
import type { Call } from '../../core/call/call.js';
import type { StorageKey } from '../../core/storage/rows.js';
import type { HostHeaders } from '../../values/model/host.js';
import { SessionError } from '../../values/errors/errors.js';
import { parseLabels } from '../../values/model/description.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { FindRequest, FindResult } from '../../values/model/search.js';
import type { StoredEvents } from '../../values/model/event_page.js';
import { parseEventText } from '../../core/storage/stored_events.js';
import {
  runRead,
  type ChangedSession,
  type ReadVerbs,
  type SinceRequest,
  type IdsRequest,
  type InfoRequest,
  type PageRequest,
  type ReadInfo,
  type ReadPage,
  type WindowRequest,
  type ReadSession,
} from '../../core/read.js';
import type {
  ListedSession,
  ListRequest,
  ReadList,
  Results,
  StateRequest,
  StoreTraits,
} from '../../core/storage/store.js';
import {
  changedSessionIn,
  infoIn,
  pageIn,
  readAs,
  responseIn,
  type SessionJson,
  sessionOf,
  sessionReader,
  type ListedRemoteSession,
  SharedKeys,
} from './responses.js';
import type { QueryParameters } from '../http/exchange.js';
import type {
  ListParameter,
  PageParameter,
  SearchParameter,
  WindowParameter,
} from '../http/member_names.js';
import { isTimeoutError } from '../http/http_errors.js';
import { OPEN_HEADER, parseOpen, RUN_HEADER } from '../http/protocol.js';
import type { MessageOfRun, RunReports } from './run_reports.js';
import type { HttpConnection, ReadResponse } from './connection/connection.js';
import { RunStream } from './run_stream.js';
import { type ServerStore, askServerKind } from './server_store.js';
import { absentIfEmpty, bodyOf, pathTo, sendWrite } from './write_request.js';

/** The sessions that are asked for at once, the most that the handler gives. */
const CHUNK = 1000;

/** Sessions behind the handler of `adk-session-wasm/server`, which runs the rules. */
export class HandlerStore implements ServerStore, ReadVerbs {
  readonly traits: StoreTraits;
  readonly #connection: HttpConnection;
  readonly #runs: RunReports;

  /** @param runs is told the runs that answers name */
  constructor(connection: HttpConnection, runs: RunReports) {
    this.#connection = connection;
    this.#runs = runs;
    const keepsMutations = connection.kind?.keepsMutations === true;
    this.traits = { computesHistories: true, keepsMutations };
  }

  async open(call: Call): Promise<void> {
    await askServerKind(this.#connection, call);
  }

  readonly write: ServerStore['write'] = async (write, call) => {
    const headers = hasRun(write) ? this.#runs.streamHeaders(write.key) : undefined;
    if (headers === undefined) return this.#send(write, call);
    const stream = new RunStream(this.#connection.options.closeLimit.signal);
    try {
      return await this.#send(write, call, stream, headers);
    } catch (error) {
      stream.end();
      // A proxy or a service worker may hold a stream back until it ends.
      if (isTimeoutError(error)) this.#runs.noteLateStream();
      throw error;
    }
  };

  /** @param stream takes the response, if the server may send the reports of the run behind its answer */
  #send<Kind extends WriteKind>(
    write: ReadyWrite<Kind>,
    call: Call,
    stream?: RunStream,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Results[Kind]> {
    const onAnswer = (answered: HostHeaders): void => {
      const [start, number] = answered.get(RUN_HEADER)?.split(' ') ?? [];
      const message = messageOf(write);
      if (start === undefined || message === undefined) return stream?.end();
      const runId = { start, number: Number(number) };
      this.#noteOpen(message, answered);
      this.#runs.noteBegun(message, runId);
      if (stream?.isOpen === true) void this.#runs.readStream(message, runId, stream);
    };
    const more = { headers, readText: stream?.readAnswer };
    return sendWrite(this.#connection, write, call, onAnswer, more);
  }

  readonly read: ServerStore['read'] = (request, call) => runRead(this, request, call);

  window({ key, last, after, view }: WindowRequest, call: Call): Promise<ReadSession | undefined> {
    const query = { numRecentEvents: last, afterTimestamp: timeText(after), view };
    return this.#get(
      pathTo(key),
      query satisfies Record<WindowParameter, unknown>,
      call,
      this.#withOpen(key, sessionReader(key)),
    );
  }

  page(request: PageRequest, call: Call): Promise<ReadPage | undefined> {
    const { key, direction, eventId, limit, withCount, view, isShown } = request;
    const query = { direction, eventId, limit, withCount, view, isShown };
    const path = pathTo(key, '/events');
    return this.#get(
      path,
      query satisfies Record<PageParameter, unknown>,
      call,
      this.#withOpen(key, pageIn),
    );
  }

  info({ key }: InfoRequest, call: Call): Promise<ReadInfo | undefined> {
    return this.#get(pathTo(key, '/info'), {}, call, infoIn);
  }

  ids({ key, eventIds }: IdsRequest, call: Call): Promise<StoredEvents | undefined> {
    const path = pathTo(key, '/events/by-id');
    // The ids may be too long for a URL.
    const body = bodyOf({}, { eventIds });
    const post = { method: 'POST', path, body, isIdempotent: true, none: 'not_found' } as const;
    return this.#connection.request(post, call, readAs('StoredEvents'));
  }

  since({ key, since, created }: SinceRequest, call: Call): Promise<ChangedSession | undefined> {
    const read = this.#withOpen(key, changedSessionIn);
    return this.#get(pathTo(key, '/changes'), { since, created }, call, read);
  }

  // The handler says what it has not found: the session, or the event.
  branches({ key, fromEventId }: BranchesRead, call: Call): Promise<SessionBranches | undefined> {
    const path = pathTo(key, '/branches');
    const request = { method: 'GET', path, query: { fromEventId } } as const;
    return this.#connection.request(request, call, readAs('Branches'));
  }

  stateAt({ key, eventId }: StateAtRead, call: Call): Promise<HistoryState | undefined> {
    const request = { method: 'GET', path: pathTo(key, '/state'), query: { eventId } } as const;
    return this.#connection.request(request, call, readAs('StateAt'));
  }

  list(request: ListRequest, call: Call): Promise<ReadList> {
    const { appName, userId, offset, limit, withTotal, orderBy, after, filters } = request;
    const isDescending = request.order === 'desc';
    return this.#connection.limited(call, async (limited) => {
      // A page of more than a chunk is read from the start of the list.
      const isChunk = limit !== undefined && limit <= CHUNK;
      const page = isChunk && offset > 0 ? Math.floor(offset / limit) + 1 : undefined;
      const skipped = isChunk ? 0 : offset;
      // A session that is updated between two chunks moves to the end. So the whole list is read from its old end: in
      // descending order such a session would be missing.
      const isReversed = isDescending && limit === undefined;
      const order = isDescending && !isReversed ? 'desc' : 'asc';
      const { title, labels } = filters ?? {};
      const list: CursorList = { appName, userId, order, orderBy, labels, title };
      const query = listQuery(list);
      const most = skipped + (limit ?? Infinity);
      const path = pathTo({ appName }, '/sessions');
      const sessions = new Map<string, ListedSession>();
      const shared = new SharedKeys();
      let total: number | undefined;
      let cursor = after && listCursor(list, 0, after);
      do {
        const part = {
          limit: Math.min(CHUNK, most - sessions.size),
          withTotal: withTotal && total === undefined,
          page: cursor === undefined ? page : undefined,
          cursor,
        };
        const whole = { ...query, ...part } satisfies Record<
          Exclude<ListParameter, 'stateKeys'>,
          unknown
        >;
        const get = { method: 'GET', path, query: whole } as const;
        const chunk = (await this.#connection.requestWithin(limited, get, (json) =>
          listedIn(json, list),
        ))!;
        total ??= chunk.total;
        for (const session of chunk.sessions) {
          const name = JSON.stringify([session.userId, session.id]);
          // One that moved to a later place comes twice.
          sessions.delete(name);
          sessions.set(name, shared.takeOut(session));
        }
        // Only a full page has a next one.
        cursor = chunk.sessions.length === 0 ? undefined : chunk.nextCursor;
      } while (cursor !== undefined && sessions.size < most);
      const listed = [...sessions.values()].slice(skipped);
      if (isReversed) listed.reverse();
      return { sessions: listed, total, shared: shared.states };
    });
  }

  async search(request: FindRequest, call: Call): Promise<FindResult> {
    const { appName, userId, after, before, labels = {}, ...rest } = request;
    const { query, sessionId, author, limit, cursor } = rest;
    const label = Object.entries(labels).map(([key, value]) => `${key}:${value}`);
    const times = { after: timeText(after), before: before?.toFixed(9) };
    const parameters = { query, sessionId, author, ...times, label, limit, cursor };
    const get = {
      method: 'GET',
      path: pathTo({ appName, userId }, '/search'),
      query: parameters satisfies Record<SearchParameter, unknown>,
    } as const;
    return (await this.#connection.request(get, call, readAs<FindResult>('FindResult')))!;
  }

  async state({ appName, userId }: StateRequest, call: Call): Promise<string> {
    const request = { method: 'GET', path: pathTo({ appName, userId }, '/state') } as const;
    const state = await this.#connection.request(request, call, readAs('State'));
    return JSON.stringify(state);
  }

  /**
   * Cancels the run of a session, or stores the end event of a message that has no run. Returns whether anything was
   * cancelled.
   */
  async cancelRun(
    { appName, userId, sessionId }: CompositeSessionKey,
    messageId: string | undefined,
    call: Call,
  ): Promise<boolean> {
    const key = { appName, userId, sessionId };
    // Another run may begin before the answer comes.
    const meant = messageId ?? this.#runs.of(key)?.messageId;
    const path = pathTo(key, '/run');
    const request = { method: 'DELETE', path, query: { messageId }, isIdempotent: true } as const;
    const read = readAs<{ readonly cancelled: boolean }>('Cancelled');
    const { cancelled } = (await this.#connection.request(request, call, read))!;
    // The feed may tell it later. Another process that has the run notices it at its next append.
    if (cancelled && meant !== undefined) this.#runs.noteCancelled(key, meant);
    return cancelled;
  }

  run(): never {
    const message =
      'The method run is for adk api_server. Over a handler call appendEvent with the member run.';
    throw new SessionError('unsupported', message, { storage: 'remote' });
  }

  /** Notes which message another process may be answering, if a response says so. */
  #noteOpen({ appName, userId, sessionId }: Required<StorageKey>, headers: HostHeaders): void {
    const text = headers.get(OPEN_HEADER);
    if (text !== null) this.#runs.noteOpen({ appName, userId, sessionId }, parseOpen(text));
  }

  #withOpen<T>(key: Required<StorageKey>, read: ReadResponse<T>): ReadResponse<T> {
    return (json, headers) => {
      const value = read(json, headers);
      if (value !== undefined) this.#noteOpen(key, headers);
      return value;
    };
  }

  /** Returns `undefined` if there is no such session. */
  #get<T>(
    path: string,
    query: QueryParameters,
    call: Call,
    read: ReadResponse<T>,
  ): Promise<T | undefined> {
    const request = { method: 'GET', path, query, none: 'not_found' } as const;
    return this.#connection.request(request, call, read);
  }
}

/** Whether a write has the agent of the server answer a message. */
function hasRun(write: ReadyWrite<WriteKind>): write is ReadyWrite<'append' | 'rewind'> {
  return (write.kind === 'append' || write.kind === 'rewind') && write.run !== undefined;
}

/** Returns the message that a write has answered. */
function messageOf(write: ReadyWrite<WriteKind>): MessageOfRun | undefined {
  if (write.kind !== 'rewind' && write.kind !== 'append') return undefined;
  const [sent] = write.kind === 'append' ? write.events : [];
  const message = write.kind === 'rewind' ? write.message : sent && parseEventText(sent.text);
  if (message === undefined) return undefined;
  const { id: messageId, invocationId } = message;
  return { ...write.key, messageId, invocationId };
}

/** Times are never negative, so an earlier time admits all events. */
function timeText(time: number | undefined): string | undefined {
  if (time === undefined || time <= 0) return undefined;
  return Math.min(time, 1e15 - 1).toFixed(9);
}

/** Returns the query that all chunks of a list have in common. */
function listQuery({ userId, order, orderBy, labels, title }: CursorList) {
  const label = Object.entries(parseLabels(absentIfEmpty(labels)));
  return {
    userId,
    order,
    orderBy,
    title: absentIfEmpty(title),
    label: label.map(([key, value]) => `${key}:${value}`),
  };
}

interface ListedPart {
  readonly sessions: readonly ListedRemoteSession[];
  readonly total: number;
  readonly nextCursor: string | undefined;
}

interface ListedJson {
  readonly sessions: readonly SessionJson[];
  readonly revisions: readonly { readonly created?: number; readonly revision?: number }[];
  readonly totalItems?: number;
  readonly nextCursor?: string;
}

function listedIn(json: unknown, list: CursorList): ListedPart | undefined {
  const page = responseIn<ListedJson>('SessionsPage', json);
  if (page === undefined) return undefined;
  const { sessions: given, revisions, totalItems = 0, nextCursor } = page;
  const sessions: ListedRemoteSession[] = [];
  for (const [index, item] of given.entries()) {
    const session = sessionOf(item);
    const { created, revision } = revisions[index] ?? {};
    if (created === undefined || revision === undefined) return undefined;
    // The server sends the createTime only of the last session, in the cursor. No other is needed.
    const isLast = index === given.length - 1;
    const createTime = isLast ? timeOf(nextCursor, list) : undefined;
    sessions.push({ ...session, created, revision, createTime });
  }
  return { sessions, total: totalItems, nextCursor };
}

/** Returns the time of a cursor's place. A garbled cursor has none; the server refuses it. */
function timeOf(cursor: string | undefined, list: CursorList): number | undefined {
  try {
    return readListCursor('nextCursor', list, cursor).place[list.orderBy];
  } catch {
    return undefined;
  }
}
