import { SESSION_ERROR_CODES } from '../../errors/errors.js';
import { HISTORY_VIEWS } from '../../read/history_views.js';
import { NARROWEST_FIRST } from '../../state/scope.js';
import { FORGET } from '../rights/authorize.js';
import type { Route } from './route.js';
import {
  CREATED_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  REVISION_HEADER,
} from '../../http/protocol.js';

type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: 'string' };
const WHOLE: Schema = { type: 'integer', minimum: 0 };
const OBJECT: Schema = { type: 'object' };
const LABELS: Schema = { type: 'object', additionalProperties: TEXT };
const SECONDS: Schema = { type: 'number', description: 'Seconds since 1970.' };
const MILLISECONDS: Schema = { type: 'number', description: 'Milliseconds since 1970.' };
const JSON_TEXT: Schema = { ...TEXT, contentMediaType: 'application/json' };
const FLAG: Schema = { type: 'boolean' };
/** `null`: the storage has no revisions. */
const REVISION: Schema = { type: ['integer', 'null'] };
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const listOf = (items: Schema): Schema => ({ type: 'array', items });

function objectOf(required: Readonly<Record<string, Schema>>, optional = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

const PARENT = objectOf({ sessionId: TEXT }, { eventId: TEXT });

/** The schemas of responses, by the names in the routes. */
const SCHEMAS: Readonly<Record<string, Schema>> = {
  Event: objectOf(
    { id: TEXT, timestamp: SECONDS },
    { author: TEXT, invocationId: TEXT, content: OBJECT, actions: OBJECT },
  ),
  Session: objectOf(
    {
      id: TEXT,
      appName: TEXT,
      userId: TEXT,
      state: OBJECT,
      events: listOf(ref('Event')),
      lastUpdateTime: SECONDS,
    },
    { title: TEXT, labels: LABELS, parent: PARENT, summarised: listOf(TEXT) },
  ),
  SessionInfo: objectOf(
    { lastUpdateTime: SECONDS, eventCount: WHOLE, bytes: WHOLE, usage: OBJECT },
    { createTime: SECONDS, title: TEXT, labels: LABELS, parent: PARENT, initialState: OBJECT },
  ),
  Sessions: listOf(ref('Session')),
  SessionsPage: objectOf(
    { sessions: listOf(ref('Session')), page: WHOLE, limit: WHOLE },
    {
      totalItems: WHOLE,
      totalPages: WHOLE,
      nextCursor: TEXT,
      revisions: listOf(objectOf({}, { created: WHOLE, revision: WHOLE })),
    },
  ),
  AppendedEvents: objectOf({
    session: ref('Session'),
    events: listOf(ref('Event')),
    revision: WHOLE,
  }),
  EventsPage: objectOf(
    { events: listOf(ref('Event')) },
    { before: TEXT, after: TEXT, eventCount: WHOLE },
  ),
  ChangedEvent: objectOf({ seq: WHOLE, revision: WHOLE, event: ref('Event') }),
  ChangesSince: objectOf(
    { created: WHOLE, revision: WHOLE, lastUpdateTime: SECONDS, isRecreated: FLAG },
    { title: TEXT, labels: LABELS, events: listOf(ref('ChangedEvent')), state: OBJECT },
  ),
  Deleted: objectOf({ deleted: WHOLE }),
  StoredPage: objectOf(
    { created: REVISION },
    {
      revision: WHOLE,
      events: listOf(ref('Event')),
      hasOlder: FLAG,
      firstId: TEXT,
      lastId: TEXT,
      eventCount: WHOLE,
      createTime: MILLISECONDS,
      lastUpdateTime: MILLISECONDS,
      initialState: JSON_TEXT,
      title: TEXT,
      labels: JSON_TEXT,
      parent: JSON_TEXT,
      summarised: listOf(TEXT),
    },
  ),
  Appended: objectOf(
    {
      created: REVISION,
      revision: WHOLE,
      lastUpdateTime: MILLISECONDS,
      shared: objectOf(Object.fromEntries(NARROWEST_FIRST.map((scope) => [scope, WHOLE]))),
      unchanged: listOf(objectOf({ position: WHOLE, revision: WHOLE })),
      missed: listOf(objectOf({ seq: WHOLE, revision: WHOLE, text: JSON_TEXT })),
      placed: listOf(objectOf({ seq: WHOLE, revision: WHOLE })),
    },
    { since: WHOLE, state: JSON_TEXT, undone: listOf(TEXT) },
  ),
  Whether: FLAG,
  State: OBJECT,
  Notices: {
    type: 'string',
    description: 'Server-sent events; the data of each is a notice as JSON.',
  },
  Nothing: { type: 'null' },
  Error: objectOf({ detail: TEXT }, { code: { enum: [...SESSION_ERROR_CODES, FORGET] } }),
};

/** The schemas of parameters and of members of bodies, by their names. */
const MEMBERS: Readonly<Record<string, Schema>> = {
  sessionId: TEXT,
  userId: TEXT,
  state: OBJECT,
  stateDelta: OBJECT,
  events: listOf(OBJECT),
  expectedRevision: WHOLE,
  expectedEvents: { type: 'object', additionalProperties: { type: ['integer', 'null'] } },
  title: { type: ['string', 'null'] },
  labels: { ...LABELS, type: ['object', 'null'] },
  parent: PARENT,
  numRecentEvents: WHOLE,
  afterTimestamp: SECONDS,
  olderThan: SECONDS,
  limit: WHOLE,
  page: WHOLE,
  cursor: TEXT,
  label: listOf(TEXT),
  order: { enum: ['asc', 'desc'] },
  orderBy: { enum: ['lastUpdateTime', 'createTime'] },
  withTotal: FLAG,
  withCount: FLAG,
  view: { enum: HISTORY_VIEWS },
  isShown: FLAG,
  rewindBeforeInvocationId: TEXT,
  before: TEXT,
  after: TEXT,
  stateKeys: listOf(TEXT),
  direction: { enum: ['before', 'after'] },
  eventId: TEXT,
  created: { type: ['integer', 'null'] },
  revision: WHOLE,
  since: WHOLE,
  position: objectOf({}, { created: REVISION, revision: WHOLE, lastEventId: TEXT }),
  stale: { enum: ['merge', 'append', 'reject'] },
  firstTitle: TEXT,
  lastUpdateTime: SECONDS,
  sharedState: { enum: ['apply', 'keep'] },
  initialState: { enum: ['unknown'] },
};

/** What the statuses of errors mean. */
const ERROR_STATUSES: Readonly<Record<string, string>> = {
  400: 'The request is wrong.',
  401: 'The request does not tell who sends it.',
  403: 'This is not allowed.',
  404: 'There is no such session.',
  409: 'The session exists already, or has changed.',
  410: 'A cache must erase what it has of its owner.',
  500: 'The server failed.',
  503: 'The sessions cannot be reached now.',
};

/** Makes the OpenAPI document of the routes. */
export function openApiDocument(routes: readonly Route[], basePath: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sessions', version: PROTOCOL_VERSION },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    paths,
    components: { schemas: SCHEMAS },
  };
}

