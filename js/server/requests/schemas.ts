/** The schemas of the OpenAPI document. */
import { SESSION_ERROR_CODES } from '../../values/errors/errors.js';
import { NARROWEST_FIRST } from '../../values/state/scope.js';
import { FORGET } from '../rights/authorize.js';

export type Schema = Readonly<Record<string, unknown>>;

export const TEXT: Schema = { type: 'string' };
export const WHOLE: Schema = { type: 'integer', minimum: 0 };
export const COUNT: Schema = { anyOf: [WHOLE, { enum: ['all'] }] };
export const OBJECT: Schema = { type: 'object' };
export const LABELS: Schema = { type: 'object', additionalProperties: TEXT };
export const SECONDS: Schema = { type: 'number', description: 'Seconds since 1970.' };
const MILLISECONDS: Schema = { type: 'number', description: 'Milliseconds since 1970.' };
/** A JSON value as text. The handler shows a client what it may see of that value. */
export const JSON_TEXT: Schema = { ...TEXT, contentMediaType: 'application/json' };
export const FLAG: Schema = { type: 'boolean' };
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const oneOf = (words: readonly unknown[]): Schema => ({ enum: words });
export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });
/** `null`: the storage has no revisions. */
export const REVISION = orNull({ type: 'integer' });

export function objectOf(required: Readonly<Record<string, Schema>>, optional = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

export const PARENT = objectOf({ sessionId: TEXT }, { eventId: TEXT });

/** A place in a history. */
export const PLACE = objectOf({}, { eventId: TEXT, invocationId: TEXT });

/** The events in a body. */
export const EVENTS_MEMBER = listOf(OBJECT);

/** The members of a body that say what the session must be like. */
export const EXPECTED = {
  expectedRevision: WHOLE,
  expectedEvents: { type: 'object', additionalProperties: orNull(WHOLE) },
};

const SESSION = {
  id: TEXT,
  appName: TEXT,
  userId: TEXT,
  state: OBJECT,
  events: listOf(ref('Event')),
  lastUpdateTime: SECONDS,
};
/** Where the rewinds among a part of the events start: one whose `eventId` is not among these may be older. */
const REWIND_STARTS = listOf(objectOf({ invocationId: TEXT }, { eventId: TEXT }));
const SESSION_MORE = {
  title: TEXT,
  labels: LABELS,
  parent: PARENT,
  summarised: listOf(TEXT),
  rewindStarts: REWIND_STARTS,
};

/** The member of a body that asks for a run. */
export const RUN_MEMBER = { ...objectOf({}, { streaming: FLAG }), additionalProperties: false };

/** The schemas of responses, by the names in the routes. */
export const RESPONSES = {
  Event: objectOf(
    { id: TEXT, timestamp: SECONDS },
    { author: TEXT, invocationId: TEXT, content: OBJECT, actions: OBJECT },
  ),
  Session: objectOf(SESSION, SESSION_MORE),
  RewoundSession: objectOf(
    { ...SESSION, event: ref('Event'), unknownKeys: listOf(TEXT) },
    { ...SESSION_MORE, message: ref('Event') },
  ),
  Branches: objectOf(
    {
      places: listOf(
        objectOf(
          {
            alternatives: listOf(objectOf({ invocationId: TEXT, isShown: FLAG }, { branch: TEXT })),
          },
          { after: TEXT },
        ),
      ),
    },
    { lastRewind: TEXT },
  ),
  StateAt: objectOf({ state: OBJECT, unknownKeys: listOf(TEXT) }),
  SessionInfo: objectOf(
    { lastUpdateTime: SECONDS, eventCount: WHOLE, bytes: WHOLE, usage: OBJECT },
    { createTime: SECONDS, title: TEXT, labels: LABELS, parent: PARENT, initialState: OBJECT },
  ),
  Sessions: listOf(ref('Session')),
  SessionsPage: objectOf(
    {
      sessions: listOf(ref('Session')),
      revisions: listOf(objectOf({}, { created: WHOLE, revision: WHOLE })),
      page: WHOLE,
      limit: WHOLE,
    },
    { totalItems: WHOLE, totalPages: WHOLE, nextCursor: TEXT },
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
  StoredEvent: objectOf({ seq: WHOLE, revision: WHOLE, event: ref('Event') }),
  StoredEvents: objectOf({
    created: WHOLE,
    revision: WHOLE,
    events: listOf(ref('StoredEvent')),
  }),
  ChangesSince: objectOf(
    { created: WHOLE, revision: WHOLE, lastUpdateTime: SECONDS, isRecreated: FLAG },
    {
      title: TEXT,
      labels: LABELS,
      events: listOf(ref('StoredEvent')),
      state: OBJECT,
      rewindStarts: REWIND_STARTS,
    },
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
      rewindStarts: REWIND_STARTS,
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
    { since: WHOLE, state: JSON_TEXT, message: JSON_TEXT },
  ),
  Whether: FLAG,
  Cancelled: objectOf({ cancelled: FLAG }),
  State: OBJECT,
  Notices: {
    type: 'string',
    description: 'Server-sent events; the data of each is a notice as JSON.',
  },
  Events: listOf(ref('Event')),
  RunEvents: {
    type: 'string',
    description:
      'Server-sent events; the data of each is an event as JSON, or `{error, error_details}` at the end of a run that failed.',
  },
  Nothing: { type: 'null' },
  Error: objectOf({ detail: TEXT }, { code: oneOf([...SESSION_ERROR_CODES, FORGET]) }),
} as const satisfies Readonly<Record<string, Schema>>;

/** The name of a response's schema. */
export type ResponseName = keyof typeof RESPONSES;
