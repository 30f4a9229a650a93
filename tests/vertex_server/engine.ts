// The sessions of a project's agent engines and their events: what the API's calls do.

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
  /** The largest page of a list; 100. */
  readonly pageSize?: number;
  /** Whether each list begins with a page that has nothing, as any list of such an API may; false. */
  readonly beginsEmpty?: boolean;
  /** Who sees a key with `user:` or `app:`; `shared`. */
  readonly scopes?: Scopes;
  /**
   * How a create's or a delete's operation goes; `done`.
   *
   * - `done`: the answer to the request is a finished operation.
   * - A number: it is to be asked for, and so often it is not done.
   * - `refused`: it cannot be asked for, as with sessions whose id is the caller's own.
   */
  readonly operations?: number | 'done' | 'refused';
  /** Whether events can be listed in another order than the oldest first; true. */
  readonly ordersEvents?: boolean;
  /** What becomes of a field that no message of the API has; `refused`. */
  readonly unknownNames?: UnknownNames;
  /** The server's clock, in milliseconds; this machine's. */
  readonly clock?: () => number;
}

export interface StoredEvent extends Fields {
  readonly name: string;
  readonly timestamp: string;
}

/** What a call has in its URL after the resource. */
export type Query = ReadonlyMap<string, string>;

interface StoredSession {
  readonly name: string;
  readonly engine: string;
  readonly order: number;
  fields: Fields;
  state: Fields;
  /** The oldest first. Those of one moment stand as they were appended; a client cannot know that they do. */
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
  /** By resource name; one is put down here before its operation is done. */
  readonly #sessions = new Map<string, StoredSession>();
  readonly #beingMade = new Set<string>();
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
    if (this.#sessions.has(name) || this.#beingMade.has(name)) {
      // Not ALREADY_EXISTS.
      throw invalid(`Session with user-provided ID '${name}' already exists.`);
    }
    this.#beingMade.add(name);
    const operation = this.#operations.start(name, 'CreateSession', this.#polls, () => {
      this.#insert(name, engine, given);
      // Not all that a GET shows: as it was given, and of a time of its own.
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
      else session.fields = { ...session.fields, [field]: given[field] };
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
    // These two are never missing, but may be empty.
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

  /** All events as they are stored, the oldest first. */
  eventsOf(name: string): StoredEvent[] {
    return this.#find(name).events.map(({ event }) => event);
  }

  #insert(name: string, engine: string, given: Fields): void {
    const now = this.#now();
    const { ttl, sessionState, ...rest } = given;
    const lasts = typeof ttl === 'string' ? nanosOfMillis(Number.parseFloat(ttl) * 1000) : YEAR;
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
    this.#beingMade.delete(name);
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
      question: JSON.stringify([query.get('filter'), query.get('orderBy')]),
    };
    return pageOf(items, keyOf, request, this.#options.pageSize, this.#options.beginsEmpty);
  }

  get #polls(): number {
    const { operations } = this.#options;
    if (operations === 'done') return -1;
    return operations === 'refused' ? 0 : operations;
  }

  /** The server's own clock never shows the same time twice. */
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
  const isMeant = wildcard(literal);
  return (session) => {
    if (!field.startsWith('labels.')) return isMeant(session[field]);
    return isMeant(fieldsOf(session.labels)[field.slice('labels.'.length)]);
  };
}

function compareTimes(one: StoredSession, other: StoredSession, field: string): number {
  const [first, second] = [one, other].map(({ fields }) => nanosOf(String(fields[field])) ?? 0n);
  return Number((first ?? 0n) - (second ?? 0n));
}

function ownerOf({ engine, fields }: StoredSession): Owner {
  return { engine, userId: fields.userId };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** An empty message, like an empty list, is left out. */
function stateField(state: Fields): Fields {
  return Object.keys(state).length === 0 ? {} : { sessionState: state };
}

function listField(name: string, items: readonly unknown[]): Fields {
  return items.length === 0 ? {} : { [name]: items };
}