function operationOf({ action, method, path, summary, query = [], body, response }: Route): object {
  const content = response === 'Notices' ? 'text/event-stream' : 'application/json';
  const errors = Object.entries(ERROR_STATUSES).map(([status, description]): [string, object] => [
    status,
    { description, content: { 'application/json': { schema: ref('Error') } } },
  ]);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: TEXT };
  });
  const inQuery = query.map((name) => ({ name, in: 'query', schema: MEMBERS[name] }));
  return {
    summary,
    operationId: `${method.toLowerCase()} ${path} ${action}`,
    parameters: [...inPath, ...inQuery],
    ...(body !== undefined && {
      requestBody: { content: { 'application/json': { schema: bodySchema(body) } } },
    }),
    responses: {
      200: {
        description: 'Done.',
        headers: headersOf(response),
        content: { [content]: { schema: ref(response) } },
      },
      ...Object.fromEntries(errors),
    },
  };
}

function headersOf(response: string): object {
  const schemas = {
    [PROTOCOL_HEADER]: TEXT,
    ...(response === 'Session' && { [CREATED_HEADER]: WHOLE, [REVISION_HEADER]: WHOLE }),
  };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, { schema }]));
}

function bodySchema(body: readonly string[] | 'any'): Schema {
  if (body === 'any') return OBJECT;
  const properties = Object.fromEntries(body.map((name) => [name, MEMBERS[name]]));
  return { type: 'object', properties, additionalProperties: false };
}
