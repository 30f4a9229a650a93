// The sessions of a project's agent engines, their events, and the calls on them.

import { type Comparison, comparisonsOf, orderOf, timeRange, wildcard } from './filters.js';
import { SESSION, SESSION_EVENT } from './messages.js';
import { EMPTY, type Operation, Operations, typed } from './operations.js';
import { pageOf } from './pages.js';
import {
  type Fields,
  type UnknownNames,
  camelCase,
  parseMessage,
  snakeCase,
} from './proto_json.js';
import { type Owner, type Scopes, SharedState } from './shared_state.js';
import { ApiError, invalid } from './status.js';
import { nanosOf, nanosOfMillis, timestampOf } from './timestamp.js';

export interface EngineOptions {
  /** The largest page of a list. Default: 100. */
  readonly pageSize?: number;
  /** Whether each list begins with an empty page, as the API allows. Default: false. */
  readonly beginsEmpty?: boolean;
  /** The visibility of keys with `user:` or `app:`. Default: `shared`. */
  readonly scopes?: Scopes;
  /**
   * The course of the operation of a create or delete. Default: `done`.
   *
   * - `done`: the response is a finished operation.
   * - A number: the client must poll, and this many polls return an unfinished operation.
   * - `refused`: polls are refused, as for sessions whose id the caller chose.
   */
  readonly operations?: number | 'done' | 'refused';
  /** Whether events can be listed newest first. Default: true. */
  readonly ordersEvents?: boolean;
  /** The treatment of unknown fields. Default: `refused`. */
  readonly unknownNames?: UnknownNames;
  /** The server's clock, in milliseconds. Default: this machine's. */
  readonly clock?: () => number;
}

export interface StoredEvent extends Fields {
  readonly name: string;
  readonly timestamp: string;
}

/** The query parameters of a call. */
export type Query = ReadonlyMap<string, string>;

interface StoredSession {
  readonly name: string;
  readonly engine: string;
  readonly order: number;
  fields: Fields;
  state: Fields;
  /** Oldest first. Events with equal times are in append order, on which a client cannot rely. */
  readonly events: TimedEvent[];
}

interface TimedEvent {
  readonly event: StoredEvent;
  readonly nanos: bigint;
}

const OWN_ID = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const YEAR = 365n * 24n * 3600n * 1_000_000_000n;
const IMMUTABLE = ['name', 'createTime', 'updateTime', 'userId'];

export class Engine {
  readonly #options: Required<EngineOptions>;
  /** The sessions by resource name. */
  readonly #sessions = new Map<string, StoredSession>();
  readonly #pendingNames = new Set<string>();
  readonly #shared: SharedState;
  readonly #operations = new Operations();
  #count = 0;
  #lastTime = 0n;

  constructor(options: EngineOptions) {
    this.#options = {
      pageSize: 100,
      beginsEmpty: false,
      scopes: 'shared',
      operations: 'done',
      ordersEvents: true,
      unknownNames: 'refused',
      clock: Date.now,
      ...options,
    };
    this.#shared = new SharedState(this.#options.scopes);
  }

  createSession(engine: string, body: unknown, query: Query): Operation {
    const given = parseMessage(body, SESSION, '', this.#options.unknownNames);
    if (!given.userId) throw invalid('Required field user_id is not set.');
    if (given.ttl !== undefined && given.expireTime !== undefined) {
      throw invalid("Invalid value (oneof), oneof field 'expiration' is already set.");
    }
    const id = query.get('sessionId') ?? String(4_611_686_018_427_387_000n + BigInt(this.#next()));
    const name = `${engine}/sessions/${id}`;
    checkId(name);
    if (this.#sessions.has(name) || this.#pendingNames.has(name)) {
      // The real server does not return ALREADY_EXISTS here.
      throw invalid(`Session with user-provided ID '${name}' already exists.`);
    }
    this.#pendingNames.add(name);
    const operation = this.#operations.start(name, 'CreateSession', this.#polls, () => {
      this.#insert(name, engine, given);
      // The response has fewer fields than a GET, and its own time.
      const time = timestampOf(this.#now());
      const own = { name, createTime: time, updateTime: time, userId: given.userId };
      return typed('Session', { ...own, ...stateField(fieldsOf(given.sessionState)) });
    });
    if (this.#options.operations === 'refused') this.#operations.get(operation.name);
    return operation;
  }

  getOperation(name: string): Operation {
    if (this.#options.operations === 'refused' && name.includes('/sessions/')) {
      throw invalid(
        'Since the idType "sessions" is not a documented LRO Parent ID, it must be a long.',
      );
    }
    return this.#operations.get(name);
  }

  getSession(name: string): Fields {
    return this.#shown(this.#find(name));
  }

  listSessions(engine: string, query: Query): Fields {
    const tests = comparisonsOf(query.get('filter') ?? '').map(sessionTest);
    const { field, descending } = orderOf(query.get('orderBy') ?? 'createTime desc', [
      'createTime',
      'updateTime',
    ]);
    const sign = descending ? -1 : 1;
    const sessions = [...this.#sessions.values()]
      .filter((session) => session.engine === engine && tests.every((test) => test(session.fields)))
      .sort((one, other) => sign * (compareTimes(one, other, field) || one.order - other.order));
    const { items, ...more } = this.#page(sessions, ({ name }) => name, query);
    return {
      ...listField(
        'sessions',
        items.map((session) => this.#shown(session)),
      ),
      ...more,
    };
  }

  updateSession(name: string, body: unknown, query: Query): Fields {
    const session = this.#find(name);
    const given = parseMessage(body, SESSION, '', this.#options.unknownNames);
    const mask = query.get('updateMask')?.split(',').map(camelCase) ?? Object.keys(given);
    for (const field of mask) {
      if (!(field in SESSION.fields)) throw invalid(`Invalid field mask: ${field}`);
      if (IMMUTABLE.includes(field)) continue;
      if (field === 'sessionState') session.state = fieldsOf(given.sessionState);
      else if (field === 'ttl') {
        session.fields.expireTime = timestampOf(this.#now() + nanosOfSeconds(given.ttl));
      } else session.fields = { ...session.fields, [field]: given[field] };
    }
    this.#touch(session);
    return this.#shown(session);
  }

  deleteSession(name: string): Operation {
    const { engine } = this.#find(name);
    this.#sessions.delete(name);
    const location = engine.slice(0, engine.indexOf('/reasoningEngines/'));
    return this.#operations.start(location, 'Delete', this.#polls, () => EMPTY);
  }

  appendEvent(name: string, body: unknown): Fields {
    const session = this.#find(name);
    const given = parseMessage(body, SESSION_EVENT, 'event', this.#options.unknownNames);
    for (const field of ['author', 'invocationId', 'timestamp']) {
      if (given[field]) continue;
      throw invalid(
        `List of found errors:\t1.Field: event.${snakeCase(field)}; Message: Required field is not set.\t`,
      );
    }
    const id = String(2_305_843_009_213_693_000n + BigInt(this.#next()));
    const timestamp = String(given.timestamp);
    // The real server always returns these two fields, even if they are empty.
    const whole = { content: {}, actions: {}, ...given };
    insertInOrder(session.events, { ...whole, timestamp, name: `${name}/events/${id}` });
    this.#merge(session, fieldsOf(fieldsOf(given.actions).stateDelta));
    this.#touch(session);
    return {};
  }

  listEvents(name: string, query: Query): Fields {
    const session = this.#find(name);
    const orderBy = query.get('orderBy');
    if (orderBy !== undefined && !this.#options.ordersEvents) {
      throw invalid(
        'Invalid JSON payload received. Unknown name "orderBy": Cannot bind query parameter.',
      );
    }
    const inRange = timeRange(query.get('filter') ?? '');
    const { descending } = orderOf(orderBy ?? 'timestamp', ['timestamp']);
    const events = session.events.filter(({ nanos }) => inRange(nanos)).map(({ event }) => event);
    if (descending) events.reverse();
    const { items, ...more } = this.#page(events, (event) => event.name, query);
    return { ...listField('sessionEvents', items), ...more };
  }

  /** All stored events, oldest first. */
  eventsOf(name: string): StoredEvent[] {
    return this.#find(name).events.map(({ event }) => event);
  }

  #insert(name: string, engine: string, given: Fields): void {
    const now = this.#now();
    const { ttl, sessionState, ...rest } = given;
    const lasts = ttl === undefined ? YEAR : nanosOfSeconds(ttl);
    const time = timestampOf(now);
    const session: StoredSession = {
      name,
      engine,
      order: this.#next(),
      fields: {
        expireTime: timestampOf(now + lasts),
        ...rest,
        name,
        createTime: time,
        updateTime: time,
      },
      state: {},
      events: [],
    };
    this.#merge(session, fieldsOf(sessionState));
    this.#pendingNames.delete(name);
    this.#sessions.set(name, session);
  }

  #merge(session: StoredSession, delta: Fields): void {
    session.state = this.#shared.merge(session.state, delta, ownerOf(session));
  }

  #shown(session: StoredSession): Fields {
    const state = this.#shared.withSharedKeys(session.state, ownerOf(session));
    return { ...session.fields, ...stateField(state) };
  }

  #find(name: string): StoredSession {
    checkId(name);
    const session = this.#sessions.get(name);
    if (session === undefined) throw new ApiError('NOT_FOUND', `Session ${name} not found.`);
    return session;
  }

  #touch(session: StoredSession): void {
    session.fields = { ...session.fields, updateTime: timestampOf(this.#now()) };
  }

  #page<T>(items: readonly T[], keyOf: (item: T) => string, query: Query) {
    const size = query.get('pageSize');
    const request = {
      size: size === undefined ? undefined : Number(size),
      token: query.get('pageToken'),
      query: JSON.stringify([query.get('filter'), query.get('orderBy')]),
    };
    return pageOf(items, keyOf, request, this.#options.pageSize, this.#options.beginsEmpty);
  }

  get #polls(): number {
    const { operations } = this.#options;
    if (operations === 'done') return -1;
    return operations === 'refused' ? 0 : operations;
  }

  /** The server's clock never returns the same time twice. */
  #now(): bigint {
    const now = nanosOfMillis(this.#options.clock());
    this.#lastTime = now > this.#lastTime ? now : this.#lastTime + 1000n;
    return this.#lastTime;
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

function checkId(name: string): void {
  if (OWN_ID.test(name.slice(name.lastIndexOf('/') + 1))) return;
  throw invalid(
    'Invalid session resource name. The user provided session ID can only contain lowercase letters, digits and hyphens. The first and last characters must be a letter or number.',
  );
}

function insertInOrder(events: TimedEvent[], event: StoredEvent): void {
  const nanos = nanosOf(event.timestamp) ?? 0n;
  const isEarlier = (other: TimedEvent): boolean => other.nanos <= nanos;
  events.splice(events.findLastIndex(isEarlier) + 1, 0, { event, nanos });
}

function sessionTest({ field, operator, literal }: Comparison): (session: Fields) => boolean {
  const known = field === 'userId' || field === 'displayName' || field.startsWith('labels.');
  if (!known || operator !== '=') throw invalid(`Invalid filter: ${field} ${operator}`);
  const isMatch = wildcard(literal);
  return (session) => {
    if (!field.startsWith('labels.')) return isMatch(session[field]);
    return isMatch(fieldsOf(session.labels)[field.slice('labels.'.length)]);
  };
}

function compareTimes(one: StoredSession, other: StoredSession, field: string): number {
  const [first, second] = [one, other].map(({ fields }) => nanosOf(String(fields[field])) ?? 0n);
  return Number((first ?? 0n) - (second ?? 0n));
}

function ownerOf({ engine, fields }: StoredSession): Owner {
  return { engine, userId: fields.userId };
}

/** @param seconds such as `86400s` */
function nanosOfSeconds(seconds: unknown): bigint {
  return nanosOfMillis(Number.parseFloat(String(seconds)) * 1000);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Omits an empty message, like an empty list. */
function stateField(state: Fields): Fields {
  return Object.keys(state).length === 0 ? {} : { sessionState: state };
}

function listField(name: string, items: readonly unknown[]): Fields {
  return items.length === 0 ? {} : { [name]: items };
}
